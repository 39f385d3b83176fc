"""Moodle: the gradebook CSV import and the offline grading worksheet (docs/lms.md, Moodle)."""

from __future__ import annotations

import re
import time
from decimal import Decimal

from autograder.lms import numbers
from autograder.lms.errors import ColumnError, TemplateError
from autograder.lms.grades import Grade
from autograder.lms.options import Options
from autograder.lms.rawcsv import Row, Sheet
from autograder.lms.template import (
    Existing,
    Key,
    Template,
    choose,
    feedback_of,
    find,
    folded,
    full_name,
    keys_of,
    sign_for,
    table,
)

_KEYS: dict[str, tuple[str, ...]] = {
    "ID number": ("sis_id", "id"),
    "Username": ("login", "id"),
    "Email address": ("email",),
}
_FOLD = frozenset({"Username", "Email address"})
_NOT_ITEMS = {"first name", "last name", "full name", "surname", "institution", "department",
              "last downloaded from this course",
              "course total", "category total", "suspended", "groups", "comments", "feedback comments"}  # fmt: skip
_YEAR = 365 * 24 * 3600
STAMP = "Last downloaded from this course"


def _read(data: bytes, options: Options) -> tuple[Sheet, Row, list[Row]]:
    """Read as PHP does, where a backslash before a quote keeps the cell open."""
    remedy = "a text that ends in a backslash does this: change it in Moodle and download again"
    try:
        return table(data, ",;\t:", options, escape="\\")
    except TemplateError as error:
        raise TemplateError(f"Moodle would reject this template: {error.message}", remedy) from None


def existing(text: str) -> Existing:
    word = text.replace(" ", "")
    if word in {"", "-"}:
        return Existing("blank")
    value = numbers.parse(word)
    return Existing("word") if value is None else Existing("number", value)


# ----------------------------------------------------------------------------------------------------- gradebook import
_ITEM = re.compile(r"(?P<title>.*?)\s*(?:\((?:Real|Points)\))?", re.DOTALL | re.IGNORECASE)
_FEEDBACK = re.compile(r"feedback:.*|.*\(feedback\)", re.DOTALL | re.IGNORECASE)
_OTHER_DISPLAY = re.compile(r".*\((percentage|letter)\)", re.DOTALL | re.IGNORECASE)


def open_gradebook(data: bytes, options: Options) -> Template:
    sheet, header, rows = _read(data, options)
    keys = keys_of(header, options, _KEYS, fold=_FOLD)
    candidates = _items(header, {key.column for key in keys})
    column = choose(candidates, options)
    template = Template(
        sheet,
        rows,
        column,
        keys,
        full_name(header),
        sign_for(options, rows, [candidate[0] for candidate in candidates]),
        feedback=_gradebook_feedback(header, column, options),
        existing=existing,
        php=True,
        blank_erases=True,
    )
    if stamp := _stale(template, options):
        template.notes.append(stamp)
    return template


def _items(header: Row, keys: set[int]) -> list[tuple[int, str, tuple[str, ...]]]:
    found: list[tuple[int, str, tuple[str, ...]]] = []
    for column, cell in enumerate(header.cells):
        title = cell.value.strip()
        known = folded(title) in _NOT_ITEMS or column in keys or not title
        if known or _FEEDBACK.fullmatch(title) or _OTHER_DISPLAY.fullmatch(title):
            continue
        bare = _bare(title)
        found.append((column, title, (bare, bare.partition(":")[2].strip() or bare)))
    return found


def _bare(title: str) -> str:
    match = _ITEM.fullmatch(title.strip())
    return match["title"].strip() if match else title.strip()


def _gradebook_feedback(header: Row, column: int, options: Options) -> int | None:
    item = _bare(header.value(column))
    name = item.partition(":")[2].strip() or item
    return feedback_of(header, options, f"Feedback: {name}", f"Feedback: {item}", f"{item} (Feedback)")


