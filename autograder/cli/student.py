"""Commands of a student: list, run, hint, demo, pack, doctor."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Annotated

import typer

from autograder.cli.common import EXIT_FAILED, assignment, course, stdout
from autograder.errors import UsageError
from autograder.isolation import Isolation
from autograder.manifest import is_file

Name = Annotated[str, typer.Argument(metavar="hwN", help="An assignment, for example hw1.")]


def register(app: typer.Typer) -> None:
    for command in (list_, run, hint, demo, pack, doctor):
        app.command(name=command.__name__.rstrip("_"))(command)


def list_() -> None:
    """List the assignments, their modules and what you write in them.

    Example: autograder list
    """
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for heading in ("assignment", "title", "file", "you write"):
        table.add_column(heading, header_style="bold")
    here = course()
    for name in here.assignments:
        item = here.assignment(name)
        table.add_row(item.id, item.title, str(item.student_module.relative_to(here.root)), ", ".join(item.stub_names))
    console = stdout()
    console.print(f"{here.title}", style="bold")
    console.print(table)


def run(
    name: Name,
    submission: Annotated[
        Path | None, typer.Argument(help="The hand-in file or a folder holding it; default assignments/hwN.")
    ] = None,
    k: Annotated[str | None, typer.Option("-k", metavar="EXPR", help="Only checks that match, as pytest's -k.")] = None,
    stub: Annotated[str | None, typer.Option(help="Only the checks of this function or class.")] = None,
    watch: Annotated[bool, typer.Option(help="Run again whenever the file changes.")] = False,
    debug: Annotated[
        bool, typer.Option(help="Run in this process, so that breakpoint() works; no isolation, no score.")
    ] = False,
    json: Annotated[str | None, typer.Option(metavar="FILE|-", help="Write the result record as JSON.")] = None,
    junit: Annotated[Path | None, typer.Option(help="Write the result as JUnit XML.")] = None,
    isolation: Annotated[
        Isolation, typer.Option(help="auto, namespaces, landlock or process (see `autograder doctor`).")
    ] = Isolation.AUTO,
    public: Annotated[bool, typer.Option("--public", help="Public checks only, as students see them.")] = False,
) -> None:
    """Run the checks of an assignment on a submission and say what to do next.

    Hidden checks join in when solutions/hwN is there. Exit status: 0 all passed, 1 something failed,
    2 usage or set-up, 3 grader error.

    Examples: autograder run hw1 · autograder run hw1 my/softmax.py --stub softmax_online · autograder run hw1 --json -
    """
    from autograder import running

    chosen = assignment(name)
    if stub is not None:
        chosen.stub(stub)
    request = running.Request(
        chosen, submission, expression=k, stub=stub, isolation=isolation, hidden=not public, json=json, junit=junit
    )
    if debug:
        from autograder.debug import run_here

        raise typer.Exit(run_here(request))
    raise typer.Exit(running.watch(request) if watch else running.run(request))


def hint(
    name: Name,
    what: Annotated[str, typer.Argument(metavar="NAME", help="A function you write, or a check that failed.")],
    level: Annotated[int, typer.Option("-n", min=1, help="How many hints to show, the gentlest first.")] = 1,
) -> None:
    """Show a hint for a function, one at a time, or for a check.

    Examples: autograder hint hw1 softmax_online · autograder hint hw1 softmax_online -n 2
    """
    from autograder.hints import hints_for

    hints = hints_for(assignment(name), what)
    console = stdout()
    for number, text in enumerate(hints[:level], 1):
        console.print(f"{number}. {' '.join(text.split())}", markup=False)
    if level < len(hints):
        console.print(f"{len(hints) - level} more: autograder hint {name} {what} -n {level + 1}", style="dim")


def demo(
    name: Name,
    arguments: Annotated[
        list[str] | None, typer.Argument(help="Passed on to the demo, for example --out figures.")
    ] = None,
) -> None:
    """Print the tables and draw the figures of the topic from your own module.

    Example: autograder demo hw1 -- --out figures
    """
    chosen = assignment(name)
    script = chosen.student_dir / "demo.py"
    if not is_file(script):
        raise UsageError(f"{name} has no demo: {script} is missing; restore it from the kit")
    environment = {**os.environ, "MPLBACKEND": "Agg"}
    raise typer.Exit(subprocess.run([sys.executable, str(script), *(arguments or [])], env=environment).returncode)


def pack(
    name: Name,
    submission: Annotated[Path | None, typer.Argument(help="The file or folder; default assignments/hwN.")] = None,
    output: Annotated[Path | None, typer.Option("-o", help="The zip to write; default hwN.zip here.")] = None,
) -> None:
    """Check that a hand-in is complete and write the zip to upload: right file, size, imports, a run.

    Example: autograder pack hw1
    """
    from autograder.packing import pack as write

    raise typer.Exit(write(assignment(name), submission, output or Path(f"{name}.zip")))


def doctor() -> None:
    """Say what this machine offers: Python, packages, isolation layers, and what is lost without the missing ones.

    Example: autograder doctor
    """
    from autograder.doctoring import examine

    healthy = examine(stdout())
    raise typer.Exit(0 if healthy else EXIT_FAILED)
