"""Send what was planned, read it back, and send again only what did not get there."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Protocol

from autograder.lms.numbers import spelled
from autograder.lms.push.errors import PushError
from autograder.lms.push.held import Column, cell_of
from autograder.lms.push.plan import Plan, Send

_ROUNDS = 4
_LOOKS = (0.0, 0.3, 1.0)
"""Seconds before each look at what the LMS holds: some answer before they have stored."""


@dataclass
class Answer:
    """What the LMS said to one round; users by the LMS's number."""

    denied: dict[str, str] = field(default_factory=dict)
    """Why it does not take it."""
    again: dict[str, str] = field(default_factory=dict)
    """Whose grade got no answer, or was in a batch that failed: sent again if it is not there. With what happened."""


class Target(Protocol):
    """An LMS to which grades can be pushed."""

    def read(self) -> Column:
        """What it holds now."""

    def send(self, sends: Sequence[Send]) -> Answer:
        """Send all of it once, and wait until the LMS is done with it."""


@dataclass(frozen=True)
class Failure:
    key: str
    student: str
    sent: str
    holds: str
    why: str


@dataclass
class Delivery:
    confirmed: list[str]
    """The LMS's numbers of those for whom it holds what was sent."""
    failures: list[Failure]


def deliver(target: Target, plan: Plan, *, sleep: Callable[[float], None] = time.sleep) -> Delivery:
    """Raises PushError only if nothing can be said: the LMS could not be read back."""
    return _Deliverer(target, plan, sleep).run()


class _Deliverer:
    def __init__(self, target: Target, plan: Plan, sleep: Callable[[float], None]) -> None:
        self._target, self._plan, self._sleep = target, plan, sleep
        self._denied: dict[str, str] = {}
        self._failures: list[Failure] = []

    def run(self) -> Delivery:
        left = list(self._plan.sends)
        for last in [False] * (_ROUNDS - 1) + [True]:
            answer = self._target.send(left)
            self._denied |= answer.denied
            left, column = self._look(left, answer)
            waiting = [] if last else [one for one in left if one.key in answer.again and one.key not in self._denied]
            why = answer.again | self._denied
            self._failures += [self._failure(one, column, why) for one in left if one not in waiting]
            left = waiting
            if not left:
                break
        failed = {failure.key for failure in self._failures}
        confirmed = [send.key for send in self._plan.sends if send.key not in failed]
        return Delivery(confirmed, self._failures)

    def _look(self, sends: list[Send], answer: Answer) -> tuple[list[Send], Column]:
        """What is not there, and the column. Looks more than once where the LMS said yes and does not show it."""
        for pause in _LOOKS:
            if pause:
                self._sleep(pause)
            column = self._read_back()
            left = [rest for send in sends if (rest := send.left(column.of(send.key), self._plan))]
            if all(send.key in self._denied or send.key in answer.again for send in left):
                break
        return left, column

    def _read_back(self) -> Column:
        try:
            return self._target.read()
        except PushError as error:
            remedy = "run the same command again: what is there already is not sent twice"
            raise PushError(f"grades were sent, but could not be read back: {error.message}", remedy) from None

    def _failure(self, send: Send, column: Column, why: dict[str, str]) -> Failure:
        held = column.of(send.key)
        sent = spelled(send.value) if isinstance(send.value, Decimal) else send.value or "(comment)"
        missing = "comment" if send.value is None else "grade and the comment" if send.comment else "grade"
        holds = cell_of(held, self._plan.late) if held else ""
        reason = why.get(send.key) or f"the LMS took it, but does not show the {missing}"
        return Failure(send.key, send.student, sent, holds, reason)
