"""Canvas: the gradebook export (docs/lms.md, Canvas)."""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal

from autograder.lms import numbers
from autograder.lms.errors import TemplateError
from autograder.lms.options import Options
from autograder.lms.rawcsv import Row, Sheet, read
from autograder.lms.template import Existing, Key, Template, choose, extra_keys, sign_for

_ASSIGNMENT = re.compile(r"(?P<title>.*)\s\((?P<id>[0-9]+)\)", re.DOTALL)
_TOTAL = re.compile(r"Current (Score|Points|Grade)|Final (Score|Points|Grade)|Override (Score|Grade|Status)")
_GUARDED_NAME = re.compile(r'="(.*)"', re.DOTALL)
_TEST_LOGIN = re.compile(r"[0-9a-f]{40}|")
_KEYS: dict[str, tuple[str, ...]] = {
    "ID": ("canvas_id",),
    "SIS User ID": ("sis_id", "id"),
    "SIS Login ID": ("login", "id"),
}
REMEDY = "take the file that Canvas's Grades page exports, as it is"


def open_template(data: bytes, options: Options) -> Template:
    sheet = read(data, ",;", encoding=options.encoding)
    header = sheet.rows[0]
    first = _identity_width(header)
    _refuse_unreadable(sheet)
    points = next((row for row in sheet.rows[1:] if "Points Possible" in row.value(0)), None)
    column = choose(_candidates(header, points, first), options)
    _refuse_unusable(header, column)
    students, ignored = _students(sheet, points)
    template = Template(
        sheet,
        students,
        column,
        _keys(header, options, first),
        _name(header),
        sign_for(options, [*students, *([points] if points else [])], _score_columns(header, first)),
        maximum=_maximum(points, column),
        existing=_existing,
        excused="EX",
        blank_erases=True,
        ignored=ignored,
    )
    _recognise_pass_fail(template, points)
    return template


def _identity_width(header: Row) -> int:
    """The column after `Section`. Raises TemplateError for a header that Canvas would not import."""
    cells = [cell.value for cell in header.cells]
    pair = len(cells) > 3 and "LastName" in cells[0] and "FirstName" in cells[1] and "ID" in cells[2]
    plain = len(cells) > 3 and "Student" in cells[0] and "ID" in cells[1]
    section = next((column for column, text in enumerate(cells[:8]) if text.strip() == "Section"), None)
    if not (pair or plain) or section is None:
        raise TemplateError(
            "the template's header is not that of a Canvas gradebook (Student, ID, ..., Section)", REMEDY
        )
    block = [text.strip() for text in cells[3 if pair else 2 : section]]
    optional = [text for text in ("Integration ID", "Root Account") if text in block]
    if block not in ([], ["SIS Login ID"], ["SIS User ID", "SIS Login ID", *optional]):
        raise TemplateError(f"Canvas does not import the identity columns {block}", REMEDY)
    return section + 1


def _refuse_unreadable(sheet: Sheet) -> None:
    sheet.require_rectangle()
    if sheet.encoding != "utf-8":
        raise TemplateError(f"the template is {sheet.encoding}, Canvas reads UTF-8 only", REMEDY)
    if sheet.bom and sheet.rows[0].cells[0].quoted:
        raise TemplateError(
            "the template has a byte order mark before a quoted header, which Canvas cannot read", REMEDY
        )
    if len(sheet.line_ends) > 1:
        raise TemplateError("the template mixes line ends, which Canvas cannot read", REMEDY)


def _candidates(header: Row, points: Row | None, first: int) -> list[tuple[int, str, tuple[str, ...]]]:
    found: list[tuple[int, str, tuple[str, ...]]] = []
    for column in range(first, len(header.cells)):
        match = _ASSIGNMENT.fullmatch(header.value(column))
        read_only = points is not None and "read only" in points.value(column)
        if match and not read_only:
            found.append((column, header.value(column), (match["id"], match["title"])))
    return found


def _refuse_unusable(header: Row, column: int) -> None:
    title = header.value(column)
    if _TOTAL.search(title):
        raise TemplateError(f"Canvas takes {title!r} for a total and drops it", "rename the assignment in Canvas")


def _score_columns(header: Row, first: int) -> list[int]:
    return [column for column in range(first, len(header.cells)) if _ASSIGNMENT.fullmatch(header.value(column))]


def _keys(header: Row, options: Options, first: int) -> list[Key]:
    keys = extra_keys(header, options)
    taken = {key.column for key in keys}
    for column in range(first - 1):
        title = header.value(column).strip()
        if title in _KEYS and column not in taken:
            keys.append(Key(column, title, _KEYS[title], fold=title == "SIS Login ID"))
    return keys


def _students(sheet: Sheet, points: Row | None) -> tuple[list[Row], list[Row]]:
    """Rows of students, and the rows of the Test Student; rows Canvas itself skips are neither."""
    header, students, ignored = sheet.rows[0], list[Row](), list[Row]()
    login = next((column for column, cell in enumerate(header.cells[:6]) if cell.value.strip() == "SIS Login ID"), None)
    name = _name(header)
    for row in sheet.rows[1:]:
        if row is points or row.blank or "Points Possible" in row.value(0) or _only_marks(row):
            continue
        called = name(row).strip() in {"Student, Test", "Test Student"}
        test = called and (login is None or _TEST_LOGIN.fullmatch(row.value(login).strip()))
        (ignored if test else students).append(row)
    return students, ignored


def _only_marks(row: Row) -> bool:
    texts = [cell.value.strip() for cell in row.cells if cell.value.strip()]
    return all(text == "Muted" or text.startswith("Manual Posting") for text in texts)


def _name(header: Row) -> Callable[[Row], str]:
    pair = "LastName" in header.value(0)

    def name(row: Row) -> str:
        if pair:
            return f"{row.value(0)}, {row.value(1)}"
        guarded = _GUARDED_NAME.fullmatch(row.value(0).strip())
        return guarded[1] if guarded else row.value(0)

    return name


def _maximum(points: Row | None, column: int) -> Callable[[Row], Decimal | None]:
    value = numbers.parse(points.value(column)) if points else None
    return lambda _row: value


def _existing(text: str) -> Existing:
    word = text.strip()
    if word.upper() in {"EX", "EXCUSED"}:
        return Existing("excused")
    if word == "N/A":
        return Existing("not_assigned")
    if word in {"", "-"}:
        return Existing("blank")
    value = numbers.parse(word)
    return Existing("text") if value is None else Existing("number", value)


def _recognise_pass_fail(template: Template, points: Row | None) -> None:
    """A complete/incomplete item stores only nothing or everything: what lies between is dropped silently."""
    words = {row.value(template.column).strip().lower() for row in template.students}
    if not words & {"complete", "incomplete", "pass", "fail"}:
        return
    full = template.maximum(template.students[0]) or Decimal(0)
    template.existing = lambda text: {
        "complete": Existing("number", full),
        "pass": Existing("number", full),
        "incomplete": Existing("number", Decimal(0)),
        "fail": Existing("number", Decimal(0)),
    }.get(text.strip(), _existing(text))
    template.unfit = lambda _row, _grade, value: (
        None if value in (0, full) else "a Complete/Incomplete assignment takes only 0 or all points"
    )
