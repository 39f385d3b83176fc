"""What `collect` prints: the counts, and each thing that a person has to look at with what to do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

from autograder.collect.placing import State
from autograder.collect.text import shown

if TYPE_CHECKING:
    from rich.console import Console

    from autograder.collect.collecting import Order, Report


def print_report(console: Console, order: Order, report: Report) -> None:
    def line(text: str) -> None:
        printable = text.encode(console.encoding, "backslashreplace").decode(console.encoding)
        console.print(printable, markup=False, soft_wrap=True)

    who = sum(state is not State.NONE for state in report.states.values())
    line(f"{order.assignment.id}: layout {report.layout}, {report.hands} hand-ins{_dry(order)}")
    line(f"collected   {who}{_details(report)}")
    _people(line, "late", [id for id, student in report.students.items() if student.late])
    odd = {id: student.odd for id, student in report.students.items() if student.odd}
    line(f"odd         {len(odd) + len(report.unplaced)}")
    for id, problems in odd.items():
        for problem in problems:
            line(f"  {shown(id)}: {problem.fact}; {problem.remedy}")
    for entry in report.unplaced:
        line(f"  not placed: {entry.entry}: {entry.fact}; {entry.remedy}")
    if report.missing is not None:
        _people(line, "missing", report.missing)
    for id, student in report.students.items():
        for note in student.notes:
            line(f"  note: {shown(id)}: {note}")
    line(f"{'would go to' if order.dry_run else 'in'} {order.out}; grade with: {_next(order)}")


def _dry(order: Order) -> str:
    return "; dry run: nothing is written" if order.dry_run else ""


def _details(report: Report) -> str:
    counts = Counter(report.states.values())
    parts = [f"{state.value} {counts[state]}" for state in State if counts[state] and state is not State.NONE]
    return f" ({', '.join(parts)})" if parts else ""


def _people(line: object, title: str, ids: Iterable[str]) -> None:
    names = [shown(id) for id in ids]
    assert callable(line)
    line(f"{title:<12}{len(names)}{': ' if names else ''}{', '.join(names)}")


def _next(order: Order) -> str:
    command = f"autograder grade {order.assignment.id}"
    default = order.assignment.course.root / "submissions" / order.assignment.id
    return command if order.out == default else f"{command} {order.out}"
