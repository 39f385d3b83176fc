"""Grade files for learning management systems: their own export is the template, only its grade cells change."""

from autograder.lms.errors import ColumnError, LmsError, RosterError, TemplateError
from autograder.lms.exporter import export
from autograder.lms.grades import Grade, Identity, State
from autograder.lms.options import TARGETS, Options, Target
from autograder.lms.reconciliation import Entry, Outcome, Reconciliation, Status

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
