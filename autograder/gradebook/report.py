"""What the gradebook's commands print: tables without a terminal's tricks, names without control characters."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from autograder.collect.text import shown
from autograder.gradebook.audit import Line
from autograder.gradebook.importing import Plan, spell
from autograder.gradebook.standing import Standing, Try
from autograder.gradebook.times import shown_time
from autograder.lms.grades import Identity
from autograder.lms.numbers import spelled

if TYPE_CHECKING:
    from rich.console import Console


def say(console: Console, text: str) -> None:
    console.print(shown(text), markup=False, soft_wrap=True)


def print_table(console: Console, titles: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in titles:
        table.add_column(title, overflow="fold")
    for row in rows:
        table.add_row(*(Text(shown(cell)) for cell in row))
    console.print(table)


def named(student: Identity) -> str:
    name = student.full_name
    return f"{student.id} {name}" if name and name != student.id else student.id


def print_plan(console: Console, plan: Plan) -> None:
    """What an import would change, before it does."""
    if plan.differences:
        rows = [(named(one.student), one.old, "->", one.new) for one in plan.differences]
        print_table(console, ("student", "old", "", "new"), rows)
    say(
        console,
        f"new attempts {len(plan.attempts)}, new results {len(plan.results)}, known already {plan.unchanged}, "
        f"grades that change {len(plan.differences)}",
    )
    if plan.confirmed:
        say(console, f"  graded again with another kit, nothing came out differently: {plan.confirmed}")
    for name, problem in plan.no_grades.items():
        say(console, f"  no grade, {name}: {problem}")
    for key in plan.unknown:
        say(console, f"  left out, {key}: nobody in the gradebook's roster; add the student with gradebook roster")


def print_standings(console: Console, standings: Iterable[Standing], where: ZoneInfo) -> None:
    rows = []
    for one in standings:
        counted = one.counted
        attempt = f"{counted.position} of {len(one.tries)}" if counted else ""
        time = shown_time(counted.attempt.submitted, where) if counted else ""
        notes = "; ".join(filter(None, (one.why, *one.notes)))
        rows.append((named(one.student), spell(one), attempt, time, notes))
    print_table(console, ("student", "grade", "attempt", "handed in", "notes"), rows)


def print_student(console: Console, standing: Standing, where: ZoneInfo, unit: str) -> None:
    """One student's grade and everything that it is made of."""
    say(console, f"{named(standing.student)}: {spell(standing)}")
    if standing.why:
        say(console, f"  pending: {standing.why}")
    for note in standing.notes:
        say(console, f"  note: {note}")
    if standing.extension:
        say(console, f"  extension until {shown_time(standing.extension, where)}")
    for question, points in standing.points.items():
        say(console, f"  {question}: {spelled(points)}")
    if standing.tries:
        rows = [_try(one, standing, where, unit) for one in standing.tries]
        print_table(console, ("attempt", "handed in", "late", "checks", "kit", "files", ""), rows)


def _try(one: Try, standing: Standing, where: ZoneInfo, unit: str) -> tuple[str, ...]:
    result = one.result
    late = f"{one.late} {unit}{'s' if one.late > 1 else ''}" if one.late else ""
    score = f"{spelled(result.score)}/{spelled(result.maximum)}" if result and result.score is not None else ""
    counts = standing.counted is not None and standing.counted.position == one.position and not standing.is_overridden
    return (
        str(one.position),
        shown_time(one.attempt.submitted, where) or "unknown",
        late,
        score or one.problem or "no result",
        result.kit_version[:12] if result else "",
        one.attempt.short_digest,
        "counts" if counts else "",
    )


def print_trail(console: Console, lines: Iterable[Line]) -> None:
    rows = [(shown_time(o.time), o.author, o.kind, o.assignment, o.student, o.what) for o in lines]
    print_table(console, ("time", "author", "what", "assignment", "student", "change"), rows)
