"""A download to a folder per student: whose each hand-in is, which one is the newest, what goes where."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from autograder.collect import Layout
from autograder.collect import record as rec
from autograder.collect.archives import list_archive_at
from autograder.collect.files import Listing, Problem, Refused, list_folder
from autograder.collect.hands import Claim, Hand, Reading
from autograder.collect.layouts import Context, read_layout
from autograder.collect.pick import Pick, Picker
from autograder.collect.placing import Placing, State
from autograder.collect.roster import Roster, Student, load_roster
from autograder.collect.store import Store, write
from autograder.collect.text import folder_name, normal, shown
from autograder.errors import UsageError
from autograder.manifest import Assignment


@dataclass(frozen=True)
class Order:
    """What was asked for."""

    assignment: Assignment
    source: Path
    out: Path
    roster: Path | None = None
    layout: Layout = Layout.AUTO
    dry_run: bool = False


@dataclass
class Report:
    """What a run did."""

    layout: str
    hands: int
    states: dict[str, State] = field(default_factory=dict)
    students: dict[str, rec.Collected] = field(default_factory=dict)
    unplaced: list[rec.Unplaced] = field(default_factory=list)
    missing: list[str] | None = None
    """None without a roster."""

    @property
    def is_clear(self) -> bool:
        """Whether nothing needs a person."""
        return not self.unplaced and not any(student.odd for student in self.students.values())


def run_order(order: Order) -> Report:
    """Read the source, write the students' folders and the record.

    Raises:
        UsageError: the source, the roster or what lies in the output folder cannot be used.
    """
    roster = load_roster(order.roster) if order.roster else None
    collection = rec.load(order.out, order.assignment.id, order.assignment.module)
    listing = _open(order.source)
    assignments = frozenset(order.assignment.course.assignments)
    context = Context(order.assignment.id, order.assignment.module, assignments, roster)
    reading = read_layout(listing, context, order.layout)
    return _Run(order, roster, collection, reading).run()


def _open(source: Path) -> Listing:
    if not source.is_dir() and not source.is_file():
        raise UsageError(f"{source} does not exist; name the download: a folder, a zip or a tar")
    try:
        listing = list_folder(source) if source.is_dir() else list_archive_at(source)
    except Refused as error:
        raise UsageError(f"{source}: {error.problem.fact}; the source must be a folder, a zip or a tar") from None
    except OSError as error:
        raise UsageError(f"{source} cannot be read: {error.strerror}; see its permissions") from None
    return listing


class _Run:
    def __init__(self, order: Order, roster: Roster | None, collection: rec.Collection, reading: Reading) -> None:
        self._order, self._roster, self._collection, self._reading = order, roster, collection, reading
        self._picker = Picker(order.assignment)
        self._report = Report(reading.layout, len(reading.hands))
        self._owned: dict[str, list[Hand]] = defaultdict(list)
        self._claims: dict[str, list[Claim]] = defaultdict(list)

    def run(self) -> Report:
        for entry, problem in self._reading.unplaced:
            self._put_aside(entry, problem)
        for hand in self._reading.hands:
            self._assign(hand)
        if self._roster is None:
            self._reject_lookalikes()
        self._reject_namesakes()
        for id in sorted(self._owned):
            self._collect(id, self._owned[id])
        self._save()
        return self._report

    def _put_aside(self, entry: str, problem: Problem) -> None:
        self._report.unplaced.append(rec.Unplaced(entry, problem.fact, problem.remedy))

    def _assign(self, hand: Hand) -> None:
        """Give a hand-in to whom it belongs, when that is certain."""
        for claim in hand.claims:
            found = self._owners(claim)
            if isinstance(found, Problem):
                entry = ", ".join(shown(entry) for entry in hand.entries[:3])
                what = f"{shown(claim.shown)} {found.fact}" if claim.shown not in hand.entries else found.fact
                self._put_aside(entry, Problem(what, found.remedy))
            else:
                hand.owners += [student.id for student in found if student.id not in hand.owners]
                for student in found:
                    self._claims[student.id].append(claim)
        for id in hand.owners:
            self._owned[id].append(hand)

    def _owners(self, claim: Claim) -> list[Student] | Problem:
        found = self._roster.find(claim) if self._roster is not None else [Student(claim.key)]
        try:
            for student in found if isinstance(found, list) else ():
                folder_name(student.id)
                student.id.encode()
        except UnicodeError:
            return Problem("has a name that is not UTF-8", "rename it")
        except ValueError as error:
            return Problem(f"has an id that is {error}", "give the roster a shorter one")
        return found

    def _reject_lookalikes(self) -> None:
        """Without a roster, ids that differ in case or normal form only may or may not be one student."""
        alike: dict[str, list[str]] = defaultdict(list)
        for id in self._owned:
            alike[normal(id)].append(id)
        for ids in alike.values():
            if len(ids) > 1:
                for id in sorted(ids):
                    others = ", ".join(shown(other) for other in sorted(ids) if other != id)
                    problem = Problem(f"differs from {others} in spelling only", "say with a roster who is who")
                    self._disown(id, problem)

    def _reject_namesakes(self) -> None:
        """People whom the platform tells apart by a number may share the name by which one student was found."""
        for id in list(self._owned):
            columns: dict[str, set[str]] = defaultdict(set)
            for column, value in (pair for claim in self._claims[id] for pair in claim.ids):
                columns[column].add(normal(value))
            differing = [column for column, values in columns.items() if len(values) > 1]
            if differing:
                fact = f"fits {shown(id)}, and so does another one with another {differing[0]}"
                self._disown(id, Problem(fact, f"give the roster the column {differing[0]}"))

    def _disown(self, id: str, problem: Problem) -> None:
        """List a student's hand-ins one by one instead of collecting them."""
        for hand in self._owned.pop(id):
            self._put_aside(", ".join(shown(entry) for entry in hand.entries[:3]), problem)

    def _collect(self, id: str, hands: list[Hand]) -> None:
        folder = folder_name(id)
        hands, picks = self._sorted(hands)
        newest, pick = hands[-1], picks[-1]
        student = rec.Collected(
            folder,
            self._reading.layout,
            entries=[shown(entry) for entry in newest.entries],
            module_entry=pick.entry,
            source=_fingerprint(hands, picks),
            late=newest.late,
            submitted=newest.submitted,
            attempt=newest.attempt,
            order=list(newest.order) if newest.order is not None else None,
            group=sorted(set(newest.owners) - {id}),
            notes=[*newest.notes, *pick.notes],
            odd=[rec.Oddity(problem.fact, problem.remedy) for problem in (*newest.odd, *pick.odd)],
        )
        store = Store(self._order.out / folder, self._order.assignment.module, dry=self._order.dry_run)
        placing = Placing(store, self._collection.students.get(id), student)
        for hand, older in zip(hands[:-1], picks[:-1], strict=True):
            placing.keep(older, [shown(entry) for entry in hand.entries], hand.submitted, hand.attempt)
        self._report.states[id] = placing.place(pick)
        self._report.students[id] = self._collection.students[id] = placing.student

    def _sorted(self, hands: list[Hand]) -> tuple[list[Hand], list[Pick]]:
        """Oldest first. When the layout does not tell the order, hand-ins that differ leave nothing to choose."""
        orders = [hand.order for hand in hands]
        ordered = all(order is not None for order in orders) and len(set(orders)) == len(orders)
        if ordered:
            hands = sorted(hands, key=lambda hand: hand.order or ())
        picks = [self._picker.pick(hand.files) for hand in hands]
        if ordered or len(hands) == 1:
            return hands, picks
        digests = {pick.sha256 for pick in picks}
        if len(digests) == 1 and None not in digests:
            return hands[-1:], picks[-1:]
        what = ", ".join(shown(entry) for hand in hands for entry in hand.entries[:2])
        odd = Problem(f"{len(hands)} hand-ins, and it cannot be told which is the newest: {what}",
                      "see on the platform, and put the right one there by hand")  # fmt: skip
        whole = Hand(hands[0].claims, [file for hand in hands for file in hand.files],
                     [entry for hand in hands for entry in hand.entries])  # fmt: skip
        return [whole], [Pick(odd=[odd])]

    def _save(self) -> None:
        report, collection = self._report, self._collection
        if self._roster is not None:
            report.missing = [student.id for student in self._roster.students if student.id not in collection.students]
        collection.layout, collection.source = self._reading.layout, shown(self._order.source.name)
        collection.unplaced, collection.missing = report.unplaced, report.missing or []
        if not self._order.dry_run:
            write(self._order.out / rec.FILE, rec.encode(collection))


def _fingerprint(hands: list[Hand], picks: list[Pick]) -> str:
    files = sorted(("/".join(file.path), file.size) for hand in hands for file in hand.files)
    text = json.dumps([files, [pick.sha256 for pick in picks]])
    return hashlib.sha256(text.encode()).hexdigest()
