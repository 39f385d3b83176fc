"""What the bridge's commands print."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from autograder.gradebook.report import print_table, say
from autograder.lms.numbers import spelled
from autograder.nbgrader_bridge.manual import Entering, Found
from autograder.nbgrader_bridge.plan import Change, Plan
from autograder.nbgrader_bridge.setup import Done
from autograder.render.terminal import number

if TYPE_CHECKING:
    from rich.console import Console


def print_setup(console: Console, assignment: str, done: Done) -> None:
    total = number(sum(cell.points for cell in done.cells))
    say(console, f"{assignment}: {len(done.cells)} checks, {total} points, each a cell of {done.notebook}")
    say(console, f"files in {done.folder}: written {len(done.written)}, up to date {len(done.unchanged)}")
    if done.configured:
        say(console, "added to nbgrader_config.py: autograde leaves the module that students hand in")
    say(console, f"next: nbgrader generate_assignment {assignment}")


def print_plan(console: Console, plan: Plan) -> None:
    """Differences first, then who is left out and why."""
    if plan.changes:
        titles = ("student", "nbgrader", "", "checks", "cells", "comments", "why")
        print_table(console, titles, [_row(change) for change in plan.changes])
    say(
        console,
        f"{plan.assignment}: to write {len(plan.changes)}, unchanged {len(plan.unchanged)}, "
        f"left out {len(plan.left_out)}, without a record {len(plan.without_record)}",
    )
    for who, why in plan.left_out.items():
        say(console, f"  left out, {who}: {why}")
    for who in plan.without_record:
        say(console, f"  no record, {who}: grade the hand-in")
    manual = sum(len(change.manual) for change in plan.changes)
    if manual:
        say(console, f"cells with points from a person, which stay: {manual}; formgrader asks for another look")


def _row(change: Change) -> tuple[str, ...]:
    had = "-" if change.had is None else number(change.had)
    full = sum(change.marks.maximum.values())
    reasons = (
        "new student" if change.is_new_student else "",
        "new hand-in" if change.had is None else "handed in again" if change.again else "",
        f"points by hand in {len(change.manual)}" if change.manual else "",
    )
    cells, comments = str(len(change.points)), str(len(change.comments))
    why = ", ".join(filter(None, reasons))
    return change.student, had, "->", f"{number(change.total)}/{number(full)}", cells, comments, why


def print_entering(console: Console, assignment: str, found: Found, entering: Entering) -> None:
    """Points of written questions: what is new, and who waits."""
    if entering.new:
        rows = [
            (one.student, one.question, was, "->", f"{spelled(one.points)}/{spelled(one.maximum)}")
            for one, was in entering.new
        ]
        print_table(console, ("student", "question", "gradebook", "", "nbgrader"), rows)
    waiting = sum(found.waiting.values())
    say(console, f"{assignment}: to write {len(entering.new)}, unchanged {entering.unchanged}, to be graded {waiting}")
    for who, count in found.waiting.items():
        say(console, f"  to be graded, {who}: {count} cells; finish them in formgrader")
    for who in entering.unknown:
        say(console, f"  left out, {who}: nobody in the gradebook's roster; add the student with gradebook roster")


def print_odd(console: Console, odd: Mapping[str, str]) -> None:
    for who, why in odd.items():
        say(console, f"  {who}: {why}; formgrader shows the released notebook instead")
