"""Errors of grade files: each says the fact, the place and the remedy.

UsageError (autograder.errors)
└── LmsError               the template, the roster or an option cannot be used as given (exit 2)
    ├── TemplateError      a line of the LMS's own file
    ├── ColumnError        no column, or more than one, is the assignment's: lists the candidates
    └── RosterError        a line of the roster
"""

from __future__ import annotations

from autograder.errors import UsageError


class LmsError(UsageError):
    pass


class TemplateError(LmsError):
    pass


class ColumnError(LmsError):
    def __init__(self, message: str, candidates: list[str]) -> None:
        listed = "".join(f"\n  {candidate}" for candidate in candidates) or " none"
        super().__init__(message, f"choose one with --column by id or title; candidates:{listed}")
        self.candidates = candidates


class RosterError(LmsError):
    pass
