"""Plain CSV: a roster-like table of any program (docs/lms.md, Plain CSV)."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

from autograder.lms import numbers
from autograder.lms.errors import ColumnError, TemplateError
from autograder.lms.grades import Grade
from autograder.lms.options import Options
from autograder.lms.rawcsv import Row
from autograder.lms.roster import columns_of
from autograder.lms.template import (
    Key,
    Template,
    choose,
    extra_keys,
    feedback_of,
    find,
    folded,
    full_name,
    sign_for,
    table,
)

COLUMNS = ("id", "name", "login", "email", "sis_id", "state", "score", "max_score", "late_penalty", "feedback")
_KEY_FIELDS = ("id", "sis_id", "login", "email", "canvas_id")
_TITLES = ("score", "grade", "points", "mark")


def open_template(data: bytes, options: Options) -> Template:
    sheet, header, rows = table(data, ",;\t", options)
    keys = _keys(header, options)
    if not keys:
        raise TemplateError("no column of the template identifies students", "name one with --match 'COLUMN=id'")
    column = _grade_column(header, options, {key.column for key in keys})
    maximum = find(header, "max_score")
    return Template(
        sheet,
        rows,
        column,
        keys,
        full_name(header),
        sign_for(options, rows, [column]),
        decimals=6,
        feedback=feedback_of(header, options, "feedback", "comment", "comments"),
        maximum=lambda row: None if maximum is None else numbers.parse(row.value(maximum)),
        state=find(header, "state"),
        companions=_companions(header),
        escape_formulas=True,
    )


def _keys(header: Row, options: Options) -> list[Key]:
    keys = extra_keys(header, options)
    taken = {key.column for key in keys}
    for name, column in columns_of([cell.value for cell in header.cells]).items():
        if name in _KEY_FIELDS and column not in taken:
            fields = (name, "id") if name in {"sis_id", "login"} else (name,)
            keys.append(Key(column, header.value(column), fields, fold=name in {"login", "email"}))
    return keys


def _grade_column(header: Row, options: Options, taken: set[int]) -> int:
    free = [(column, cell.value, ()) for column, cell in enumerate(header.cells) if column not in taken and cell.value]
    if options.column is not None:
        return choose(free, options)
    likely = [one for one in free if folded(one[1]) in {*_TITLES, folded(options.assignment)}]
    if len(likely) != 1:
        raise ColumnError(f"the template has {len(likely)} columns called {', '.join(_TITLES)} or like the assignment",
                          [title for _, title, _ in free])  # fmt: skip
    return likely[0][0]


def _companions(header: Row) -> Callable[[Row, Grade, Decimal], dict[int, str]]:
    """In a table of our own layout, what the score means stands beside it."""
    state, penalty = find(header, "state"), find(header, "late_penalty")

    def companions(_row: Row, grade: Grade, _value: Decimal) -> dict[int, str]:
        cells: dict[int, str] = {}
        if state is not None:
            cells[state] = grade.state
        if penalty is not None and grade.late_penalty is not None:
            cells[penalty] = numbers.spelled(grade.late_penalty)
        return cells

    return companions
