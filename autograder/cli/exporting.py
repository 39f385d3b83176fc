"""Commands of the course staff: export."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, cast

import typer

from autograder.cli.common import EXIT_FAILED, stdout
from autograder.cli.student import Name
from autograder.errors import UsageError
from autograder.lms.numbers import Sign, parse
from autograder.lms.options import IDENTITY_FIELDS, TARGETS, Options, Target

if TYPE_CHECKING:
    from autograder.lms.reconciliation import Outcome

_ROSTER = "roster.csv"
_WIDE = 250
"""Columns of the table where no terminal sets the width: a log is searched, not looked at."""


def register(app: typer.Typer) -> None:
    app.command()(export)


def export(
    name: Name,
    to: Annotated[str, typer.Option(metavar="TARGET", help=f"What the file is for: {', '.join(TARGETS)}.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The file to write, readable by you only.")],
    template: Annotated[
        Path | None, typer.Option(help="The LMS's own export; only its grade and feedback cells change.")
    ] = None,
    records: Annotated[
        Path | None, typer.Option(help="The folder of records that `grade` wrote; default grades/hwN.")
    ] = None,
    roster: Annotated[
        Path | None, typer.Option(help="CSV: id, name, login, email, sis_id, ...; default roster.csv, if there.")
    ] = None,
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
    outcome = run_export(name, to, records, roster, template, output, options)
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


def run_export(
    name: str,
    target: Target,
    records: Path | None,
    roster: Path | None,
    template: Path | None,
    output: Path,
    options: Options,
) -> Outcome:
    """Read records and roster, export, print the reconciliation, and write `output` unless something is in doubt.

    Raises UsageError for whatever cannot be read, and for an output that would overwrite the template.
    """
    from autograder.lms.exporter import export as export_grades
    from autograder.lms.reconciliation import Outcome, Reconciliation
    from autograder.lms.records import collect_grades
    from autograder.lms.report import print_reconciliation
    from autograder.lms.roster import read_roster

    _require_place(output, [path for path in (template, roster) if path is not None])
    folder = records if records is not None else _in_course("grades", name)
    if folder is None or not folder.is_dir():
        raise UsageError(f"{folder or f'grades/{name}'} is no folder of records; grade first, or give --records")
    if roster is None:
        found = _in_course(_ROSTER)
        roster = found if found is not None and found.is_file() else None
    lines = read_roster(roster, encoding=options.encoding) if roster else []
    collected = collect_grades(folder, lines, name, feedback=options.feedback)
    data = _read(template) if template is not None else None
    try:
        outcome = export_grades(target, data, collected.grades, options)
    except UsageError as error:
        if template is None:
            raise
        raise UsageError(f"{template}: {error}") from None
    report = outcome.reconciliation
    outcome = Outcome(outcome.data, Reconciliation(report.target, report.column, report.entries + collected.no_grades,
                                                   report.notes, report.blocked))  # fmt: skip
    print_reconciliation(stdout(width=None if sys.stdout.isatty() else _WIDE), outcome)
    if outcome.data is not None:
        write_private(output, outcome.data)
        stdout().print(f"file: {output}", markup=False, soft_wrap=True)
    return outcome


def _in_course(*parts: str) -> Path | None:
    from autograder.manifest import CourseError, find_course

    try:
        return find_course(Path.cwd()).root.joinpath(*parts)
    except CourseError:
        return None


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}; give the LMS's own export with --template") from None


def _require_place(output: Path, inputs: Sequence[Path]) -> None:
    if output.is_dir() or not output.parent.is_dir():
        raise UsageError(f"{output} cannot be written: give a file name in a folder that exists with -o")
    for path in inputs:
        if output.exists() and path.exists() and output.samefile(path):
            raise UsageError(f"{output} is also an input; choose another name with -o, the original is your backup")


def write_private(path: Path, data: bytes) -> None:
    """Whole or not at all, readable by its owner only (mode 0600)."""
    try:
        descriptor, temporary = tempfile.mkstemp(prefix=".export-", dir=path.parent)
    except OSError as error:
        raise UsageError(f"{path} cannot be written ({error.strerror}); choose another folder with -o") from None
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
