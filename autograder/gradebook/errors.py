"""Errors of the gradebook: each says the fact, the place and the remedy.

UsageError (autograder.errors)
└── GradebookError    the gradebook is not there, not usable or does not know what was asked for (exit 2)
    ├── Busy          others kept writing for longer than is waited for
    └── Changed       what was shown is no longer what would be written
"""

from __future__ import annotations

from autograder.errors import UsageError


class GradebookError(UsageError):
    def __init__(self, message: str, remedy: str) -> None:
        super().__init__(message, remedy)
        self.message = message
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.message}; {self.remedy}"


class Busy(GradebookError):
    pass


class Changed(GradebookError):
    pass
