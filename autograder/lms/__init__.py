"""Grade files for learning management systems: their own export is the template, only its grade cells change."""

from typing import TYPE_CHECKING

from autograder.lms.errors import ColumnError, LmsError, RosterError, TemplateError
from autograder.lms.grades import Grade, Identity, State
from autograder.lms.options import TARGETS, Options, Target
from autograder.lms.reconciliation import Entry, Outcome, Reconciliation, Status

if TYPE_CHECKING:
    from autograder.lms.exporter import export

__all__ = [
    "TARGETS",
    "ColumnError",
    "Entry",
    "Grade",
    "Identity",
    "LmsError",
    "Options",
    "Outcome",
    "Reconciliation",
    "RosterError",
    "State",
    "Status",
    "Target",
    "TemplateError",
    "export",
]


def __getattr__(name: str) -> object:
    """`export` brings every target and reader with it; the help of the command line must not wait for them."""
    if name != "export":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from autograder.lms.exporter import export

    return export
