"""Which grade belongs to which row. Nothing is guessed: whatever is not one to one is ambiguous."""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from autograder.lms.grades import Identity
from autograder.lms.options import Options
from autograder.lms.rawcsv import Row
from autograder.lms.template import Key, Template, folded


@dataclass
class Matches:
    """Indices into the rows and the students."""

    pairs: dict[int, int] = field(default_factory=dict)
    """Student to row."""
    how: dict[int, str] = field(default_factory=dict)
    """For a student who was not found by an equal key: how."""
    ambiguous: list[tuple[list[int], list[int]]] = field(default_factory=list)
    """Students and rows that point at each other, but not one to one."""


def same_name(text: str) -> str:
    """For comparison: NFC, case folded, single spaces, "Last, First" turned round; letters of every script stay."""
    family, comma, given = text.partition(",")
    whole = f"{given} {family}" if comma and "," not in given else text
    return unicodedata.normalize("NFC", folded(unicodedata.normalize("NFC", whole)))


def match(template: Template, students: Sequence[Identity], options: Options) -> Matches:
    edges: dict[int, set[int]] = defaultdict(set)
    result = Matches()
    for key in template.keys:
        _by_key(key, template.students, students, edges)
    if options.ignore_leading_zeros:
        for key in template.keys:
            _by_stripped_key(key, template.students, students, edges, result.how)
    if options.match_names or (not any(edges.values()) and not _comparable(template, students)):
        _by_name(template, students, edges, result.how)
    _components(edges, result)
    return result


def _value(key: Key, student: Identity) -> str:
    return next((text for name in key.fields if (text := getattr(student, name).strip())), "")


def _comparable(template: Template, students: Sequence[Identity]) -> bool:
    """Whether keys could have matched at all: some row and some student have a value for the same key."""
    return any(
        any(key.clean(row.value(key.column)) for row in template.students) and any(_value(key, s) for s in students)
        for key in template.keys
    )


def _index(rows: Sequence[Row], text: Callable[[Row], str]) -> dict[str, list[int]]:
    index: dict[str, list[int]] = defaultdict(list)
    for number, row in enumerate(rows):
        if value := text(row):
            index[value].append(number)
    return index


def _by_key(key: Key, rows: Sequence[Row], students: Sequence[Identity], edges: dict[int, set[int]]) -> None:
    exact = _index(rows, lambda row: key.clean(row.value(key.column)))
    loose = _index(rows, lambda row: key.clean(row.value(key.column)).casefold()) if key.fold else {}
    for number, student in enumerate(students):
        value = _value(key, student)
        edges[number].update(exact.get(value) or loose.get(value.casefold()) or ())


def _by_stripped_key(key: Key, rows: Sequence[Row], students: Sequence[Identity], edges: dict[int, set[int]],
                     how: dict[int, str]) -> None:  # fmt: skip
    """Digits without leading zeros, for those whom no equal key found; two students or rows alike stay ambiguous."""

    def bare(text: str) -> str:
        return text.lstrip("0") if text.isdecimal() else ""

    index = _index(rows, lambda row: bare(key.clean(row.value(key.column))))
    for number, student in enumerate(students):
        found = index.get(bare(_value(key, student)), [])
        if found and (not edges[number] or number in how):
            edges[number].update(found)
            how[number] = f"matched by {key.title} without leading zeros"


def _by_name(template: Template, students: Sequence[Identity], edges: dict[int, set[int]], how: dict[int, str]) -> None:
    taken = set().union(*edges.values()) if edges else set()
    index = _index(template.students, lambda row: same_name(template.name(row)))
    for number, student in enumerate(students):
        if edges[number]:
            continue
        names = {same_name(student.name), same_name(f"{student.given} {student.family}")} - {""}
        found = {row for name in names for row in index.get(name, ()) if row not in taken}
        if found:
            edges[number].update(found)
            how[number] = "matched by name"


def _components(edges: dict[int, set[int]], result: Matches) -> None:
    """Connected students and rows; exactly one of each is a pair, everything else is ambiguous."""
    holders: dict[int, set[int]] = defaultdict(set)
    for student, rows in edges.items():
        for row in rows:
            holders[row].add(student)
    seen: set[int] = set()
    for first in sorted(edges):
        if first in seen or not edges[first]:
            continue
        students, rows, queue = {first}, set[int](), [first]
        while queue:
            for row in edges[queue.pop()] - rows:
                rows.add(row)
                queue.extend(holders[row] - students)
                students |= holders[row]
        seen |= students
        if len(students) == len(rows) == 1:
            result.pairs[first] = rows.pop()
        else:
            result.ambiguous.append((sorted(students), sorted(rows)))
