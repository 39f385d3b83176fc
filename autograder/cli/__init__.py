"""The command line: `autograder`. Heavy imports happen inside the commands, so that help stays instant."""

from __future__ import annotations

import sys

import typer

from autograder.cli import author, exporting, gradebook, nbgrader, packaging, pushing, staff, student
from autograder.cli.common import EXIT_GRADER, EXIT_USAGE, stderr
from autograder.errors import AutograderError, GraderError

app = typer.Typer(
    name="autograder",
    help="Grade how code computes: exact access counts, compile counts, saved bytes, bit-exact resume.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    add_completion=False,
)
student.register(app)
staff.register(app)
gradebook.register(app)
exporting.register(app)
pushing.register(app)
nbgrader.register(app)
packaging.register(app)
author.register(app)


def main() -> None:
    """Entry point: a user's mistake is one clear message and exit 2, a fault of the grader exit 3."""
    try:
        app()
    except GraderError as error:
        stderr().print(f"grader error: {error}", markup=False, highlight=False, style="magenta", soft_wrap=True)
        sys.exit(EXIT_GRADER)
    except AutograderError as error:
        stderr().print(f"error: {error}", markup=False, highlight=False, style="red", soft_wrap=True)
        sys.exit(EXIT_USAGE)
    except KeyboardInterrupt:
        stderr().print("interrupted", style="yellow")
        sys.exit(130)
