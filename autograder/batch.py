"""`autograder grade`: a folder of submissions to one record per student, each written as it comes.

A record that is already there counts as done when it is of the same file and the same kit, so a run that was stopped at
any moment continues, and a second run grades only what changed.
"""

from __future__ import annotations

import hashlib
import os
import statistics
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from autograder import record as rec
from autograder.errors import AutograderError, UsageError
from autograder.isolation import Isolation
from autograder.kit_version import kit_version
from autograder.manifest import Assignment
from autograder.pool import Setup, Task, grade_many
from autograder.running import find_module, read_module

MAX_NAME_BYTES = 200
"""Of a student's folder, so that the record's file has a name too."""

if TYPE_CHECKING:
    from rich.console import Console


@dataclass
class Summary:
    """What a batch has done."""

    graded: list[rec.Record] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)
    odd: dict[str, str] = field(default_factory=dict)
    """Students whose folder holds nothing that could be graded, and why: no record, never a zero."""

    @property
    def faults(self) -> list[str]:
        return [record.submission.id for record in self.graded if record.score is None]


def _own_module(assignment: Assignment, folder: Path) -> Path:
    """The hand-in in a student's folder: never through a link, which could lead to the solution or the secret."""
    name = folder.name
    if any(0xD800 <= ord(char) <= 0xDFFF for char in name) or len(name.encode()) > MAX_NAME_BYTES:
        raise UsageError("the folder's name is not UTF-8, or too long for a file name; rename the folder")
    if not name.isprintable():
        raise UsageError("the folder's name has control characters; rename the folder")
    path = find_module(assignment, folder)
    inside = path.relative_to(folder).parts
    if any(part.is_symlink() for part in (folder, *(folder.joinpath(*inside[:n]) for n in range(1, len(inside) + 1)))):
        raise UsageError(
            f"{assignment.module} is reached through a link, which is not followed; put the file itself there"
        )
    return path


class Batch:
    """One class, one assignment."""

    def __init__(
        self,
        assignment: Assignment,
        submissions: Path,
        out: Path,
        *,
        jobs: int | None = None,
        isolation: Isolation = Isolation.AUTO,
        students: Sequence[str] = (),
        force: bool = False,
    ) -> None:
        if not submissions.is_dir():
            raise UsageError(f"{submissions} is no folder; it must hold a folder per student with {assignment.module}")
        self._assignment, self._submissions, self._out = assignment, submissions, out
        self._jobs = jobs or os.cpu_count() or 1
        self._isolation, self._students, self._force = isolation, students, force
        self._kit = kit_version(assignment)

    def _prepare(self) -> None:
        """The output folder, before anything is graded."""
        try:
            self._out.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise UsageError(
                f"{self._out} cannot be the output folder: {error.strerror}; choose another --out"
            ) from None

    def run(self, console: Console) -> list[str]:
        """Grade what is due; returns the students for whom the grader itself failed."""
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        summary = Summary()
        self._prepare()
        tasks = list(self._due(summary))
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[rate]}"),
            TimeRemainingColumn(),
        )
        with Progress(*columns, console=console, disable=not console.is_terminal) as progress:
            bar = progress.add_task(self._assignment.id, total=len(tasks), rate="")
            for record in self._grade(tasks):
                self._write(record)
                summary.graded.append(record)
                speed = progress.tasks[0].speed
                progress.update(bar, advance=1, rate=f"{60 * speed:.0f}/min" if speed else "")
        self._print(console, summary)
        return summary.faults

    def _due(self, summary: Summary) -> Iterator[Task]:
        folders = sorted(
            path for path in self._submissions.iterdir() if path.is_dir() and not path.name.startswith(".")
        )
        unknown = sorted(set(self._students) - {folder.name for folder in folders})
        if unknown:
            raise UsageError(f"{self._submissions} has no folder {', '.join(unknown)}")
        for folder in folders:
            if self._students and folder.name not in self._students:
                continue
            try:
                data = read_module(_own_module(self._assignment, folder))
            except AutograderError as error:
                shown = folder.name.encode("utf-8", "backslashreplace").decode()
                summary.odd[shown] = str(error)
                continue
            if not self._force and self._is_done(folder.name, data):
                summary.unchanged.append(folder.name)
            else:
                yield Task(folder.name, data)

    def _is_done(self, student: str, data: bytes) -> bool:
        path = self._path(student)
        if not path.is_file():
            return False
        try:
            record = rec.decode(path.read_bytes())
        except ValueError:  # of another version, or damaged: graded again
            return False
        same_file = record.submission.files.get(self._assignment.module) == hashlib.sha256(data).hexdigest()
        return same_file and record.kit_version == self._kit and record.score is not None

    def _grade(self, tasks: Sequence[Task]) -> Iterable[rec.Record]:
        if not tasks:
            return []
        setup = Setup(self._assignment.course.root, self._assignment.id, isolation=self._isolation,
                      allow_process=self._isolation is Isolation.PROCESS)  # fmt: skip
        return grade_many(setup, tasks, jobs=self._jobs)

    def _path(self, student: str) -> Path:
        return self._out / f"{student}.json"

    def _write(self, record: rec.Record) -> None:
        """Atomically, readable by its owner only: whoever kills us leaves whole records."""
        path = self._path(record.submission.id)
        temporary = path.with_name(f".{path.name}.{os.getpid()}")
        try:
            descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                file.write(rec.encode(record))
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, path)
        except OSError as error:
            temporary.unlink(missing_ok=True)
            raise UsageError(
                f"{path} cannot be written: {error.strerror}; records written so far are complete"
            ) from None

    def _print(self, console: Console, summary: Summary) -> None:
        from autograder.render.terminal import number

        scores = [record.score for record in summary.graded if record.score is not None]
        console.print(
            f"graded {len(summary.graded)}, unchanged {len(summary.unchanged)}, nothing to grade {len(summary.odd)}, "
            f"grader errors {len(summary.faults)}"
        )
        if scores:
            lowest, middle, highest = (number(f(scores)) for f in (min, statistics.median, max))
            console.print(f"scores: lowest {lowest}, median {middle}, highest {highest}")
        for student, why in summary.odd.items():
            console.print(f"  {student}: {why}", markup=False, soft_wrap=True)
        for student in summary.faults:
            console.print(
                f"  {student}: grader error, not a grade; see {self._path(student)}", style="magenta", markup=False
            )
        console.print(f"records: {self._out}", markup=False)
