"""Commands of the course staff: collect, grade."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from autograder.cli.common import EXIT_FAILED, EXIT_GRADER, assignment, stdout
from autograder.cli.student import Name
from autograder.collect import Layout
from autograder.errors import UsageError
from autograder.isolation import Isolation


def register(app: typer.Typer) -> None:
    app.command()(collect)
    app.command()(grade)


def collect(
    name: Name,
    source: Annotated[Path, typer.Argument(help="What you downloaded: a folder, a zip, a tar.", show_default=False)],
    roster: Annotated[Path | None, typer.Option(help="CSV that says who is in the class (docs/collect.md).")] = None,
    layout: Annotated[Layout, typer.Option(help="Detected and reported unless you say it.")] = Layout.AUTO,
    out: Annotated[Path | None, typer.Option(help="Where a folder per student goes; default submissions/hwN.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Report only; write nothing.")] = False,
) -> None:
    """Turn a download from a learning platform into a folder per student that `autograder grade` takes.

    Exit 0 when everything is clear, 1 when something needs you; it is safe to repeat.

    Example: autograder collect hw1 submissions.zip --roster roster.csv
    """
    from autograder.collect.collecting import Order, run_order
    from autograder.collect.report import print_report

    chosen = assignment(name)
    order = Order(chosen, source, out or chosen.course.root / "submissions" / name, roster, layout, dry_run)
    report = run_order(order)
    print_report(stdout(), order, report)
    raise typer.Exit(0 if report.is_clear else EXIT_FAILED)


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
    scheduler: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="Grade on a Dask cluster: tls://host:8786, or its scheduler file."),
    ] = None,
    student: Annotated[list[str] | None, typer.Option(metavar="ID", help="Only this student; may be repeated.")] = None,
    force: Annotated[bool, typer.Option(help="Grade again what is graded already.")] = False,
    isolation: Annotated[
        Isolation, typer.Option(help="auto (refuses a machine without isolation), namespaces, landlock or process.")
    ] = Isolation.AUTO,
) -> None:
    """Grade a class in isolation, one record per student; a run that was stopped continues where it was.

    Exit 0 when all is graded, 1 when somebody's folder holds nothing that could be, 3 when the grader itself failed for
    someone, 130 or 143 after Ctrl-C or SIGTERM.

    Example: autograder grade hw1 submissions/hw1 --out grades/hw1 --jobs 2
    """
    from autograder.batch import Batch, Options

    if jobs is not None and scheduler is not None:
        raise UsageError("--jobs is about this machine and --scheduler about a cluster; give one of them")
    chosen = assignment(name)
    root = chosen.course.root
    options = Options(jobs, scheduler, isolation, student or (), force)
    batch = Batch(chosen, submissions or root / "submissions" / name, out or root / "grades" / name, options)
    summary = batch.run(stdout())
    if summary.signal:
        raise typer.Exit(128 + summary.signal)
    raise typer.Exit(EXIT_GRADER if summary.faults else EXIT_FAILED if summary.odd else 0)
