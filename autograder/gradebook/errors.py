"""Errors of the gradebook: each says the fact, the place and the remedy.

UsageError (autograder.errors)
└── GradebookError    the gradebook is not there, not usable or does not know what was asked for (exit 2)
    ├── Busy          others kept writing for longer than is waited for
    └── Changed       what was shown is no longer what would be written
"""

from __future__ import annotations

from autograder.errors import UsageError


class GradebookError(UsageError):
    pass


class Busy(GradebookError):
    pass


class Changed(GradebookError):
    pass
