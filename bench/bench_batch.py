"""Throughput of a class: submissions per minute, the share of bare computation in it, this machine against Dask on it.

Usage: python bench/bench_batch.py [hwN] [--submissions 40] [--seats 2] [--rounds 2]

The class is the right programs of the corpus in turn. Bare computation is the same checks on the same modules in plain
Python processes, as many at once as there are seats, without isolation and with local devices. Rates are of the steady
state, from the first record on; the start is a row of its own. Bare, local and Dask take turns, so that other load on
the machine meets all of them; compare within one run only. How busy the seats are (time in grading over time there)
hardly depends on other load.
"""

from __future__ import annotations

import argparse
import contextlib
import datetime as dt
import io
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from autograder import record as rec
from autograder.cluster import grade_on_cluster
from autograder.manifest import Assignment, find_course, load_corpus
from autograder.pool import Setup, Task, grade_many

ROOT = Path(__file__).parent.parent
CLASS = 10_000


@dataclass
class Measured:
    """One run: seconds until the first record, records per second from then on, and this process's part in it."""

    start: float
    rate: float
    cpu: float
    """Seconds of this process's CPU time per record: what only it can do, however many machines help."""
    size: float
    """Bytes of a record."""
    busy: float
    """Share of the seats' time, from the first submission's begin to the last one's end, that went into grading."""


def programs(assignment: Assignment, count: int) -> list[Task]:
    right = [variant.source.encode() for variant in load_corpus(assignment) if variant.group == "right"]
    return [Task(f"s{n:05d}", right[n % len(right)]) for n in range(count)]


def measured(records: Iterator[rec.Record], seats: int) -> Measured:
    begun, cpu = time.perf_counter(), time.process_time()
    times, sizes, spans = [], [], []
    for record in records:
        times.append(time.perf_counter() - begun)
        sizes.append(len(rec.encode(record)))
        spans.append([dt.datetime.fromisoformat(text).timestamp() for text in (record.started, record.finished)])
        assert record.score == record.max_score, f"{record.submission.id} has {record.score}"
    rate = (len(times) - seats) / (times[-1] - times[seats - 1])
    there = seats * (max(end for _, end in spans) - min(start for start, _ in spans))
    busy = sum(end - start for start, end in spans) / there
    return Measured(times[0], rate, (time.process_time() - cpu) / len(times), statistics.mean(sizes), busy)


def bare_rate(assignment: Assignment, tasks: Sequence[Task], seats: int) -> float:
    """Submissions per second of plain processes, each with its share of the class."""
    with tempfile.TemporaryDirectory() as folder:
        for task in tasks:
            (Path(folder) / f"{task.name}.py").write_bytes(task.data)
        command = [sys.executable, __file__, assignment.id, "--bare", folder, "--seats", str(seats), "--seat"]
        seat = [subprocess.Popen([*command, str(n)], stdout=subprocess.PIPE, cwd=ROOT) for n in range(seats)]
        return sum(json.loads(process.communicate()[0]) for process in seat)


def bare_seat(assignment: Assignment, folder: Path, seats: int, seat: int) -> float:
    """Submissions per second of this process, counting only the checks themselves."""
    import pytest
    from bench_engine import _Durations

    from autograder.checks.collected import arguments
    from autograder.debug import LocalPlugin, LocalState, LocalSubmission
    from autograder.state import import_file

    paths = [path for path in (assignment.public_checks, assignment.hidden_checks) if path is not None]
    durations, files = _Durations(), sorted(folder.glob("*.py"))[seat::seats]
    for number, file in enumerate([files[0], *files]):
        if number == 1:  # the first one warms up
            durations.seconds = 0.0
        driver = None if assignment.driver_path is None else import_file("_driver", assignment.driver_path)
        module = import_file(assignment.module.removesuffix(".py"), file)
        if driver is not None:
            driver.student = module  # type: ignore[attr-defined]
        state = LocalState(assignment, LocalSubmission(module, driver, file))
        with contextlib.redirect_stdout(io.StringIO()):
            pytest.main(arguments(ROOT, paths, None), plugins=[LocalPlugin(state, None), durations])
    return len(files) / durations.seconds


