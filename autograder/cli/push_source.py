"""Where the grades of a push come from: the gradebook where there is one, else records and a roster."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from autograder.cli.common import assignment
from autograder.cli.opening import gradebook_place, in_course, opened, require_grades
from autograder.errors import UsageError

if TYPE_CHECKING:
    from autograder.gradebook.database import Database
    from autograder.lms.grades import Identity
    from autograder.lms.options import Options
    from autograder.lms.push.running import Pushed
    from autograder.lms.records import Collected


@dataclass(frozen=True)
class Source:
    """`roster` is the file that was read, or lies at its usual place; `database` is None without a gradebook."""

    name: str
    label: str
    collected: Collected
    roster: Path | None
    database: Database | None = None

    @property
    def people(self) -> list[Identity]:
        return [grade.student for grade in self.collected.grades]

    def log(self, pushed: Pushed, target: str, where: str, options: Options, author: str | None) -> None:
        """Into the gradebook's log of exports: what the LMS has now of whom, and what did not get there."""
        if self.database is None or pushed.plan is None or pushed.delivery is None:
            return
        from autograder.gradebook.changes import author_of
        from autograder.gradebook.exporting import log_export
        from autograder.lms.push.running import digest

        lost = {failure.key: failure.why for failure in pushed.delivery.failures}
        entries = [
            replace(entry, status="refused", becomes="", reason=lost[entry.row]) if entry.row in lost else entry
            for entry in pushed.plan.report.entries
        ]
        log_export(self.database, self.name, self.collected.grades, target=target, file=where,
                   sha256=digest(pushed.plan), author=author_of(author).name, entries=entries,
                   options=options.switches())  # fmt: skip


def open_source(
    stack: ExitStack, name: str, records: Path | None, roster: Path | None, db: str | None, *, feedback: bool
) -> Source:
    """The grades; a gradebook stays open as long as `stack`. Raises UsageError for whatever cannot be read."""
    place = gradebook_place(db) if records is None else None
    if place is None:
        return _from_records(name, records, _roster(roster), feedback=feedback)
    from autograder.gradebook.exporting import collect_for_export

    chosen = assignment(name).id
    database = stack.enter_context(opened(place))
    collected = collect_for_export(database, chosen, feedback=feedback)
    require_grades(database, name, collected)
    return Source(chosen, f"gradebook {database.label}", collected, _roster(roster), database)


def _from_records(name: str, records: Path | None, roster: Path | None, *, feedback: bool) -> Source:
    from autograder.lms.records import collect_grades
    from autograder.lms.roster import read_roster

    folder = records or in_course("grades", name) or Path("grades", name)
    if not folder.is_dir():
        raise UsageError(f"{folder} is no folder of records", "grade first, or give --records")
    collected = collect_grades(folder, read_roster(roster) if roster else [], name, feedback=feedback)
    # a record says when it was graded, which is no time of a hand-in
    collected.grades = [replace(grade, submitted="") for grade in collected.grades]
    return Source(name, f"records {folder}, roster {roster or 'none'}", collected, roster)


def _roster(given: Path | None) -> Path | None:
    usual = in_course("roster.csv")
    return given or (usual if usual is not None and usual.is_file() else None)
