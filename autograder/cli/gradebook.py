"""Commands of the course staff: gradebook init, roster, import, show, log, and the decisions that they enter.

`override`, the decision that is needed most, is also a command of its own.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from autograder.cli.common import EXIT_FAILED, assignment, stdout
from autograder.cli.opening import By, Db, opened, place, require_packages, table_width
from autograder.cli.student import Name
from autograder.errors import UsageError

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from autograder.gradebook.changes import Author
    from autograder.gradebook.tables import Attempt, Extension, ManualPoints, Override

Student = Annotated[str, typer.Argument(metavar="STUDENT", help="Id, or login, number or e-mail address.")]
Reason = Annotated[str, typer.Option("--reason", help="Why; it stays in the log.", show_default=False)]

gradebook = typer.Typer(
    name="gradebook",
    help="Keep a class's attempts, results and decisions; every change is a row with author and time.",
    no_args_is_help=True,
    rich_markup_mode="rich",
)


def register(app: typer.Typer) -> None:
    app.add_typer(gradebook, name="gradebook")
    app.command()(override)


@gradebook.command()
def init(db: Db = None) -> None:
    """Make the gradebook, or bring one of an older version up to date; safe to repeat.

    Example: autograder gradebook init
    """
    require_packages()
    from autograder.gradebook.database import create_database, newest_version
    from autograder.gradebook.report import say

    database, before = create_database(place(db))
    with database:
        newest = newest_version()
        done = "made" if before is None else "is up to date" if before == newest else f"upgraded from version {before}"
        say(stdout(), f"gradebook {database.label}: {done}, version {newest}")


@gradebook.command()
def roster(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="CSV: id, name, login, email, sis_id, ... (docs/lms.md).")
    ],
    drop: Annotated[bool, typer.Option("--drop", help="Whoever is not in the file has left.")] = False,
    encoding: Annotated[str | None, typer.Option(help="Of the file; default: UTF-8 or UTF-16.")] = None,
    db: Db = None,
    author: By = None,
) -> None:
    """Enter the students of a roster; who is not in it stays, unless you say that they left.

    Example: autograder gradebook roster roster.csv
    """
    from autograder.lms.roster import read_roster

    students = [line.student for line in read_roster(file, encoding=encoding)]
    if not students:
        raise UsageError(f"{file} has no students; nothing was written")
    with opened(db) as database:
        from autograder.gradebook.changes import author_of
        from autograder.gradebook.enrolling import enrol
        from autograder.gradebook.report import say

        by = author_of(author)
        done = database.write(lambda session: enrol(session, students, by.name, by.now, drop=drop))
        console = stdout()
        say(console, f"new {len(done.new)}, changed {len(done.changed)}, unchanged {len(done.unchanged)}, "
                     f"{'left' if drop else 'not in the file'} {len(done.absent)}")  # fmt: skip
        if done.absent and not drop:
            say(console, f"not in the file, still here: {', '.join(done.absent)}; say --drop when they have left")


@gradebook.command(name="import")
def import_(
    name: Name,
    records: Annotated[
        Path | None, typer.Argument(metavar="RECORDS", help="The folder that `grade` wrote; default grades/hwN.")
    ] = None,
    collected: Annotated[
        Path | None,
        typer.Option(help="What `collect` wrote: times, marks, earlier attempts; default submissions/hwN, if there."),
    ] = None,
    zone: Annotated[
        str | None, typer.Option(metavar="ZONE", help="Of times without an offset; default the policy's.")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Write without asking.")] = False,
    db: Db = None,
    author: By = None,
) -> None:
    """Enter the records of a graded class; shows whose grade changes, from what to what, before it writes.

    Exit 0 when everything was entered, 1 when you declined or something in it is no grade.

    Example: autograder gradebook import hw1 grades/hw1 --collected submissions/hw1/collected.json
    """
    with opened(db) as database:
        from autograder.gradebook.changes import author_of
        from autograder.gradebook.importing import apply_import, plan_import, read_order
        from autograder.gradebook.report import print_plan, say

        order = read_order(assignment(name), records, collected, zone)
        by, console = author_of(author), stdout(width=table_width())
        with database.read() as session:
            plan = plan_import(session, order, by.name, by.now)
        print_plan(console, plan)
        if not plan.is_empty:
            if not yes and not _agreed():
                say(console, "nothing was written")
                raise typer.Exit(EXIT_FAILED)
            agreed = None if yes else plan.differences
            done = database.write(lambda session: apply_import(session, order, by.name, by.now, agreed))
            if done.differences != plan.differences:
                say(console, "others wrote meanwhile; what was written:")
                print_plan(console, done)
        say(console, "nothing is new" if plan.is_empty else "written")
        raise typer.Exit(EXIT_FAILED if plan.needs_you else 0)


def _agreed() -> bool:
    if not sys.stdin.isatty():
        raise UsageError("nothing was written: nobody is at the terminal to agree; look at the above, then add --yes")
    return typer.confirm("write this?", default=False)


@gradebook.command()
def show(
    name: Name,
    student: Annotated[str | None, typer.Option(metavar="STUDENT", help="One student, in full.")] = None,
    db: Db = None,
) -> None:
    """Show the grades of an assignment as they stand, and how they come about.

    Example: autograder gradebook show hw1 --student 00451
    """
    assignment(name)
    with opened(db) as database, database.read() as session:
        from autograder.gradebook.audit import policy_words
        from autograder.gradebook.book import Book
        from autograder.gradebook.report import print_standings, print_student, say

        book, console = Book(session, name), stdout(width=table_width())
        where = book.policy.zone
        say(console, f"{name}, {policy_words(book.policy_row)}" if book.policy_row else f"{name}: no late policy")
        if student is None:
            print_standings(console, book.standings().values(), where)
            return
        chosen = book.roster.require(student)
        if chosen.id not in book.roster.here:
            raise UsageError(f"{chosen.id!r} has left the course; see autograder gradebook log --student {chosen.id}")
        print_student(console, book.standings()[chosen.id], where, book.policy.per)


@gradebook.command()
def override(
    name: Name,
    student: Student,
    points: Annotated[
        str, typer.Argument(metavar="POINTS", help="The grade; or excused, not-assigned, missing; none takes it back.")
    ],
    reason: Reason,
    db: Db = None,
    author: By = None,
) -> None:
    """Replace a student's computed grade; no late penalty is taken off it.

    `autograder override` and `autograder gradebook override` are the same.

    Example: autograder override hw1 00451 8.5 --reason "regraded by hand"
    """
    require_packages()
    from autograder.gradebook import changes

    _decide(name, db, author, lambda session, by: changes.override(session, name, student, points, reason, by))


@gradebook.command()
def extend(
    name: Name,
    student: Student,
    until: Annotated[str, typer.Argument(metavar="UNTIL", help="'2026-10-05 23:59'; none takes it back.")],
    reason: Reason,
    db: Db = None,
    author: By = None,
) -> None:
    """Give one student a later due time.

    Example: autograder gradebook extend hw1 00451 "2026-10-05 23:59" --reason "ill"
    """
    require_packages()
    from autograder.gradebook import changes

    _decide(name, db, author, lambda session, by: changes.extend(session, name, student, until, reason, by))


@gradebook.command()
def points(
    name: Name,
    student: Student,
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="A short name, such as q3.")],
    given: Annotated[str, typer.Argument(metavar="POINTS/MAX", help="Such as 3/5; none takes them back.")],
    db: Db = None,
    author: By = None,
) -> None:
    """Enter points for a written question; a grade waits until every question has points.

    Example: autograder gradebook points hw1 00451 q3 3.5/5
    """
    require_packages()
    from autograder.gradebook import changes

    _decide(name, db, author, lambda session, by: changes.give_points(session, name, student, question, given, by))


@gradebook.command()
def submitted(
    name: Name,
    student: Student,
    time: Annotated[str, typer.Argument(metavar="TIME", help="'2026-10-02 21:14', or with an offset.")],
    reason: Reason,
    attempt: Annotated[int | None, typer.Option(min=1, help="Which one, as `show` counts; default the last.")] = None,
    db: Db = None,
    author: By = None,
) -> None:
    """Say when an attempt was handed in, where the platform did not tell or was wrong.

    Example: autograder gradebook submitted hw1 00451 "2026-10-02 21:14" --reason "receipt by e-mail"
    """
    require_packages()
    from autograder.gradebook import changes

    _decide(
        name, db, author, lambda session, by: changes.correct_time(session, name, student, time, attempt, reason, by)
    )


@gradebook.command()
def policy(
    name: Name,
    due: Annotated[str | None, typer.Option(metavar="TIME", help="'2026-10-02 23:59', or none.")] = None,
    zone: Annotated[str | None, typer.Option(metavar="ZONE", help="Whose clock ends a day: Europe/Berlin.")] = None,
    per: Annotated[
        str | None, typer.Option(metavar="day|hour", help="What lateness is counted in, once begun.")
    ] = None,
    percent: Annotated[str | None, typer.Option(metavar="N", help="Deducted for each.")] = None,
    of: Annotated[str | None, typer.Option(metavar="max|score", help="What it is a percentage of.")] = None,
    grace: Annotated[str | None, typer.Option(metavar="15m|2h|1d", help="So much later is still on time.")] = None,
    cap: Annotated[str | None, typer.Option(metavar="N", help="Percentage that is deducted at most.")] = None,
    floor: Annotated[
        str | None, typer.Option(metavar="N", help="Percentage of the maximum that lateness leaves.")
    ] = None,
    counts: Annotated[str | None, typer.Option(metavar="last|best|last_on_time", help="Which attempt counts.")] = None,
    db: Db = None,
    author: By = None,
) -> None:
    """Show the late policy, or enter its next version: what you do not name stays.

    Example: autograder gradebook policy hw1 --due "2026-10-02 23:59" --zone Europe/Berlin --percent 10 --grace 15m
    """
    chosen = assignment(name).id
    with opened(db) as database:
        from autograder.gradebook.audit import policy_words
        from autograder.gradebook.book import newest_policy
        from autograder.gradebook.changes import Terms, author_of, set_policy
        from autograder.gradebook.report import say

        terms, by = Terms(due, zone, per, percent, of, grace, cap, floor, counts), author_of(author)
        if not terms.is_empty:
            database.write(lambda session: set_policy(session, chosen, terms, by).version)
        with database.read() as session:
            row = newest_policy(session, chosen)
            say(stdout(), f"{name}, {policy_words(row)}" if row else f"{name}: no late policy; the last attempt counts")


@gradebook.command()
def log(
    name: Annotated[str | None, typer.Argument(metavar="[hwN]", help="Only this assignment.")] = None,
    student: Annotated[str | None, typer.Option(metavar="STUDENT", help="Only this student.")] = None,
    db: Db = None,
) -> None:
    """Show every change with author and time, oldest first.

    Example: autograder gradebook log hw1 --student 00451
    """
    if name is not None:
        assignment(name)
    with opened(db) as database, database.read() as session:
        from autograder.gradebook.audit import trail
        from autograder.gradebook.book import Roster
        from autograder.gradebook.report import print_trail

        chosen = Roster(session).require(student).id if student is not None else None
        print_trail(stdout(width=table_width()), trail(session, assignment=name, student=chosen))


def _decide(
    name: str,
    db: str | None,
    author: str | None,
    enter: Callable[[Session, Author], Override | Extension | ManualPoints | Attempt],
) -> None:
    """Enter a row about one student, and show what the student's grade has become."""
    assignment(name)
    with opened(db) as database:
        from autograder.gradebook.book import Book
        from autograder.gradebook.changes import author_of
        from autograder.gradebook.report import print_student

        by = author_of(author)
        student = database.write(lambda session: enter(session, by).student)
        with database.read() as session:
            book = Book(session, name)
            if student in book.roster.here:
                print_student(stdout(width=table_width()), book.standings()[student], book.policy.zone, book.policy.per)
