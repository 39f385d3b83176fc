"""Commands of the course staff: nbgrader setup, scores, manual."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from autograder.cli.common import EXIT_FAILED, assignment, course, stdout
from autograder.cli.opening import By, Db, opened, table_width
from autograder.cli.student import Name
from autograder.errors import UsageError

if TYPE_CHECKING:
    from autograder.lms.roster import RosterLine

Folder = Annotated[
    Path, typer.Option("--course", metavar="DIR", help="nbgrader's course folder, with nbgrader_config.py.")
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Write without asking.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show the differences; write nothing.")]

nbgrader = typer.Typer(
    name="nbgrader",
    help="Bring assignments into an nbgrader course, and scores into its gradebook.",
    no_args_is_help=True,
    rich_markup_mode="rich",
)


def register(app: typer.Typer) -> None:
    app.add_typer(nbgrader, name="nbgrader")


@nbgrader.command()
def setup(
    names: Annotated[list[str], typer.Argument(metavar="hwN ...", help="Assignments of the course.")],
    folder: Folder = Path(),
    force: Annotated[bool, typer.Option("--force", help="Replace files there that differ.")] = False,
) -> None:
    """Write source/hwN: the notebook with one grade cell per check, the module's stub and what is released with it.

    Example: autograder nbgrader setup hw1 --course ../course101
    """
    from autograder.nbgrader_bridge.course import open_course
    from autograder.nbgrader_bridge.report import print_setup
    from autograder.nbgrader_bridge.setup import set_up

    chosen = [assignment(name) for name in names]
    for one in chosen:
        place = open_course(folder)  # each time, for the configuration grows
        print_setup(stdout(), one.id, set_up(one, place, force=force))


@nbgrader.command()
def scores(
    name: Name,
    folder: Folder = Path(),
    records: Annotated[
        Path | None, typer.Option(help="The folder of records that `grade` wrote; default grades/hwN.")
    ] = None,
    roster: Annotated[
        Path | None, typer.Option(help="CSV with names and logins (docs/lms.md); default roster.csv, if there.")
    ] = None,
    yes: Yes = False,
    dry_run: DryRun = False,
) -> None:
    """Write the points of the checks, and remarks, into nbgrader's gradebook; shows the differences before it writes.

    Points that people gave in formgrader stay. Exit 0 when everyone's record is in, 1 when you declined or somebody was
    left out.

    Example: autograder nbgrader scores hw1 --course ../course101
    """
    from autograder.nbgrader_bridge.course import open_course
    from autograder.nbgrader_bridge.plan import Planner
    from autograder.nbgrader_bridge.report import print_odd, print_plan
    from autograder.nbgrader_bridge.writing import write

    chosen, lines = assignment(name), _roster(roster)
    found = records or chosen.course.root / "grades" / name
    if not found.is_dir():
        raise UsageError(f"{found} is no folder of records", f"grade first: autograder grade {name}, or give --records")
    place = open_course(folder)
    console = stdout(width=table_width())
    with place.gradebook() as gradebook:
        plan = Planner(chosen, place, gradebook, lines).plan(found)
        print_plan(console, plan)
        if plan.changes and not dry_run:
            if not yes and not _agreed():
                console.print("nothing was written")
                raise typer.Exit(EXIT_FAILED)
            print_odd(console, write(chosen, gradebook, plan))
        console.print("nothing was written" if dry_run else "written" if plan.changes else "nothing is new")
    raise typer.Exit(EXIT_FAILED if plan.left_out or plan.without_record else 0)


@nbgrader.command()
def manual(
    name: Name,
    folder: Folder = Path(),
    yes: Yes = False,
    dry_run: DryRun = False,
    db: Db = None,
    author: By = None,
) -> None:
    """Enter the points of written questions, as formgrader has them, into our gradebook; shows what is new first.

    Exit 0 when everything graded is in, 1 when you declined or somebody is not in the gradebook's roster.

    Example: autograder nbgrader manual hw1 --course ../course101
    """
    from autograder.nbgrader_bridge.course import open_course
    from autograder.nbgrader_bridge.manual import compare, enter, read_points
    from autograder.nbgrader_bridge.report import print_entering

    assignment(name)
    place = open_course(folder)
    console = stdout(width=table_width())
    with place.gradebook() as gradebook:
        found = read_points(gradebook, name)
    with opened(db) as database:
        from autograder.gradebook.changes import author_of

        with database.read() as session:
            entering = compare(session, name, found.points)
        print_entering(console, name, found, entering)
        if entering.new and not dry_run:
            if not yes and not _agreed():
                console.print("nothing was written")
                raise typer.Exit(EXIT_FAILED)
            by = author_of(author)
            database.write(lambda session: enter(session, name, found.points, by))
        console.print("nothing was written" if dry_run else "written" if entering.new else "nothing is new")
    raise typer.Exit(EXIT_FAILED if entering.unknown else 0)


def _roster(given: Path | None) -> list[RosterLine]:
    from autograder.lms.roster import read_roster

    path = given or course().root / "roster.csv"
    return read_roster(path) if given or path.is_file() else []


def _agreed() -> bool:
    if not sys.stdin.isatty():
        raise UsageError("nothing was written: nobody is at the terminal to agree", "look at the above, then add --yes")
    return typer.confirm("write this?", default=False)
