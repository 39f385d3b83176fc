"""What the layouts share: the assignment's id, the roster, names with a common beginning, entries without an owner."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from autograder.collect.files import File, Problem
from autograder.collect.hands import Reading
from autograder.collect.roster import Roster


@dataclass(frozen=True)
class Context:
    """What a layout may look at besides the download."""

    assignment: str
    module: str
    assignments: frozenset[str]
    """All of the course."""
    roster: Roster | None


def put_aside(reading: Reading, entries: Iterable[File], layout: str) -> None:
    """List what does not belong to the layout."""
    for file in entries:
        problem = file.problem or Problem(f"not named as {layout} names hand-ins", "see whether it is one")
        reading.unplaced.append((file.origin, problem))


def without_prefix(names: Iterable[str], separator: str, column: str, context: Context) -> dict[str, str | None]:
    """Each `<assignment><separator><user>` to its user; None where it cannot be told where the user begins.

    The assignment's id decides, else the roster: the one cut of the common beginning under which it knows somebody.
    """
    expected = (context.assignment + separator).casefold()
    result: dict[str, str | None] = {}
    rest = []
    for name in names:
        if name.casefold().startswith(expected) and len(name) > len(expected):
            result[name] = name[len(expected) :]
        else:
            rest.append(name)
    cut = _cut(rest, separator, column, context)
    return result | {name: name[cut:] if cut else None for name in rest}


def _cut(names: list[str], separator: str, column: str, context: Context) -> int:
    if context.roster is None or not names:
        return 0
    first, last = min(names), max(names)
    common = next((place for place, (a, b) in enumerate(zip(first, last)) if a != b), min(len(first), len(last)))
    cuts = [place + 1 for place, char in enumerate(first[:common]) if char == separator]
    known = {cut: sum(context.roster.has(column, name[cut:]) for name in names) for cut in cuts}
    best = max(known.values(), default=0)
    winners = [cut for cut, count in known.items() if count == best]
    return winners[0] if best and len(winners) == 1 else 0
