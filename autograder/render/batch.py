"""What `autograder grade` says at its end."""

from __future__ import annotations

import signal
import statistics
from typing import TYPE_CHECKING

from autograder.render.terminal import number

if TYPE_CHECKING:
    from rich.console import Console

    from autograder.batch import Summary
    from autograder.outfolder import OutFolder


def print_summary(console: Console, summary: Summary, out: OutFolder, assignment: str) -> None:
    if summary.signal:
        left = summary.due - len(summary.graded)
        console.print(
            f"stopped by {signal.Signals(summary.signal).name}; {left} of {summary.due} are still to be graded: "
            "the same command continues",
            style="yellow",
        )
    scores = [record.score for record in summary.graded if record.score is not None]
    console.print(
        f"graded {len(summary.graded)}, unchanged {len(summary.unchanged)}, nothing to grade {len(summary.odd)}, "
        f"grader errors {len(summary.faults)}"
    )
    if scores:
        lowest, middle, highest = (number(f(scores)) for f in (min, statistics.median, max))
        console.print(f"scores: lowest {lowest}, median {middle}, highest {highest}")
    _print_changes(console, out, assignment, complete=not summary.signal)
    for student, why in summary.odd.items():
        console.print(f"  {student}: {why}", markup=False, soft_wrap=True)
    for student in summary.faults:
        console.print(
            f"  {student}: grader error, not a grade; see {out.file(student)}",
            style="magenta",
            markup=False,
            soft_wrap=True,
        )
    if any(record.environment.secret == "public" for record in summary.graded):
        console.print(
            "note: there is no course secret, so hidden inputs are the same in every course; put one into "
            "solutions/secret.txt, and everything is graded again",
            soft_wrap=True,
        )
    console.print(f"records: {out.path}", markup=False, soft_wrap=True)


def _print_changes(console: Console, out: OutFolder, assignment: str, *, complete: bool) -> None:
    """Whose score is another than before; a run that was stopped leaves the telling to the one that continues it."""
    again = out.changes() if complete else []
    if not again:
        return
    changed = [change for change in again if change.before != change.after]
    console.print(f"graded again {len(again)}, of which another score {len(changed)}")
    for change in changed:
        before, after = ("grader error" if s is None else number(s) for s in (change.before, change.after))
        console.print(f"  {change.student}: {before} -> {after} ({change.why})", markup=False, soft_wrap=True)
    if changed:
        console.print(
            f"grades in the gradebook change only by `autograder gradebook import {assignment}`, which asks first"
        )
