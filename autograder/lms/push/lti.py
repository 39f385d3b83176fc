"""Scores to an LTI 1.3 platform (Assignment and Grade Services): one per student, and read back as results.

LTI Assignment and Grade Services 2.0, 3.4 "Score publish service" and 3.3 "Result service":
https://www.imsglobal.org/spec/lti-ags/v2p0. What Canvas makes of a score:
https://developerdocs.instructure.com/services/canvas/resources/score
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from autograder.lms.numbers import exact, rounded
from autograder.lms.push.deliver import Answer
from autograder.lms.push.errors import Busy, Denied, PushError, TooBusy, Unanswered
from autograder.lms.push.held import Column, Held
from autograder.lms.push.lti_calls import RESULTS, SCORE, Calls, below
from autograder.lms.push.lti_items import Item, describe
from autograder.lms.push.lti_memory import Memory
from autograder.lms.push.patience import Patience, host_of
from autograder.lms.push.plan import Send

_SCORE = "application/vnd.ims.lis.v1.score+json"
_RESULTS = "application/vnd.ims.lis.v2.resultcontainer+json"
_CANVAS = "https://canvas.instructure.com/lti/submission"


class Lti:
    """One line item, as a target of a push.

    `users`: the platform's user for each id of the course. `members`: who is in the course, where the platform tells.
    `make`: makes the line item when there is none yet, before the first score.
    """

    def __init__(
        self,
        calls: Calls,
        item: Item,
        users: Mapping[str, str],
        members: Sequence[Held],
        patience: Patience,
        memory: Memory,
        make: Callable[[], Item] | None = None,
    ) -> None:
        self._calls, self.item, self._users, self._members, self._patience = calls, item, users, members, patience
        self._memory, self._make = memory, make
        self._listed: set[str] | None = None
        """Who had a result, even an empty one, when it was looked at first."""
        self._zero_unanswered: set[str] = set()
        """Whose 0 got no answer."""

    # ------------------------------------------------------------------------------------------------------- reading
    def read(self) -> Column:
        results = {str(one.get("userId")): one for one in self._results()}
        self._listed = set(results) if self._listed is None else self._listed
        column = Column(describe(self.item), [], self.item.maximum, can_excuse=False, shows_comments=False,
                        tells_policy=False)  # fmt: skip
        if not self.item.url:
            column.notes.append("there is no line item yet: one is made before the first score")
        known = {held.key: held for held in self._members}
        ids = {user: id for id, user in self._users.items()}
        for key in dict.fromkeys([*known, *ids, *results]):
            held = replace(known.get(key, Held(key)), id=ids.get(key, ""))
            column.students.append(self._with_result(held, results.get(key)))
        return column

    def _results(self) -> list[dict[str, Any]]:
        if not self.item.url:
            return []
        pages = self._calls.pages(below(self.item.url, "results"), _RESULTS, RESULTS)
        return [one for page in pages if isinstance(page, list) for one in page if isinstance(one, dict)]

    def _with_result(self, held: Held, result: dict[str, Any] | None) -> Held:
        if result is None:
            return held
        if (stamp := _time(result.get("timestamp"))) is not None:
            self._memory.saw(held.key, stamp)
        score, full = result.get("resultScore"), result.get("resultMaximum")
        if not isinstance(score, int | float):
            return replace(held, state="graded", score=Decimal(0)) if self._is_zero(held.key) else held
        points = exact(score)
        if isinstance(full, int | float) and full > 0:
            points = points * self.item.maximum / exact(full)
        return replace(held, state="graded", score=rounded(points, 6))

    def _is_zero(self, key: str) -> bool:
        """Whether an empty result is a 0, which Moodle lists that way."""
        if key in self._zero_unanswered and self._listed is not None and key not in self._listed:
            self._memory.took_zero(key)
        return self._memory.has_zero(key)

    # ------------------------------------------------------------------------------------------------------- sending
    def send(self, sends: Sequence[Send]) -> Answer:
        if not self.item.url and self._make is not None:
            self.item = self._make()
        answer = Answer()
        for number, send in enumerate(sends):
            try:
                self._post(send)
            except Denied as error:
                answer.denied[send.key] = _explained(str(error))
            except Unanswered:
                answer.again[send.key] = "the connection broke each time"
                if send.value == 0:
                    self._zero_unanswered.add(send.key)
            except PushError as error:  # no token any more, or asked to come back much later: as for all that follow
                answer.denied |= {one.key: str(error) for one in sends[number:]}
                break
            else:
                if send.value == 0:
                    self._memory.took_zero(send.key)
        return answer

    def _post(self, send: Send) -> None:
        """Raises Denied, Unanswered, TooBusy."""
        url, host = below(self.item.url, "scores"), host_of(self.item.url)
        for tried in range(1, self._patience.tries + 1):
            body = json.dumps(self._score(send)).encode()  # each try has a time of its own
            try:
                self._calls.post(url, body, _SCORE, SCORE)
                return
            except Busy as busy:
                if tried < self._patience.tries:
                    self._patience.pause(tried, f"{host} is busy", busy.pause)
        raise TooBusy(f"{host} turns requests away as too many", "run the same command again later")

    def _score(self, send: Send) -> dict[str, Any]:
        assert isinstance(send.value, Decimal)  # excused cannot be said here, and comments go out with a grade only
        score: dict[str, Any] = {
            "userId": send.key,
            "scoreGiven": _number(send.value),
            "scoreMaximum": _number(self.item.maximum),
            "activityProgress": "Completed",
            "gradingProgress": "FullyGraded",
            "timestamp": self._memory.next_time(send.key).isoformat(timespec="milliseconds"),
            _CANVAS: {"new_submission": False},  # else the time of the push looks like a late hand-in
        }
        if send.submitted:
            handed_in = send.submitted.replace(" ", "T") + ".000+00:00"
            score["submission"] = {"submittedAt": handed_in}
            score[_CANVAS]["submitted_at"] = handed_in
        if send.comment:
            score["comment"] = send.comment
        return score


def _number(value: Decimal) -> int | float:
    return int(value) if value == value.to_integral_value() else float(value)


def _time(text: object) -> datetime | None:
    try:
        found = datetime.fromisoformat(text) if isinstance(text, str) else None
    except ValueError:
        return None
    return found.astimezone(UTC) if found is not None and found.tzinfo else None


def _explained(said: str) -> str:
    code, low = said[:3], said.casefold()
    if code == "409" or (code == "400" and "timestamp" in low):
        return f"someone graded there after this push began, or this machine's clock is behind: push again ({said})"
    if code in ("400", "404", "422") and ("user" in low or "incorrect score" in low):
        return f"the LMS does not grade this user in this course ({said})"
    return said
