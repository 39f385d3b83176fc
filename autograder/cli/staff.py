"""Commands of the course staff: grade."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from autograder.cli.common import EXIT_GRADER, assignment, stdout
from autograder.cli.student import Name
from autograder.isolation import Isolation


def register(app: typer.Typer) -> None:
    app.command()(grade)


def grade(
    name: Name,
    submissions: Annotated[
        Path | None, typer.Argument(help="A folder with a folder per student; default submissions/hwN.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Where one JSON record per student goes; default grades/hwN.")
    ] = None,
    jobs: Annotated[
        int | None, typer.Option("--jobs", "-j", min=1, help="Worker processes; default one per CPU.")
    ] = None,
    student: Annotated[list[str] | None, typer.Option(metavar="ID", help="Only this student; may be repeated.")] = None,
    force: Annotated[bool, typer.Option(help="Grade again what is graded already.")] = False,
    isolation: Annotated[
        Isolation, typer.Option(help="auto (refuses a machine without isolation), namespaces, landlock or process.")
    ] = Isolation.AUTO,
) -> None:
    """Grade a class in isolation, one record per student; a run that was stopped continues where it was.

    Example: autograder grade hw1 submissions/hw1 --out grades/hw1 --jobs 2
    """
    from autograder.batch import Batch

    chosen = assignment(name)
    batch = Batch(
        chosen,
        submissions or chosen.course.root / "submissions" / name,
        out or chosen.course.root / "grades" / name,
        jobs=jobs,
        isolation=isolation,
        students=student or (),
        force=force,
    )
    faults = batch.run(stdout())
    raise typer.Exit(EXIT_GRADER if faults else 0)
