"""Gradescope: its CSV of an assignment's or a course's grades (docs/lms.md, Gradescope)."""

from __future__ import annotations

from autograder.lms import numbers
from autograder.lms.errors import TemplateError
from autograder.lms.options import Options
from autograder.lms.rawcsv import Row
from autograder.lms.template import Template, choose, find, full_name, keys_of, sign_for, table

_KEYS: dict[str, tuple[str, ...]] = {"SID": ("sis_id", "id"), "Student ID": ("sis_id", "id"), "Email": ("email",)}
_COMPANION = " - max points"
TOTAL, MAXIMUM = "Total Score", "Max Points"


def open_template(data: bytes, options: Options) -> Template:
    sheet, header, rows = table(data, ",", options)
    keys = keys_of(header, options, _KEYS, fold=frozenset({"Email"}))
    if not keys:
        raise TemplateError("the template has neither SID nor Email", "download the grades from Gradescope again")
    column = choose(_candidates(header), options)
    maximum = find(header, f"{header.value(column)} - Max Points", MAXIMUM)
    return Template(
        sheet,
        rows,
        column,
        keys,
        full_name(header),
        sign_for(options, rows, [column]),
        decimals=6,
        maximum=lambda row: None if maximum is None else numbers.parse(row.value(maximum)),
        escape_formulas=True,
        notes=[
            "Gradescope imports no grade file: this one is for programs that read its downloads; grades get into "
            "Gradescope through results.json (autograder package)"
        ],
    )


def _candidates(header: Row) -> list[tuple[int, str, tuple[str, ...]]]:
    """`Total Score` of one assignment, or in a course's file each column that has its own maximum beside it."""
    total = find(header, TOTAL)
    if total is not None:
        return [(total, header.value(total), ())]
    titles = {cell.value.casefold() for cell in header.cells}
    return [
        (column, cell.value, ())
        for column, cell in enumerate(header.cells)
        if cell.value.casefold() + _COMPANION in titles
    ]
