"""Before a file is handed over it is read back by code that shares nothing with the writer but the LMS's rules."""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import dataclass

from autograder.errors import GraderError
from autograder.lms.decide import Decision
from autograder.lms.errors import TemplateError
from autograder.lms.options import Target
from autograder.lms.readers import blackboard, brightspace, canvas, gradescope, moodle, nbgrader, plain, worksheet
from autograder.lms.readers.seen import Rejected, Seen
from autograder.lms.template import Template

Reader = Callable[[bytes, Template], list[Seen]]

_READERS: dict[Target, Reader] = {
    "canvas": lambda data, t: canvas.read(data, t.title),
    "moodle": lambda data, t: moodle.read(
        data, t.title, sign=t.sign, feedback=_title(t), encoding=_encoding(t), key=t.keys[0].title
    ),
    "moodle-worksheet": lambda data, t: worksheet.read(
        data, grade=t.title, identifier=t.header.value(0), sign=t.sign, feedback=_title(t), encoding=_encoding(t)
    ),
    "blackboard": lambda data, t: blackboard.read(data, t.title, encoding=_encoding(t)),
    "brightspace": lambda data, t: brightspace.read(data, t.title, can_exceed=True, encoding=_encoding(t)),
    "gradescope": lambda data, t: gradescope.read(data, t.title, encoding=_encoding(t)),
    "nbgrader": lambda data, t: nbgrader.read(data, encoding=_encoding(t)),
    "csv": lambda data, t: plain.read(
        data,
        t.title,
        key=t.keys[0].title,
        delimiter=t.sheet.dialect.delimiter,
        feedback=_title(t),
        encoding=_encoding(t),
    ),
}


_UNREADABLE = (Rejected, ValueError, ArithmeticError, LookupError, csv.Error)


@dataclass(frozen=True)
class Wanted:
    """A student's row: its number in the template and in the file (blank lines not counted), and what was to change."""

    before: int
    after: int
    decision: Decision | None


def require_readable(target: Target, template: Template, before: bytes, after: bytes, rows: list[Wanted]) -> None:
    """Every changed row reads as intended, every other one as before.

    Raises TemplateError when the LMS would reject the template itself, GraderError when only our file is wrong.
    """
    try:
        old = {seen.record: seen for seen in _READERS[target](before, template)}
    except _UNREADABLE as error:
        raise TemplateError(f"the LMS would reject this template: {error}", "download it again") from None
    try:
        new = {seen.record: seen for seen in _READERS[target](after, template)}
    except _UNREADABLE as error:
        raise GraderError(f"the file made for {target} would be rejected ({error}); nothing was written") from None
    for row in rows:
        if not _as_wanted(old.get(row.before), new.get(row.after), row.decision):
            raise GraderError(f"record {row.after} of the file made for {target} would not be read as intended; "
                              "nothing was written")  # fmt: skip


def _as_wanted(old: Seen | None, new: Seen | None, decision: Decision | None) -> bool:
    if old is None or new is None or old.key != new.key:
        return old is None and new is None and not (decision and decision.cells)
    if decision is None or not decision.cells:
        return (old.kind, old.score, old.feedback) == (new.kind, new.score, new.feedback)
    if decision.value == "excused":
        return new.kind == "excused"
    if decision.value is None:
        return (old.kind, old.score) == (new.kind, new.score)
    said = decision.feedback is None or new.feedback is None or new.feedback.strip() == decision.feedback.strip()
    return new.kind == "score" and new.score is not None and new.score == decision.value and said


def _title(template: Template) -> str | None:
    return None if template.feedback is None else template.header.value(template.feedback)


def _encoding(template: Template) -> str:
    return template.sheet.encoding
