"""nbgrader: grades.csv as `nbgrader export` writes it, without any quoting (docs/lms.md, nbgrader)."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

from autograder.lms import numbers
from autograder.lms.errors import TemplateError
from autograder.lms.grades import Grade
from autograder.lms.options import Options
from autograder.lms.rawcsv import Row, Sheet, read
from autograder.lms.template import Template, body, choose, find, keys_of

COLUMNS = ("assignment", "duedate", "timestamp", "student_id", "last_name", "first_name", "email", "raw_score",
           "late_submission_penalty", "score", "max_score")  # fmt: skip
_KEYS: dict[str, tuple[str, ...]] = {"student_id": ("id",), "email": ("email",)}


def open_template(data: bytes, options: Options) -> Template:
    sheet = read(data, ",", quote=None, encoding=options.encoding)
    header = sheet.rows[0]
    columns = {name: find(header, name) for name in COLUMNS}
    lacking = [name for name, column in columns.items() if column is None]
    if lacking:
        raise TemplateError(f"the template has no column {', '.join(lacking)}", "take the file of `nbgrader export`")
    try:
        sheet.require_rectangle()
    except TemplateError as error:
        raise TemplateError(f"{error.message}: nbgrader writes no quotes, so a comma in a name or title shifts the row",
                            "remove the comma in nbgrader and export again") from None  # fmt: skip
    at = {name: column for name, column in columns.items() if column is not None}
    assignment = _assignment(sheet, at["assignment"], options)
    rows = [row for row in body(sheet) if row.value(at["assignment"]) == assignment]
    template = Template(
        sheet,
        rows,
        at["score"],
        keys_of(header, options, _KEYS, fold=frozenset({"email"})),
        lambda row: f"{row.value(at['first_name'])} {row.value(at['last_name'])}",
        options.decimal_sign or ".",
        f"score of {assignment}",
        decimals=6,
        maximum=lambda row: numbers.parse(row.value(at["max_score"])),
        no_excuse="nbgrader's file cannot say excused",
        companions=_companions(at, options),
        unfit=lambda row, grade, value: (
            None
            if value or grade.submitted or row.value(at["timestamp"]).strip()
            else "without a time of submission nbgrader takes a 0 for nothing handed in"
        ),
        missing_is_zero=True,
        nothing_yet=lambda row: (
            not row.value(at["timestamp"]).strip() and not numbers.parse(row.value(at["score"]) or "0")
        ),
    )
    if template.sign == ",":
        raise TemplateError("nbgrader's file separates cells with commas and has no quotes", "use the decimal sign .")
    return template


def _assignment(sheet: Sheet, column: int, options: Options) -> str:
    names = list(dict.fromkeys(row.value(column) for row in body(sheet)))
    if not names:
        return options.column or options.assignment
    return names[choose([(number, name, ()) for number, name in enumerate(names)], options, "assignment")]


def _companions(at: dict[str, int], options: Options) -> Callable[[Row, Grade, Decimal], dict[int, str]]:
    """Raw score and penalty change with the score; a time of submission is what tells a zero from nothing handed in."""

    def companions(row: Row, grade: Grade, value: Decimal) -> dict[int, str]:
        penalty = (grade.late_penalty or Decimal(0)) if options.late == "deduct" else Decimal(0)
        if grade.score is None:
            cells = {at["raw_score"]: value, at["late_submission_penalty"]: Decimal(0)}
        else:
            factor = _factor(row, grade, at, options)
            cells = {at["raw_score"]: grade.score * factor, at["late_submission_penalty"]: penalty * factor}
        decimals = 6 if options.decimals is None else options.decimals
        texts = {column: numbers.spelled(numbers.rounded(number, decimals)) for column, number in cells.items()}
        if not row.value(at["timestamp"]).strip() and grade.submitted:
            texts[at["timestamp"]] = grade.submitted
        return texts

    return companions


def _factor(row: Row, grade: Grade, at: dict[str, int], options: Options) -> Decimal:
    full = numbers.parse(row.value(at["max_score"]))
    return full / grade.max_score if options.rescale and full and grade.max_score else Decimal(1)
