"""Errors of a push: each says the fact and the remedy, and none ever holds a token.

UsageError (autograder.errors)
└── PushError          the LMS cannot be used as asked: address, token, course, permission (exit 2)
    ├── TooBusy        it asks for a longer pause than a push makes
    └── Unfinished     Canvas is still at an earlier batch
Busy                   the LMS turned a request away: nothing was done, and it says how long to wait
Unanswered             a request went out and no answer came: whether it was carried out is not known
Denied                 the LMS says no to what was sent, and why
"""

from __future__ import annotations

from autograder.errors import UsageError


class PushError(UsageError):
    pass


class TooBusy(PushError):
    pass


class Unfinished(PushError):
    pass


class Busy(Exception):
    def __init__(self, pause: float | None) -> None:
        super().__init__()
        self.pause = pause
        """Seconds; None when the LMS does not say."""


class Unanswered(Exception):
    pass


class Denied(Exception):
    pass
