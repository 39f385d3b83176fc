"""Commands of an author: new, verify, release."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from autograder.cli.common import EXIT_FAILED, assignment, course, stdout

Names = Annotated[list[str] | None, typer.Argument(metavar="[hwN ...]", help="Assignments; default all.")]


def register(app: typer.Typer) -> None:
    for command in (new, verify, release):
        app.command()(command)


def new(
    name: Annotated[str, typer.Argument(metavar="hwN", help="Id of the new assignment.")],
    title: Annotated[str, typer.Option(help="Its title.")] = "Untitled assignment",
) -> None:
    """Scaffold an assignment that passes `verify` once its TODOs are filled.

    Example: autograder new hw7 --title "Speculative decoding"
    """
    from autograder.scaffold import new_assignment

    made = new_assignment(course(), name, title)
    console = stdout()
    for path in made:
        console.print(f"  {path}", markup=False)
    console.print(f"next: fill the TODOs, then autograder verify {name}")


def verify(
    names: Names = None,
    only: Annotated[str | None, typer.Option(help="Only programs whose id contains this, with their report.")] = None,
    jobs: Annotated[int, typer.Option("--jobs", "-j", min=1, help="Worker processes.")] = 2,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Only what is wrong, and the summary.")] = False,
) -> None:
    """Lint assignments: stub, solution and corpus must come out as declared; prints the matrix.

    Examples: autograder verify hw1 · autograder verify hw1 --only wrong/missing_rescale
    """
    from autograder.render.matrix import print_row, print_verdict
    from autograder.verify import verify as run

    console = stdout()
    fine = True
    for name in names or course().assignments:
        chosen = assignment(name)
        console.print(f"{chosen.id}  {chosen.title}", style="bold")
        verdict = run(
            chosen,
            jobs=jobs,
            only=only,
            on_row=lambda row: None if quiet else print_row(console, row, only is not None),
        )
        print_verdict(console, verdict, quiet=quiet)
        fine = fine and verdict.ok
    raise typer.Exit(0 if fine else EXIT_FAILED)


def release(
    names: Names = None,
    out: Annotated[Path | None, typer.Option(help="Also build the students' kit in this folder.")] = None,
    check: Annotated[bool, typer.Option("--check", help="Only say whether assignments/ is up to date.")] = False,
    force: Annotated[bool, typer.Option(help="Overwrite work found in assignments/.")] = False,
) -> None:
    """Generate assignments/ from solutions/ and, with --out, build what students receive.

    Examples: autograder release · autograder release --check · autograder release --out ../kit
    """
    from autograder import release as releasing

    console = stdout()
    if check:
        differences = releasing.release_check(course(), names or [])
        for difference in differences:
            console.print(str(difference), markup=False)
        console.print(
            "assignments/ is out of date: run autograder release" if differences else "assignments/ is up to date"
        )
        raise typer.Exit(EXIT_FAILED if differences else 0)
    made = releasing.release(course(), names or [], out, force=force)
    console.print(str(made), markup=False)
