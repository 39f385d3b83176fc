"""D2L Brightspace: the grades export (docs/lms.md, Brightspace)."""

from __future__ import annotations

import re
from decimal import Decimal

from autograder.lms import numbers
from autograder.lms.errors import ColumnError, TemplateError
from autograder.lms.grades import Grade
from autograder.lms.options import Options
from autograder.lms.rawcsv import Row
from autograder.lms.template import Template, choose, find, full_name, keys_of, sign_for, table

_COLUMN = re.compile(r"(?P<title>.*?)\s+Points Grade\s*(?:<(?P<about>.*)>)?\s*", re.DOTALL)
_MAX_POINTS = re.compile(r"MaxPoints:\s*(?P<points>[0-9]+(?:[.,][0-9]+)?)")
_KEYS: dict[str, tuple[str, ...]] = {"OrgDefinedId": ("sis_id", "id"), "Username": ("login", "id"), "Email": ("email",)}
END = "End-of-Line Indicator"


def open_template(data: bytes, options: Options) -> Template:
    sheet, header, rows = table(data, ",\t;", options)
    if find(header, "OrgDefinedId", "Username") is None:
        raise TemplateError("the template has neither OrgDefinedId nor Username, by which Brightspace finds students",
                            "export the grades again with one of them")  # fmt: skip
    candidates = _candidates(header)
    if not candidates:
        raise ColumnError(
            "the template has no column that ends in Points Grade: export with the option Points grade", []
        )
    column = choose(candidates, options)
    points = _points(header.value(column))
    return Template(
        sheet,
        rows,
        column,
        keys_of(header, options, _KEYS, fold=frozenset({"Username", "Email"}), clean=_bare),
        full_name(header),
        sign_for(options, rows, [candidate[0] for candidate in candidates]),
        maximum=lambda _row: points,
    )


def _bare(text: str) -> str:
    """Without the one `#` that keeps a spreadsheet from eating leading zeros."""
    return text.strip().removeprefix("#").strip()


def _candidates(header: Row) -> list[tuple[int, str, tuple[str, ...]]]:
    matches = [(column, cell.value, _COLUMN.fullmatch(cell.value)) for column, cell in enumerate(header.cells)]
    return [
        (column, text, (match["title"].strip(), text.partition("<")[0].strip()))
        for column, text, match in matches
        if match
    ]


def _points(title: str) -> Decimal | None:
    about = _COLUMN.fullmatch(title)
    match = _MAX_POINTS.search(about["about"] or "") if about else None
    return numbers.parse(match["points"]) if match else None


def add_notes(template: Template, _grades: list[Grade], options: Options) -> None:
    blank = sum(not row.value(template.column).strip() for row in template.students)
    if blank and not options.changed_only:
        template.notes.append(f"{blank} rows of the template have no grade; what Brightspace does with a blank is not "
                              "documented: --changed-only leaves out every row that does not change")  # fmt: skip
    if find(template.header, END) is None:
        template.notes.append(f"the template has no column {END!r}: a row whose last grade is empty may be misread")
    if options.allow_out_of_range:
        template.notes.append("Brightspace caps what is above the maximum, unless the item can exceed it")
