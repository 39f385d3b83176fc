"""Commands that carry grading to other platforms: package, render."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from autograder.cli.common import assignment, stdout
from autograder.cli.student import Name
from autograder.isolation import Isolation

_HIDDEN_AS = "hidden, after_due_date, after_published or visible"


def register(app: typer.Typer) -> None:
    app.command()(package)
    app.command()(render)


def package(
    name: Name,
    target: Annotated[str, typer.Option("--for", metavar="PLATFORM", help="gradescope, prairielearn or github.")],
    out: Annotated[
        Path | None, typer.Option("-o", "--out", help="The zip or folder to write; default hwN-PLATFORM here.")
    ] = None,
    isolation: Annotated[
        Isolation, typer.Option(help="What the container must offer; auto never means process: code you trust.")
    ] = Isolation.AUTO,
    memory: Annotated[
        int | None, typer.Option(metavar="MIB", min=512, help="Memory of the container; default the platform's own.")
    ] = None,
    hidden_as: Annotated[
        str, typer.Option(metavar="VISIBILITY", help=f"Hidden checks on Gradescope: {_HIDDEN_AS}.")
    ] = "hidden",
    image: Annotated[str | None, typer.Option(help="Name of the image you build for PrairieLearn.")] = None,
    torch_index: Annotated[
        str,
        typer.Option(
            metavar="URL", help="Package index with CPU builds of torch (docs/platforms.md); default pip's own."
        ),
    ] = "",
    rehearse: Annotated[
        bool, typer.Option("--rehearse/--no-rehearse", help="Grade the solution with the finished bundle, as a trial.")
    ] = True,
) -> None:
    """Make an autograder bundle that runs the same checks on another platform.

    Bundles for Gradescope and PrairieLearn hold the solution, the hidden checks and the course's secret: they are for
    the staff only. The one for GitHub is a workflow with the public checks (docs/platforms.md).

    Example: autograder package hw1 --for gradescope -o hw1.zip
    """
    from autograder.platforms.bundles import Order
    from autograder.platforms.packaging import make

    place = out or Path(f"{name}-{target}{'.zip' if target == 'gradescope' else ''}")
    order = Order(assignment(name), target, place, isolation, memory, hidden_as, image, torch_index)
    raise typer.Exit(make(stdout(), order, trial=rehearse))


def render(
    record: Annotated[Path, typer.Argument(metavar="RECORD.json", help="What `autograder run --json` wrote.")],
    form: Annotated[
        str, typer.Option("--as", metavar="FORM", help="gradescope, prairielearn, github, classroom or markdown.")
    ],
    output: Annotated[Path | None, typer.Option("-o", "--output", help="The file to write; default: print it.")] = None,
    hidden_as: Annotated[
        str, typer.Option(metavar="VISIBILITY", help=f"Hidden checks on Gradescope: {_HIDDEN_AS}.")
    ] = "hidden",
) -> None:
    """Turn the record of a run into another platform's result.

    `github` prints annotations and fills the job's summary and output; `classroom` is GitHub Classroom's JSON.

    Example: autograder render hw1.json --as gradescope -o results.json
    """
    from autograder.platforms import rendering

    text = rendering.render(rendering.read_record(record), form, hidden_as=hidden_as)
    if output is None:
        sys.stdout.write(text)
    else:
        rendering.write(output, text)
