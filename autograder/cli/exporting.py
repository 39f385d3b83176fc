"""Commands of the course staff: export.

Grades come from the gradebook where there is one, else from records and a roster. An export from the gradebook is a row
in it before the file gets its name: a crash in between leaves a row whose hash no file has, never a file without a row.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, cast

import typer

from autograder.cli.common import EXIT_FAILED, assignment, stdout
from autograder.cli.opening import By, Db, gradebook_place, in_course, opened, require_grades, table_width
from autograder.cli.student import Name
from autograder.errors import UsageError
from autograder.lms.numbers import Sign, parse
from autograder.lms.options import IDENTITY_FIELDS, TARGETS, Options, Target
from autograder.lms.outfile import require_place, written

if TYPE_CHECKING:
    from autograder.gradebook.database import Database
    from autograder.lms.reconciliation import Outcome
    from autograder.lms.records import Collected
    from autograder.manifest import Assignment

_ROSTER = "roster.csv"


def register(app: typer.Typer) -> None:
    app.command()(export)


def export(
    ctx: typer.Context,
    name: Name,
    to: Annotated[str, typer.Option(metavar="TARGET", help=f"What the file is for: {', '.join(TARGETS)}.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The file to write, readable by you only.")],
    template: Annotated[
        Path | None, typer.Option(help="The LMS's own export; only its grade and feedback cells change.")
    ] = None,
    records: Annotated[
        Path | None,
        typer.Option(help="Take records instead of the gradebook; without a gradebook the default is grades/hwN."),
    ] = None,
    roster: Annotated[
        Path | None,
        typer.Option(help="Beside records; CSV: id, name, login, email, sis_id, ...; default roster.csv, if there."),
    ] = None,
    db: Db = None,
    author: By = None,
    column: Annotated[str | None, typer.Option(help="The grade column of the template, by id or title.")] = None,
    feedback: Annotated[
        bool, typer.Option("--feedback", help="Write a line of feedback too, where the file has a cell.")
    ] = False,
    feedback_column: Annotated[str | None, typer.Option(help="The feedback column, if it is not found.")] = None,
    match: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN=FIELD", help=f"Find students by a column; FIELD: {', '.join(IDENTITY_FIELDS)}."),
    ] = None,
    match_names: Annotated[
        bool, typer.Option("--match-names", help="Find the rest by full names that occur once.")
    ] = False,
    ignore_leading_zeros: Annotated[
        bool, typer.Option("--ignore-leading-zeros", help="Find the rest by digits without leading zeros.")
    ] = False,
    missing_as_zero: Annotated[
        bool, typer.Option("--missing-as-zero", help="Write 0 for who handed nothing in; default: write nothing.")
    ] = False,
    late: Annotated[
        str, typer.Option(metavar="deduct|leave", help="Deduct late penalties here, or leave that to the LMS.")
    ] = "deduct",
    rescale: Annotated[bool, typer.Option("--rescale", help="Convert points to the column's maximum.")] = False,
    max_points: Annotated[
        str | None, typer.Option("--max", metavar="POINTS", help="The column's maximum, if the template does not tell.")
    ] = None,
    decimals: Annotated[int | None, typer.Option(help="Digits to round to, once; default 2 for an LMS.")] = None,
    decimal_sign: Annotated[str | None, typer.Option(metavar=".|,", help="Default: the template's.")] = None,
    encoding: Annotated[str | None, typer.Option(help="Of template and roster; default: UTF-8 or UTF-16.")] = None,
    changed_only: Annotated[
        bool, typer.Option("--changed-only", help="Leave out rows for which nothing changes.")
    ] = False,
    allow_erase: Annotated[
        bool, typer.Option("--allow-erase", help="Overwrite excuses, texts, and grades of who is missing here.")
    ] = False,
    allow_out_of_range: Annotated[
        bool, typer.Option("--allow-out-of-range", help="Write points below 0, above or out of another maximum.")
    ] = False,
    skip_ambiguous: Annotated[
        bool, typer.Option("--skip-ambiguous", help="Leave out students who cannot be told apart.")
    ] = False,
    skip_refused: Annotated[
        bool, typer.Option("--skip-refused", help="Leave out values that the format cannot hold.")
    ] = False,
) -> None:
    """Write grades into the LMS's own file and say what became of every student; nothing is written in doubt.

    The grades are those of the gradebook, which logs the export; where there is none, of records and a roster.

    Example: autograder export hw1 --to canvas --template gradebook.csv --column 880001 -o upload.csv
    """
    if to not in TARGETS:
        raise UsageError(f"no target is called {to!r}; choose one of {', '.join(TARGETS)} with --to")
    options = Options(
        assignment=name,
        column=column,
        feedback_column=feedback_column,
        feedback=feedback,
        match=dict(_pair(text) for text in match or ()),
        match_names=match_names,
        ignore_leading_zeros=ignore_leading_zeros,
        late=cast(Literal["deduct", "leave"], late),
        missing_as_zero=missing_as_zero,
        rescale=rescale,
        column_max=_points(max_points),
        decimals=decimals,
        decimal_sign=cast(Sign | None, decimal_sign),
        encoding=encoding,
        changed_only=changed_only,
        allow_erase=allow_erase,
        allow_out_of_range=allow_out_of_range,
        allow_ambiguous=skip_ambiguous,
        allow_refused=skip_refused,
    )
    order = Order(name, to, template, output, options)
    given_db = ctx.get_parameter_source("db")
    if records is not None and given_db is not None and given_db.name == "COMMANDLINE":
        raise UsageError("--records and --db are two sources of grades; give one of them")
    place = gradebook_place(db) if records is None else None
    if place is None:
        outcome = export_records(order, records, roster)
    elif roster is not None:
        raise UsageError(f"the roster is the gradebook's own ({place}); enter yours with autograder gradebook roster, "
                         "or export records without the gradebook: --records grades/hwN")  # fmt: skip
    else:
        outcome = export_gradebook(order, place, author)
    raise typer.Exit(EXIT_FAILED if outcome.data is None else 0)


def _pair(text: str) -> tuple[str, str]:
    column, sign, field = text.rpartition("=")
    if not sign or not column.strip():
        raise UsageError(f"--match {text!r} is not COLUMN=FIELD, for example --match 'Matrikelnummer=sis_id'")
    return column.strip(), field.strip()


def _points(text: str | None) -> Decimal | None:
    value = parse(text) if text is not None else None
    if text is not None and (value is None or value <= 0):
        raise UsageError(f"--max {text!r} is no number of points, for example --max 10")
    return value


@dataclass(frozen=True)
class Order:
    """An export as it was asked for."""

    assignment: str
    target: Target
    template: Path | None
    output: Path
    options: Options


def export_records(order: Order, records: Path | None, roster: Path | None) -> Outcome:
    """Export what `grade` wrote, of the students in `roster`, and write the file unless something is in doubt.

    Raises UsageError for whatever cannot be read, and for an output that would overwrite an input.
    """
    from autograder.lms.records import collect_grades
    from autograder.lms.roster import read_roster

    require_place(order.output, [path for path in (order.template, roster) if path is not None])
    folder = records if records is not None else in_course("grades", order.assignment)
    if folder is None or not folder.is_dir():
        fact = f"{folder or f'grades/{order.assignment}'} is no folder of records"
        raise UsageError(f"{fact}; grade first, or give --records")
    if roster is None:
        found = in_course(_ROSTER)
        roster = found if found is not None and found.is_file() else None
    lines = read_roster(roster, encoding=order.options.encoding) if roster else []
    collected = collect_grades(folder, lines, order.assignment, feedback=order.options.feedback)
    outcome = _made(order, collected)
    _print(outcome, f"records {folder}, roster {roster or 'none'}")
    if outcome.data is not None:
        with written(order.output, outcome.data):
            pass
        _print_file(order, outcome.data)
    return outcome


def export_gradebook(order: Order, place: str, author: str | None) -> Outcome:
    """Export the grades of the gradebook at `place`; unless something is in doubt, log it and write the file.

    Raises UsageError for whatever cannot be read, and when the gradebook knows nothing of the assignment yet.
    """
    chosen = assignment(order.assignment)
    require_place(order.output, [order.template] if order.template is not None else [])
    with opened(place) as database:
        from autograder.gradebook.changes import author_of
        from autograder.gradebook.exporting import collect_for_export, log_export

        collected = collect_for_export(database, chosen.id, feedback=order.options.feedback)
        require_grades(database, chosen.id, collected)
        outcome = _made(order, collected)
        _print(outcome, f"gradebook {database.label}")
        _print_news(database, chosen)
        if outcome.data is not None:
            with written(order.output, outcome.data):
                log_export(
                    database,
                    chosen.id,
                    collected.grades,
                    target=order.target,
                    file=str(order.output.absolute()),
                    sha256=_sha256(outcome.data),
                    author=author_of(author).name,
                    entries=outcome.reconciliation.entries,
                    options=order.options.switches(),
                )
            _print_file(order, outcome.data)
            stdout().print(f"logged: {database.label}", markup=False, soft_wrap=True)
    return outcome


def _print_news(database: Database, chosen: Assignment) -> None:
    """Whoever grades again and forgets the import would export the grades of before without noticing."""
    from autograder.gradebook.changes import author_of
    from autograder.gradebook.importing import plan_import, read_order

    by = author_of(None)
    try:
        order = read_order(chosen, None, None, None)
        with database.read() as session:
            differences = plan_import(session, order, by.name, by.now).differences
    except UsageError:  # no records here, or none that an import would take: it says why when it is asked for
        return
    if differences:
        fact = f"the records in grades/{chosen.id} would change {len(differences)} of these grades"
        command = f"autograder gradebook import {chosen.id}"
        stdout().print(f"note: {fact}; enter them with {command}", markup=False, soft_wrap=True)


def _made(order: Order, collected: Collected) -> Outcome:
    from autograder.lms.exporter import export as export_grades

    data = _read(order.template) if order.template is not None else None
    try:
        return export_grades(order.target, data, collected.grades, order.options, collected.no_grades)
    except UsageError as error:
        if order.template is None:
            raise
        raise UsageError(f"{order.template}: {error}") from None


def _print(outcome: Outcome, source: str) -> None:
    from autograder.lms.report import print_reconciliation

    print_reconciliation(stdout(width=table_width()), outcome)
    stdout().print(f"grades: {source}", markup=False, soft_wrap=True)


def _print_file(order: Order, data: bytes) -> None:
    stdout().print(f"file: {order.output}, SHA-256 {_sha256(data)}", markup=False, soft_wrap=True)


def _sha256(data: bytes) -> str:
    from hashlib import sha256

    return sha256(data).hexdigest()


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}; give the LMS's own export with --template") from None