def _stale(template: Template, options: Options) -> str:
    """What Moodle will say about the download stamp, if anything."""
    column = find(template.header, STAMP)
    if column is None:
        return ""
    now = time.time() if options.now is None else options.now
    for row in template.students:
        text = row.value(column).strip()
        fresh = re.fullmatch(r"[0-9]+", text, re.ASCII) and now - _YEAR <= int(text) <= now
        if not fresh:
            return (f"line {row.line}: {STAMP!r} is {text!r}, which is no time within the last year: Moodle aborts; "
                    "download the template again or tick force import")  # fmt: skip
    return ""


# --------------------------------------------------------------------------------------------------- offline worksheet
_MAXIMUM, _LOCK = "Maximum grade", "Grade can be changed"


def open_worksheet(data: bytes, options: Options) -> Template:
    sheet, header, rows = _read(data, options)
    column = _grade_column(header, options)
    maximum = _maximum_column(header, column, rows)
    participant = Key(0, header.value(0), ("moodle_participant",), _participant)
    keys = [participant, *(key for key in keys_of(header, options, _KEYS, fold=_FOLD) if key.column != 0)]
    lock = find(header, _LOCK)

    def most(row: Row) -> Decimal | None:
        return numbers.parse(row.value(maximum).replace(" ", ""))

    template = Template(
        sheet,
        rows,
        column,
        keys,
        full_name(header),
        sign_for(options, rows, [column, maximum]),
        feedback=feedback_of(header, options, "Feedback comments"),
        maximum=most,
        unfit=lambda row, _grade, value: _passed_over(row, value, most(row)),
        existing=existing,
        locked=lambda row: (
            "the worksheet says the grade cannot be changed"
            if lock is not None and row.value(lock).strip() == "No"
            else None
        ),
        php=True,
        blind=find(header, "Full name") is None and len(keys) == 1,
    )
    modified = find(header, "Last modified (grade)")
    if modified is not None and any(re.match(r"\s*\d+[/.]\d+[/.]", row.value(modified)) for row in rows):
        template.notes.append("the dates look re-saved by a spreadsheet: Moodle cannot read them and skips whoever "
                              "has a grade already; download the worksheet again")  # fmt: skip
    return template


def _participant(text: str) -> str:
    match = re.search(r"[0-9]+\s*$", text)
    return match.group().strip() if match else ""


def _grade_column(header: Row, options: Options) -> int:
    """`Grade`, or the translated column that --column names."""
    column = find(header, options.column or "Grade")
    if column is None or column == 0:
        raise ColumnError(f"the worksheet has no grade column {options.column or 'Grade'!r} (in a translated worksheet "
                          "the header is in Moodle's language)", [cell.value for cell in header.cells[1:]])  # fmt: skip
    if find(header, "Scale") is not None:
        raise TemplateError("the assignment is graded with a scale, which has no points",
                            "use points in the assignment's settings, or enter these grades by hand")  # fmt: skip
    if options.column is None and header.value(0).strip() != "Identifier":
        raise TemplateError(f"the first column of the worksheet is {header.value(0)!r}, not Identifier",
                            "take the file of Download grading worksheet, as it is")  # fmt: skip
    return column


def _maximum_column(header: Row, column: int, rows: list[Row]) -> int:
    """`Maximum grade`, or what stands right of a translated grade column and holds numbers."""
    named = find(header, _MAXIMUM)
    following = min(column + 1, len(header.cells) - 1)
    if named is None and any(numbers.parse(row.value(following).replace(" ", "")) is None for row in rows):
        raise TemplateError("no column of maximum grades follows the grade column",
                            "take the file of Download grading worksheet, as it is")  # fmt: skip
    return following if named is None else named


def _passed_over(template_row: Row, value: Decimal, maximum: Decimal | None) -> str | None:
    """Moodle says nothing about these rows, it just does not take them."""
    if value < 0 or (maximum is not None and value > maximum):
        return f"line {template_row.line}: Moodle silently passes over grades below 0 or above the maximum"
    return None


def add_notes(template: Template, grades: list[Grade], options: Options) -> None:
    if find(template.header, _LOCK) is None:
        template.notes.append("imported grades become overridden: the assignment page can no longer change them")
        return
    if any(grade.score == Decimal(0) for grade in grades) or options.missing_as_zero:
        template.notes.append("newer Moodle versions do not take a grade of exactly 0 from a worksheet: check the "
                              "zeros after the import")  # fmt: skip
