"""From the rows about one student and one assignment to the grade. Pure: what is stored and what is proposed alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from decimal import Decimal
from typing import Literal

from autograder.gradebook.latepolicy import LatePolicy, penalty, units_late
from autograder.gradebook.tables import Attempt, Extension, ManualPoints, Override, Result
from autograder.lms.grades import Identity

State = Literal["graded", "missing", "excused", "not_assigned", "pending"]
"""`pending`: something was handed in or decided, but what counts has no grade yet; never exported."""

ZERO = Decimal(0)


@dataclass(frozen=True)
class Rows:
    """Everything about one student and one assignment, oldest first."""

    attempts: Sequence[Attempt] = ()
    results: Sequence[Result] = ()
    overrides: Sequence[Override] = ()
    extensions: Sequence[Extension] = ()
    points: Sequence[ManualPoints] = ()


@dataclass(frozen=True)
class Class:
    """What an assignment is to everyone: the policy, the written questions, and what the checks are out of."""

    policy: LatePolicy = field(default_factory=LatePolicy)
    questions: dict[str, Decimal] = field(default_factory=dict)
    """Question to its maximum."""
    maximum: Decimal | None = None
    """Of the newest result; for who handed nothing in but has points for written questions."""


@dataclass(frozen=True)
class Try:
    """An attempt, the result that counts for it, and how late it was."""

    position: int
    attempt: Attempt
    result: Result | None
    problem: str | None
    """Of the newest result, when that is no grade."""
    late: int
    note: str = ""

    @property
    def is_on_time(self) -> bool:
        return self.late == 0


@dataclass(frozen=True)
class Standing:
    """One student's grade, and how it came about."""

    student: Identity
    state: State
    score: Decimal | None = None
    """Before the late penalty; None unless graded."""
    maximum: Decimal | None = None
    penalty: Decimal = ZERO
    counted: Try | None = None
    tries: tuple[Try, ...] = ()
    is_overridden: bool = False
    extension: datetime | None = None
    points: dict[str, Decimal] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    why: str = ""
    """Of a pending one: what is missing, and what to do."""

    @property
    def final(self) -> Decimal | None:
        return None if self.score is None else self.score - self.penalty


def stand(student: Identity, rows: Rows, whole: Class) -> Standing:
    """The student's grade: an override as it is, else checks and written questions, less the late penalty."""
    extension = rows.extensions[-1].until if rows.extensions else None
    tries = tuple(_tries(rows, whole.policy, extension))
    standing = Standing(student, "missing", tries=tries, extension=extension, points=_points(rows))
    computed = _computed(standing, whole)
    override = rows.overrides[-1] if rows.overrides else None
    if override is None or override.state == "computed":
        return computed
    maximum = computed.maximum or _maximum(None, whole)
    state: State = override.state  # type: ignore[assignment]  # the commands write no others
    return replace(computed, state=state, score=override.score, maximum=maximum, penalty=ZERO, is_overridden=True,
                   notes=(f"override: {override.reason}",), why="")  # fmt: skip


def current_attempts(attempts: Sequence[Attempt]) -> list[Attempt]:
    """Without the rows that others supersede, in the order in which they were handed in.

    One without a time stays behind the one that was entered before it.
    """
    superseded = {attempt.supersedes for attempt in attempts}
    by_id = {attempt.id: attempt for attempt in attempts}
    current = sorted((a for a in attempts if a.id not in superseded), key=lambda a: _root(a, by_id))
    keyed: list[tuple[datetime | None, int, Attempt]] = []
    latest: datetime | None = None
    for place, attempt in enumerate(current):
        time = attempt.submitted or latest
        keyed.append((time, place, attempt))
        latest = max(filter(None, (latest, time)), default=None)
    first = [entry for entry in keyed if entry[0] is None]
    timed = sorted((entry for entry in keyed if entry[0] is not None), key=lambda entry: (entry[0], entry[1]))
    return [attempt for _, _, attempt in first + timed]


def _root(attempt: Attempt, by_id: dict[int, Attempt]) -> int:
    while attempt.supersedes in by_id:
        attempt = by_id[attempt.supersedes]
    return attempt.id


