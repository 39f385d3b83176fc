"""What an author of checks imports: `check`, `expect`, `raises`, `fail`.

See docs/writing-checks.md.
"""

from __future__ import annotations

from autograder.checks import expect
from autograder.checks.declare import Spec, check, raises, spec_of
from autograder.checks.expect import fail
from autograder.errors import (
    CheckFailed,
    NotWritten,
    Outcome,
    OverLimit,
    SubmissionDied,
    SubmissionRaised,
    TimedOut,
)

__all__ = [
    "CheckFailed",
    "NotWritten",
    "Outcome",
    "OverLimit",
    "Spec",
    "SubmissionDied",
    "SubmissionRaised",
    "TimedOut",
    "check",
    "expect",
    "fail",
    "raises",
    "spec_of",
]
