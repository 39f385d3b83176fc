"""`autograder grade`: a folder of submissions to one record per student, each written as it comes.

A record that is already there counts as done when it is of the same file and the same kit, so a run that was stopped at
any moment continues, and a second run grades only what changed. See docs/grading.md.
"""

from __future__ import annotations

import hashlib
import os
import signal
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from autograder import record as rec
from autograder.errors import AutograderError, UsageError
from autograder.isolation import Isolation
from autograder.kit_version import kit_version
from autograder.manifest import Assignment
from autograder.outfolder import OutFolder
from autograder.pool import Setup, Task, grade_many
from autograder.running import find_module, read_module

MAX_NAME_BYTES = 200
"""Of a student's folder, so that the record's file has a name too."""

if TYPE_CHECKING:
    from rich.console import Console


class Stop:
    """Ctrl-C and SIGTERM as a flag, looked at between two messages, so that nothing is cut in half."""

    def __init__(self) -> None:
        self.signal = 0
        self._before: dict[int, Any] = {}

    def __call__(self) -> bool:
        return self.signal != 0

    def __enter__(self) -> Stop:
        for number in (signal.SIGINT, signal.SIGTERM):
            if signal.getsignal(number) is not signal.SIG_IGN:
                self._before[number] = signal.signal(number, self._note)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _note(self, number: int, frame: FrameType | None) -> None:
        self.signal = number


@dataclass
class Summary:
    """What a batch has done."""

    graded: list[rec.Record] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)
    odd: dict[str, str] = field(default_factory=dict)
    """Students whose folder holds nothing that could be graded, and why: no record, never a zero."""
    due: int = 0
    signal: int = 0
    """What stopped it before its end."""

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


@dataclass(frozen=True)
class Options:
    """How a class is graded."""

    jobs: int | None = None
    """Worker processes of this machine; None: one per processor that this process may use."""
    scheduler: str | None = None
    """Address of a Dask scheduler, whose workers grade instead of this machine."""
    isolation: Isolation = Isolation.AUTO
    students: Sequence[str] = ()
    force: bool = False


class Batch:
    """One class, one assignment."""

    def __init__(self, assignment: Assignment, submissions: Path, out: Path, options: Options) -> None:
        if not submissions.is_dir():
            raise UsageError(f"{submissions} is no folder; it must hold a folder per student with {assignment.module}")
        self._assignment, self._submissions, self._options = assignment, submissions, options
        self._out = OutFolder(out)
        self._kit = kit_version(assignment)

    def run(self, console: Console) -> Summary:
        """Grade what is due and say what came out."""
        from autograder.render.batch import print_summary

        summary = Summary()
        with self._out.locked():
            tasks = list(self._due(summary))
            summary.due = len(tasks)
            with Stop() as stop:
                self._grade(tasks, summary, console, stop)
            if len(summary.graded) < summary.due:
                summary.signal = stop.signal
            print_summary(console, summary, self._out, self._assignment.id)
            if not summary.signal:
                self._out.forget_earlier()
        return summary

    def _grade(self, tasks: Sequence[Task], summary: Summary, console: Console, stop: Stop) -> None:
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[rate]}"),
            TimeRemainingColumn(),
        )
        with (
            Progress(*columns, console=console, disable=not console.is_terminal) as progress,
            closing(self._records(tasks, stop, lambda text: console.print(text, markup=False))) as records,
        ):
            bar = progress.add_task(self._assignment.id, total=len(tasks), rate="")
            for record in records:
                self._out.write(record)
                summary.graded.append(record)
                speed = progress.tasks[0].speed
                progress.update(bar, advance=1, rate=f"{60 * speed:.0f}/min" if speed else "")

    def _records(
        self, tasks: Sequence[Task], stop: Stop, say: Callable[[str], None]
    ) -> Generator[rec.Record, None, None]:
        if not tasks:
            return
        options, assignment = self._options, self._assignment
        trusted = options.isolation is Isolation.PROCESS
        setup = Setup(assignment.course.root, assignment.id, isolation=options.isolation, allow_process=trusted)
        if options.scheduler is not None:
            from autograder.cluster import grade_on_cluster

            yield from grade_on_cluster(setup, tasks, address=options.scheduler, say=say, stop=stop)
        else:
            yield from grade_many(setup, tasks, jobs=options.jobs or _processors(), stop=stop)

    def _due(self, summary: Summary) -> Iterator[Task]:
        folders = sorted(
            path for path in self._submissions.iterdir() if path.is_dir() and not path.name.startswith(".")
        )
        unknown = sorted(set(self._options.students) - {folder.name for folder in folders})
        if unknown:
            raise UsageError(f"{self._submissions} has no folder {', '.join(unknown)}")
        for folder in folders:
            if self._options.students and folder.name not in self._options.students:
                continue
            try:
                data = read_module(_own_module(self._assignment, folder))
            except AutograderError as error:
                shown = folder.name.encode("utf-8", "backslashreplace").decode()
                summary.odd[shown] = str(error)
                continue
            if not self._options.force and self._is_done(folder.name, data):
                summary.unchanged.append(folder.name)
            else:
                yield Task(folder.name, data)

    def _is_done(self, student: str, data: bytes) -> bool:
        record = self._out.read(student)
        if record is None:
            return False
        same_file = record.submission.files.get(self._assignment.module) == hashlib.sha256(data).hexdigest()
        same_inputs = (record.environment.secret == "course") == (self._assignment.course.secret() is not None)
        return same_file and same_inputs and record.kit_version == self._kit and record.score is not None


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