def _tries(rows: Rows, policy: LatePolicy, extension: datetime | None) -> list[Try]:
    newest = {result.digest: result for result in rows.results}
    graded = {result.digest: result for result in rows.results if result.score is not None}
    tries = []
    for position, attempt in enumerate(current_attempts(rows.attempts), 1):
        late, note = _lateness(attempt, policy, extension)
        last = newest.get(attempt.digest)
        tries.append(Try(position, attempt, graded.get(attempt.digest), last.problem if last else None, late, note))
    return tries


def _lateness(attempt: Attempt, policy: LatePolicy, extension: datetime | None) -> tuple[int, str]:
    """Units, and what is doubtful about them. Where only the platform's mark is known, it proves one unit at least."""
    if attempt.submitted is not None:
        late = units_late(policy, attempt.submitted, extension)
        return late, "the platform marked it late" if attempt.late and not late else ""
    if policy.due is None:
        return 0, ""
    if attempt.late and extension is None:
        return 1, f"marked late, time unknown: counted as one {policy.per}"
    if attempt.late is False:
        return 0, ""
    return 0, "time unknown: counted as on time"


def _points(rows: Rows) -> dict[str, Decimal]:
    newest = {row.question: row.points for row in rows.points}
    return {question: points for question, points in newest.items() if points is not None}


def _computed(standing: Standing, whole: Class) -> Standing:
    if not standing.tries and not standing.points:
        return standing
    missing = [question for question in whole.questions if question not in standing.points]
    counted, why = _counted(standing, whole)
    if not why and missing:
        why = f"no points yet for {', '.join(missing)}: autograder gradebook points"
    notes = tuple(filter(None, _notes(counted, standing, whole)))
    if why:
        return replace(standing, state="pending", counted=counted, notes=notes, why=why)
    result = counted.result if counted else None
    score, maximum = _total(result, standing, whole)
    late = penalty(whole.policy, score, maximum, counted.late) if counted else ZERO
    return replace(standing, state="graded", score=score, maximum=maximum, penalty=late, counted=counted, notes=notes)


def _notes(counted: Try | None, standing: Standing, whole: Class) -> list[str]:
    if counted is None:
        return ["nothing handed in: the checks count 0"]
    again = f"graded again: {counted.problem}; the earlier result counts" if counted.problem and counted.result else ""
    ungraded = [str(one.position) for one in standing.tries if one.result is None and one is not counted]
    unseen = f"without a result: attempt {', '.join(ungraded)}" if ungraded and whole.policy.counts == "best" else ""
    return [counted.note, again, unseen]


def _total(result: Result | None, standing: Standing, whole: Class) -> tuple[Decimal, Decimal]:
    score = result.score if result is not None and result.score is not None else ZERO
    return score + sum(standing.points.values(), ZERO), _maximum(result, whole) or ZERO


def _maximum(result: Result | None, whole: Class) -> Decimal | None:
    checks = result.maximum if result is not None else whole.maximum
    if checks is None and not whole.questions:
        return None
    return (checks or ZERO) + sum(whole.questions.values(), ZERO)


def _counted(standing: Standing, whole: Class) -> tuple[Try | None, str]:
    """The attempt that counts, and why it has no grade (empty when it has one, or needs none)."""
    tries = standing.tries
    if not tries:
        return None, ""
    if whole.policy.counts == "best":
        graded = [one for one in tries if one.result is not None]
        if graded:
            return max(graded, key=lambda one: (_worth(one, standing, whole), -one.position)), ""
    on_time = [one for one in tries if one.is_on_time]
    last = on_time[-1] if on_time and whole.policy.counts == "last_on_time" else tries[-1]
    if last.result is not None:
        return last, ""
    if not last.attempt.has_files:
        return last, f"attempt {last.position} holds no module: put the right file in place, or override the grade"
    if last.problem is not None:
        return last, f"attempt {last.position}: {last.problem}; grade it again and import the record"
    return last, f"attempt {last.position} has no result: grade it and import the record"


def _worth(one: Try, standing: Standing, whole: Class) -> Decimal:
    score, maximum = _total(one.result, standing, whole)
    return score - penalty(whole.policy, score, maximum, one.late)
