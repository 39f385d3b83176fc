"""The exception tree of the grader.

AutograderError                 shown to a user as fact, place, remedy; never a traceback
├── UsageError                  wrong arguments or set-up (exit 2)
└── GraderError                 a fault of the grader (exit 3)
Outcome                         how a call into a submission ended when it did not return (becomes a check's status)
├── CheckFailed                 the check found the behaviour wrong
├── NotWritten                  the stub's NotImplementedError
├── SubmissionRaised            any other exception of the student's code
│   └── Forbidden               the isolation refused what it tried
├── ImportFailed                the module could not be imported: concerns every check alike
├── SubmissionDied              its process ended, or broke the protocol
├── TimedOut
└── OverLimit
"""

from __future__ import annotations

from autograder.record import Died, Exception_, Failure, Frame, Limit, Message, Status


class AutograderError(Exception):
    """Base of everything a user is shown."""


class UsageError(AutograderError):
    """Fact and place, and what to do about it; shown as one line. Never a bug of the kit."""

    def __init__(self, message: str, remedy: str = "") -> None:
        super().__init__(message, remedy)
        self.message = message
        self.remedy = remedy
        """Empty when the message says it already."""

    def __str__(self) -> str:
        return f"{self.message}; {self.remedy}" if self.remedy else self.message


class GraderError(AutograderError):
    pass


class Outcome(Exception):
    """How a call ended; `status` and `failure` go into the record."""

    status: Status = "crashed"

    def __init__(self, failure: Failure) -> None:
        super().__init__(str(failure))
        self.failure = failure


class CheckFailed(Outcome):
    status = "failed"


class NotWritten(Outcome):
    status = "not_implemented"

    def __init__(self, message: str) -> None:
        super().__init__(Message(message))


class SubmissionRaised(Outcome):
    def __init__(self, type_name: str, bases: list[str], message: str, frames: list[Frame]) -> None:
        super().__init__(Exception_(type_name, message, frames))
        self.type_name, self.bases, self.message, self.frames = type_name, bases, message, frames


class Forbidden(SubmissionRaised):
    status = "forbidden"


class ImportFailed(Outcome):
    pass


class SubmissionDied(Outcome):
    def __init__(self, message: str) -> None:
        super().__init__(Died(message))


class TimedOut(Outcome):
    status = "timed_out"

    def __init__(self, seconds: float, doing: str) -> None:
        super().__init__(Limit("time", seconds, "s", doing))


class OverLimit(Outcome):
    status = "over_limit"

    def __init__(self, limit: str, value: float, unit: str, doing: str) -> None:
        super().__init__(Limit(limit, value, unit, doing))
