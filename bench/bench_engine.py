"""The grader's cost over the bare work: cold start, overhead per submission, memory per child; ratios of one run.

Usage: python bench/bench_engine.py [hwN ...] [--submissions 20]

Bare work is the same checks on the same solution in one plain process, without isolation and with local devices.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from rich.table import Table

from autograder.checks.collected import arguments
from autograder.debug import LocalPlugin, LocalState, LocalSubmission
from autograder.isolation import Limits, WarmParent
from autograder.manifest import Assignment, find_course
from autograder.session import Session, run_session
from autograder.state import import_file

ROOT = Path(__file__).parent.parent


class _Durations:
    """Sums what pytest measured of the checks' own calls."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.seconds += report.duration


def bare_seconds(assignment: Assignment) -> float:
    """All checks on the solution in this process."""
    assert assignment.solution_path is not None
    driver = None if assignment.driver_path is None else import_file("_driver", assignment.driver_path)
    module = import_file(assignment.solution_path.stem, assignment.solution_path)
    if driver is not None:
        driver.student = module  # type: ignore[attr-defined]
    state = LocalState(assignment, LocalSubmission(module, driver, assignment.solution_path))
    durations = _Durations()
    paths = [path for path in (assignment.public_checks, assignment.hidden_checks) if path is not None]
    with contextlib.redirect_stdout(io.StringIO()):
        pytest.main(arguments(ROOT, paths, None), plugins=[LocalPlugin(state, None), durations])
    return durations.seconds


def graded_seconds(assignment: Assignment, count: int) -> list[float]:
    """Wall time of each of `count` submissions in one session with a warm parent."""
    assert assignment.solution_path is not None
    data, times = assignment.solution_path.read_bytes(), []

    def body(session: Session) -> None:
        session.grade("warm-up", data)
        for number in range(count):
            begun = time.perf_counter()
            record = session.grade(f"s{number}", data)
            times.append(time.perf_counter() - begun)
            assert record.score == record.max_score

    with WarmParent() as parent:
        run_session(assignment, body, parent=parent)
    return times


def child_memory() -> tuple[float, float]:
    """Private MiB of one more child that has loaded hw1, and of the warm parent's shared pages it uses."""
    from autograder.budget import Budget
    from autograder.state import source_of
    from autograder.submission import Context

    assignment = find_course(ROOT).assignment("hw1")
    assert assignment.solution_path is not None
    with WarmParent() as parent:
        context = Context(parent, source_of(assignment, assignment.solution_path.read_bytes()))
        context.begin(Budget(30.0, 1 << 20, Limits()), fresh=False)
        pid = context.worker().pid
        rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
        context.close()
    fields = {line.split(":")[0]: int(line.split()[1]) / 1024 for line in rollup.splitlines()[1:]}
    return fields["Private_Clean"] + fields["Private_Dirty"], fields["Rss"]


def cold_ratio(runs: int) -> tuple[float, list[float]]:
    """`autograder run hw1` from cold over `python -c "import torch"`, in turn."""
    bare = [sys.executable, "-c", "import torch"]
    graded = [sys.executable, "-m", "autograder", "run", "hw1", "solutions/hw1/softmax.py"]
    ratios = []
    for _ in range(runs):
        ratios.append(_seconds(graded) / _seconds(bare))
    return statistics.median(ratios), ratios


def _seconds(command: list[str]) -> float:
    begun = time.perf_counter()
    subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.perf_counter() - begun


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("assignments", nargs="*", default=["hw1"])
    parser.add_argument("--submissions", type=int, default=20)
    parser.add_argument("--cold-runs", type=int, default=5)
    options = parser.parse_args()
    table = Table(title="cost of grading, medians of one run")
    for heading in ("what", "value", "of"):
        table.add_column(heading)
    ratio, ratios = cold_ratio(options.cold_runs)
    table.add_row("cold `run hw1` / `import torch`", f"{ratio:.2f}x", f"{min(ratios):.2f} to {max(ratios):.2f}")
    private, resident = child_memory()
    table.add_row("private memory per child", f"{private:.1f} MiB", f"resident {resident:.0f} MiB")
    for name in options.assignments:
        _assignment_rows(table, find_course(ROOT).assignment(name), options.submissions)
    Console(width=120).print(table)


def _assignment_rows(table: Table, assignment: Assignment, count: int) -> None:
    bare = statistics.median([bare_seconds(assignment) for _ in range(5)])
    graded = graded_seconds(assignment, count)
    middle = statistics.median(graded)
    spread = f"{min(graded) * 1e3:.0f} to {max(graded) * 1e3:.0f} ms over {count} submissions"
    rows: list[tuple[str, str, Any]] = [
        (f"{assignment.id}: graded, per submission", f"{middle * 1e3:.0f} ms", spread),
        (f"{assignment.id}: bare checks and solution", f"{bare * 1e3:.0f} ms", "the same checks in one plain process"),
        (f"{assignment.id}: overhead", f"{(middle - bare) * 1e3:.0f} ms", f"{middle / bare:.2f}x of the bare work"),
    ]
    for row in rows:
        table.add_row(*row)


if __name__ == "__main__":
    main()
