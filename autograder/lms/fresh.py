"""A file without a template, where one can be made from the roster: its rows, with the grade cells still empty."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from autograder.lms.errors import LmsError
from autograder.lms.feedback import escaped
from autograder.lms.grades import Grade
from autograder.lms.numbers import spelled
from autograder.lms.options import Options, Target
from autograder.lms.rawcsv import CannotEncode, Dialect, encode
from autograder.lms.targets import brightspace, gradescope, nbgrader, plain

NEEDS_TEMPLATE: dict[Target, str] = {
    "canvas": "the numbers of its assignments are only in Canvas's own Grades > Export: --template FILE",
    "moodle-worksheet": "its Participant numbers are only in Moodle's own Download grading worksheet: --template FILE",
    "blackboard": "the ids of its columns are only in Blackboard's own Work Offline > Download: --template FILE",
}
_UNSAFE_KEY = re.compile(r"\s*[=+\-@]|.*[\x00-\x1f]", re.DOTALL)


def fresh(target: Target, grades: Sequence[Grade], options: Options) -> tuple[bytes, list[tuple[Grade, str]]]:
    """The table, and the grades that have no place in it with the reason."""
    if target in NEEDS_TEMPLATE:
        raise LmsError(f"{target} needs a template", NEEDS_TEMPLATE[target])
    grades = _with_maximum(grades)
    header, line = _LAYOUTS[target](options, any(grade.feedback for grade in grades))
    dialect = Dialect(",", None if target == "nbgrader" else '"')
    end = "\r\n" if target == "csv" else "\n"
    texts, refused = [",".join(encode(title, dialect) for title in header)], []
    for grade in grades:
        cells = line(grade)
        if cells is None:
            continue
        reason = _unsafe(grade, target)
        try:
            row = ",".join(encode(cell, dialect) for cell in cells)
        except CannotEncode as error:
            reason = f"{error}: take it out of the roster, or export --to csv"
            row = ""
        if reason:
            refused.append((grade, reason))
        else:
            texts.append(row)
    return "".join(text + end for text in texts).encode(), refused


def _with_maximum(grades: Sequence[Grade]) -> list[Grade]:
    """Whoever handed nothing in could have earned what the others could, if that is one number."""
    full = {grade.max_score for grade in grades if grade.max_score is not None}
    common = full.pop() if len(full) == 1 else None
    return [replace(grade, max_score=grade.max_score or common) for grade in grades]


def _unsafe(grade: Grade, target: Target) -> str:
    """Keys are never escaped, since an escaped key matches nobody: one that a spreadsheet would run is refused."""
    student = grade.student
    for name in ("id", "login", "email", "sis_id"):
        if _UNSAFE_KEY.match(getattr(student, name)):
            return f"{name} {getattr(student, name)!r} begins like a formula or holds a control character"
    if target == "moodle" and not (student.sis_id or student.id):
        return "no ID number"
    return ""


Layout = tuple[list[str], Callable[[Grade], list[str] | None]]


def _title(options: Options) -> str:
    title = options.column or options.assignment
    if not title:
        raise LmsError("a new file needs the title of its grade column", "give --column TITLE")
    return title


def _moodle(options: Options, feedback: bool) -> Layout:
    title = _title(options)
    last = [f"Feedback: {title}"] if feedback else []

    def line(grade: Grade) -> list[str] | None:
        student = grade.student
        return (
            [student.sis_id or student.id, student.email, "", *("" for _ in last)] if grade.state == "graded" else None
        )

    return ["ID number", "Email address", title, *last], line


def _brightspace(options: Options, _feedback: bool) -> Layout:
    def line(grade: Grade) -> list[str] | None:
        student = grade.student
        return [f"#{student.sis_id or student.id}", f"#{student.login or student.id}", "", "#"]

    return ["OrgDefinedId", "Username", f"{_title(options)} Points Grade", brightspace.END], line


def _gradescope(_options: Options, _feedback: bool) -> Layout:
    def line(grade: Grade) -> list[str] | None:
        student = grade.student
        given, family = _names(grade)
        status = {"graded": "Graded", "missing": "Missing"}.get(grade.state)
        if status is None:
            return None
        return [
            escaped(given),
            escaped(family),
            student.sis_id or student.id,
            student.email,
            "",
            _points(grade),
            status,
        ]

    return ["First Name", "Last Name", "SID", "Email", gradescope.TOTAL, gradescope.MAXIMUM, "Status"], line


def _nbgrader(options: Options, _feedback: bool) -> Layout:
    title = _title(options)
    if set(title) & set(",\r\n"):
        raise LmsError(
            f"the title {title!r} needs quotes, and nbgrader's file has none", "give --column without a comma"
        )

    def line(grade: Grade) -> list[str] | None:
        given, family = _names(grade)
        if grade.state in ("excused", "not_assigned"):
            return None
        handed_in = grade.submitted if grade.state == "graded" else ""
        person = [grade.student.id, escaped(family), escaped(given), grade.student.email]
        scores = ["", "", ""] if grade.state == "graded" else ["0.0", "0.0", "0.0"]
        return [title, "", handed_in, *person, *scores, _points(grade)]

    return list(nbgrader.COLUMNS), line


def _plain(_options: Options, _feedback: bool) -> Layout:
    def line(grade: Grade) -> list[str] | None:
        student = grade.student
        name = escaped(student.full_name)
        return [student.id, name, student.login, student.email, student.sis_id, "", "", _points(grade), "", ""]

    return list(plain.COLUMNS), line


def _names(grade: Grade) -> tuple[str, str]:
    """Given and family name; a roster with one name gives the last word as the family name."""
    student = grade.student
    if student.given or student.family:
        return student.given, student.family
    if "," in student.name:
        family, _, given = student.name.partition(",")
        return given.strip(), family.strip()
    given, _, family = student.name.rpartition(" ")
    return given, family


def _points(grade: Grade) -> str:
    return "" if grade.max_score is None else spelled(grade.max_score)


_LAYOUTS: dict[Target, Callable[[Options, bool], Layout]] = {
    "moodle": _moodle,
    "brightspace": _brightspace,
    "gradescope": _gradescope,
    "nbgrader": _nbgrader,
    "csv": _plain,
}
