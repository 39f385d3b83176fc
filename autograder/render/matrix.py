"""The matrix of `autograder verify`: programs by checks, and what is not as declared."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from autograder.render.prose import GLYPHS, one_line
from autograder.render.terminal import COLOURS, number

if TYPE_CHECKING:
    from autograder.verify import Row, Verdict


def print_row(console: Console, row: Row, detailed: bool = False) -> None:
    """One program: a glyph per check, its score, and its findings."""
    record = row.record
    cells = Text().join(Text(GLYPHS[check.status], style=COLOURS[check.status]) for check in record.checks)
    score = "-" if record.score is None else number(record.score)
    head = Text(
        f"{'ok ' if not row.findings else 'BAD'} {row.id:<44.44} {score:>6} ", style="" if not row.findings else "red"
    )
    console.print(head + cells, soft_wrap=True)
    for finding in row.findings:
        console.print(f"      {finding}", style="red", markup=False, soft_wrap=True)
    if detailed:
        for check in record.checks:
            if check.status != "passed":
                console.print(f"    {GLYPHS[check.status]} {check.id}: {one_line(check)}", markup=False, soft_wrap=True)


def print_verdict(console: Console, verdict: Verdict, *, quiet: bool) -> None:
    """Legend, what concerns the assignment as a whole, and the summary line."""
    if quiet:
        for row in verdict.rows:
            if row.findings:
                print_row(console, row)
    for warning in verdict.warnings:
        console.print(f"warning: {warning}", style="yellow", markup=False)
    for finding in verdict.findings:
        console.print(f"BAD {finding}", style="red", markup=False)
    groups: dict[str, int] = {}
    for row in verdict.rows:
        groups[row.group] = groups.get(row.group, 0) + 1
    bad = sum(bool(row.findings) for row in verdict.rows)
    counts = ", ".join(f"{count} {group}" for group, count in groups.items())
    state = "as declared" if verdict.ok else f"{bad} not as declared"
    console.print(f"{counts}: {state}", style="bold green" if verdict.ok else "bold red")
