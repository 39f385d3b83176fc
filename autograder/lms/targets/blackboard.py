"""Blackboard Learn: the Grade Center's work-offline download (docs/lms.md, Blackboard)."""

from __future__ import annotations

import re
from decimal import Decimal

from autograder.lms import numbers
from autograder.lms.errors import TemplateError
from autograder.lms.options import Options
from autograder.lms.rawcsv import Row
from autograder.lms.template import Template, choose, feedback_of, find, full_name, keys_of, sign_for, table

_COLUMN = re.compile(
    r"(?P<title>.*?)\s*"
    r"(?:\[Total Pts:\s*(?P<upto>up to\s+)?(?P<points>[0-9.,]+)\s*(?P<display>[^\[\]]*)\])?\s*\|(?P<id>[0-9]+)\s*",
    re.DOTALL,
)
_KEYS: dict[str, tuple[str, ...]] = {"Username": ("login", "id"), "Student ID": ("sis_id", "id")}


def open_template(data: bytes, options: Options) -> Template:
    sheet, header, rows = table(data, "\t,", options)
    if find(header, "Username") is None:
        raise TemplateError("the template has no column Username, by which Blackboard finds students",
                            "take the file of Work Offline > Download")  # fmt: skip
    column = choose(_candidates(header), options)
    match = _COLUMN.fullmatch(header.value(column))
    display = match["display"].strip() if match and match["display"] else ""
    if display not in {"", "Score"}:
        remedy = "set its primary display to Score in Blackboard and download again"
        raise TemplateError(f"{header.value(column)!r} is displayed as {display}, not as points", remedy)
    points = _points(match["points"]) if match and match["points"] else None
    return Template(
        sheet,
        rows,
        column,
        keys_of(header, options, _KEYS, fold=frozenset({"Username"})),
        full_name(header),
        sign_for(options, rows, [candidate[0] for candidate in _candidates(header)]),
        feedback=feedback_of(header, options, "Feedback to Learner"),
        maximum=lambda _row: points,
    )


def _candidates(header: Row) -> list[tuple[int, str, tuple[str, ...]]]:
    """Columns with an id that Blackboard does not calculate; titles may hold brackets, so read from the right."""
    found: list[tuple[int, str, tuple[str, ...]]] = []
    for column, cell in enumerate(header.cells):
        match = _COLUMN.fullmatch(cell.value)
        if match and not match["upto"]:
            found.append((column, cell.value, (match["id"], match["title"].strip())))
    return found


def _points(text: str) -> Decimal | None:
    whole = re.fullmatch(r"[0-9]{1,3}(?:,[0-9]{3})+(\.[0-9]+)?", text)
    return numbers.parse(text.replace(",", "") if whole else text)
