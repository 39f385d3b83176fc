"""Whether a hand-in becomes the module in place: newer attempts replace, older are kept, people's work stays."""

from __future__ import annotations

from enum import Enum

from autograder.collect import record as rec
from autograder.collect.pick import Pick
from autograder.collect.store import Store


class State(Enum):
    """What happened to a student's module."""

    NEW = "new"
    REPLACED = "replaced"
    UNCHANGED = "unchanged"
    OLDER = "an older attempt"
    BY_HAND = "settled by hand"
    NONE = "nothing to grade"


class Placing:
    """One student in one run. `student` is what the record will say; `before` what it says."""

    def __init__(self, store: Store, before: rec.Collected | None, student: rec.Collected) -> None:
        self._store, self._before, self.student = store, before, student
        student.attempts = list(before.attempts) if before else []

    def keep(self, pick: Pick, entries: list[str], submitted: str | None, attempt: int | None) -> None:
        """Keep an attempt of the download that is not its newest; it need not be usable."""
        if pick.data is None or pick.sha256 is None:
            self.student.notes.append(f"an earlier attempt without a usable module: {', '.join(entries)}")
            return
        name = self._store.keep(pick.data, pick.original)
        self._remember(rec.Attempt(name, pick.sha256, entries, submitted, attempt))

    def place(self, pick: Pick) -> State:
        there, new = self._store.current, pick.sha256
        ours = self._before.sha256 if self._before else None
        if new is not None and there in (None, new):
            return self._put(pick, State.NEW if there is None else State.UNCHANGED)
        if there is None:
            return State.NONE
        if there != ours:
            return self._beside_hand_work(pick)
        if new is None:
            return self._keep_in_place()
        if self._is_older():
            return self._put_among_attempts(pick)
        self._keep_current()
        return self._put(pick, State.REPLACED)

    def _put(self, pick: Pick, state: State) -> State:
        if state is not State.UNCHANGED and pick.data is not None:
            self._store.place(pick.data, pick.original)
        self.student.sha256 = pick.sha256
        return state

    def _keep_current(self) -> None:
        before = self._before
        assert before is not None
        assert before.sha256 is not None
        name = self._store.keep_current()
        self._remember(rec.Attempt(name, before.sha256, before.entries, before.submitted, before.attempt))

    def _beside_hand_work(self, pick: Pick) -> State:
        """The module in place is not what collect put there: a person decided, and only news may reopen that."""
        before, student = self._before, self.student
        ours = before.sha256 if before else None
        if before is not None and (before.source == student.source or (ours is not None and pick.sha256 == ours)):
            student.odd = []
            student.sha256, student.source = ours, before.source
            student.notes.append("the module in place was put there by hand")
            return State.BY_HAND
        if pick.data is not None and pick.sha256 is not None:
            name = self._store.keep(pick.data, pick.original)
            self._remember(rec.Attempt(name, pick.sha256, student.entries, student.submitted, student.attempt))
            fact = f"handed in, but the module in place was put there by hand; the hand-in is {name}"
            student.odd.append(rec.Oddity(fact, "keep what is there, or copy the hand-in over it"))
        student.sha256, student.source = ours, before.source if before else ""
        return State.BY_HAND

    def _keep_in_place(self) -> State:
        """Nothing usable came: what was collected before stays, and that is said."""
        before = self._before
        assert before is not None
        self.student.sha256 = before.sha256
        if before.source != self.student.source or before.odd:
            fact = "the module in place is an earlier attempt"
            self.student.odd.append(rec.Oddity(fact, "decide whether it may count"))
        return State.UNCHANGED

    def _is_older(self) -> bool:
        before, student = self._before, self.student
        if before is None or before.layout != student.layout or before.order is None or student.order is None:
            return False
        return student.order < before.order

    def _put_among_attempts(self, pick: Pick) -> State:
        """A download from before the last one: what it holds is kept, what is in place stays."""
        before, student = self._before, self.student
        assert before is not None
        assert pick.data is not None
        assert pick.sha256 is not None
        name = self._store.keep(pick.data, pick.original)
        self._remember(rec.Attempt(name, pick.sha256, student.entries, student.submitted, student.attempt))
        attempts = student.attempts
        self.student = before
        before.attempts = attempts
        return State.OLDER

    def _remember(self, attempt: rec.Attempt) -> None:
        if all(attempt.sha256 != known.sha256 for known in self.student.attempts):
            self.student.attempts.append(attempt)