@contextlib.contextmanager
def dask_cluster(seats: int) -> Iterator[str]:
    """A scheduler and workers with one seat each, started as one would on other machines; the scheduler's file."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "scheduler.json"
        common = ["--no-dashboard", "--scheduler-file", str(file)]
        scheduler = ["scheduler", "--host", "127.0.0.1", "--port", "0"]
        worker = ["worker", "--nthreads", "1", "--nworkers", str(seats), "--local-directory", folder]
        processes = []
        try:
            for part in (scheduler, worker):
                command = [sys.executable, "-m", "dask", *part, *common]
                processes.append(subprocess.Popen(command, cwd=ROOT, stderr=subprocess.DEVNULL))
                while not file.exists():
                    time.sleep(0.05)
            yield str(file)
        finally:
            for process in reversed(processes):
                process.terminate()
                process.wait()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("assignment", nargs="?", default="hw1")
    parser.add_argument("--submissions", type=int, default=40)
    parser.add_argument("--seats", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--bare", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--seat", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    assignment = find_course(ROOT).assignment(options.assignment)
    if options.bare is not None:
        print(bare_seat(assignment, options.bare, options.seats, options.seat))
        return
    tasks, seats = programs(assignment, options.submissions), options.seats
    setup = Setup(ROOT, assignment.id)
    bare, local, dask = [], [], []
    with dask_cluster(seats) as address:
        for _ in range(options.rounds):
            bare.append(bare_rate(assignment, tasks, seats))
            local.append(measured(grade_many(setup, tasks, jobs=seats), seats))
            records = grade_on_cluster(setup, tasks, address=address, say=lambda _: None, stop=lambda: False)
            dask.append(measured(records, seats))
    Console(width=120).print(_table(assignment, tasks, seats, bare, local, dask))


def _table(
    assignment: Assignment,
    tasks: Sequence[Task],
    seats: int,
    bare: list[float],
    local: list[Measured],
    dask: list[Measured],
) -> Table:
    title = f"{assignment.id}, {len(tasks)} submissions, {seats} at a time, medians of {len(bare)} rounds"
    table = Table(title=title)
    for heading in ("what", "value", "of"):
        table.add_column(heading)

    def middle(value: Callable[[int], float]) -> float:
        return statistics.median(map(value, range(len(bare))))

    share = middle(lambda n: local[n].rate / bare[n])
    ratio = middle(lambda n: dask[n].rate / local[n].rate)
    source = statistics.mean(len(task.data) for task in tasks)
    start, client = middle(lambda n: dask[n].start), middle(lambda n: dask[n].cpu)
    seconds = seats / middle(lambda n: dask[n].rate)
    rows = [
        ("bare computation", f"{60 * statistics.median(bare):.0f}/min", "the checks in plain processes, no start"),
        ("graded on this machine", f"{60 * middle(lambda n: local[n].rate):.0f}/min", "steady state"),
        ("share of bare computation", f"{share:.0%}", "the rest: isolation, wire, counting, records"),
        ("graded by Dask on this machine", f"{60 * middle(lambda n: dask[n].rate):.0f}/min", "steady state"),
        ("Dask / local", f"{ratio:.2f}", "rates of the same round"),
        (
            "seats busy, local",
            f"{middle(lambda n: local[n].busy):.0%}",
            "the rest: waiting for the next one",
        ),
        ("seats busy, Dask", f"{middle(lambda n: dask[n].busy):.0%}", "and the way there and back"),
        ("first record, local", f"{middle(lambda n: local[n].start):.1f} s", "start of the workers"),
        ("first record, Dask", f"{start:.1f} s", "connection, proof, start of the workers"),
        ("this process's CPU per record", f"{1e3 * client:.1f} ms", "Dask; bounds any number of machines"),
        ("travels per submission", f"{(source + dask[0].size) / 1024:.0f} KiB", "its source and its record"),
    ]
    for machines in (1, 10, 50):
        took = start + CLASS * max(seconds / (machines * seats), client)
        rows.append((f"estimate: {CLASS} submissions", f"{took / 60:.1f} min", f"{machines} machines like this one"))
    for row in rows:
        table.add_row(*row)
    return table


if __name__ == "__main__":
    main()
