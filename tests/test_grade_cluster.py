"""A class graded on a Dask cluster of real processes: same records, and a worker that is killed loses nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from grading_support import (
    busy_worker,
    children,
    hand_in,
    is_gone,
    make_course,
    mixed_class,
    records_in,
    start_grading,
    timeless,
    wait_for,
)

pytest.importorskip("distributed")
pytestmark = pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="processes are found through /proc")
Cli = Callable[..., subprocess.CompletedProcess[str]]
STUDENTS = 7


@dataclass
class Cluster:
    """A scheduler, and workers started one by one as their user would."""

    folder: Path
    scheduler_file: Path
    processes: list[subprocess.Popen[bytes]]

    def start(self, *arguments: object, cwd: Path, **environment: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "dask", *map(str, arguments), "--no-dashboard", "--scheduler-file",
                   str(self.scheduler_file)]  # fmt: skip
        with (self.folder / f"log{len(self.processes)}").open("wb") as log:
            process = subprocess.Popen(command, cwd=cwd, stdout=log, stderr=log, env={**os.environ, **environment})
        self.processes.append(process)
        return process

    def worker(self, cwd: Path, *options: str, **environment: str) -> subprocess.Popen[bytes]:
        folder = self.folder / f"worker{len(self.processes)}"
        return self.start("worker", "--nthreads", 1, "--local-directory", folder, *options, cwd=cwd, **environment)


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_course(tmp_path_factory.mktemp("course"))


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    folder = tmp_path_factory.mktemp("dask")
    cluster = Cluster(folder, folder / "scheduler.json", [])
    cluster.start("scheduler", "--host", "127.0.0.1", "--port", "0", cwd=folder)
    wait_for(cluster.scheduler_file.exists, "the scheduler starts")
    yield cluster
    for process in reversed(cluster.processes):
        process.terminate()
    for process in cluster.processes:
        process.wait(30)


@pytest.fixture(scope="module")
def submissions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return hand_in(tmp_path_factory.mktemp("class"), dict(list(mixed_class().items())[:STUDENTS]))


def _dask_worker(nanny: subprocess.Popen[bytes]) -> int | None:
    """The process that a nanny keeps alive."""
    names = ((pid, Path(f"/proc/{pid}/cmdline").read_bytes()) for pid in children(nanny.pid))
    return next((pid for pid, command in names if b"spawn_main" in command), None)


def test_workers_that_prove_nothing_get_nothing(
    course: Path, cluster: Cluster, submissions: Path, cli: Cli, tmp_path: Path
) -> None:
    strangers = [
        cluster.worker(tmp_path, "--no-nanny"),
        cluster.worker(tmp_path, "--no-nanny", AUTOGRADER_COURSE=str(course), AUTOGRADER_SECRET="guessed"),
    ]
    out = tmp_path / "out"
    done = cli("grade", "hw1", submissions, "--out", out, "--scheduler", cluster.scheduler_file, cwd=course)
    for stranger in strangers:
        stranger.terminate()
        stranger.wait(30)
    assert done.returncode == 2
    assert "no worker of this cluster can grade hw1" in done.stderr
    assert "no course.yaml in" in done.stderr
    assert "it has another course secret" in done.stderr
    assert "the secret of the test course" not in done.stdout + done.stderr
    assert records_in(out) == []


def test_a_killed_worker_loses_nothing_and_the_records_are_those_of_one_machine(
    course: Path, cluster: Cluster, submissions: Path, cli: Cli, tmp_path: Path
) -> None:
    nannies = [cluster.worker(course / "solutions/hw1"), cluster.worker(course)]
    out = tmp_path / "out"
    grader = start_grading(course, submissions, out, "--scheduler", cluster.scheduler_file)
    wait_for(lambda: len(records_in(out)) >= 2, "two records", grader)

    def at_work() -> int | None:
        return next((pid for pid in map(_dask_worker, nannies) if pid and busy_worker(pid)), None)

    victim = wait_for(at_work, "a worker grades", grader)
    below = children(victim)
    os.kill(victim, signal.SIGKILL)
    output, errors = grader.communicate(timeout=240)
    assert grader.returncode == 0, output + errors
    assert errors == ""
    assert "was lost; submissions to be graded again: " in output
    assert f"graded {STUDENTS}, unchanged 0, nothing to grade 0, grader errors 0" in output
    assert "isolation" in output
    assert "torch" in output
    wait_for(lambda: all(is_gone(pid) for pid in below), "what the killed worker had started ends")
    for nanny in nannies:
        pid = wait_for(lambda: _dask_worker(nanny), "the nanny has a worker")  # noqa: B023
        wait_for(lambda: not _pool_workers(pid), "nothing is left on the workers")  # noqa: B023
    local = tmp_path / "local"
    assert cli("grade", "hw1", submissions, "--out", local, "--jobs", 1, cwd=course).returncode == 0
    assert timeless(out) == timeless(local)
    assert len(timeless(out)) == STUDENTS


def _pool_workers(pid: int) -> list[int]:
    return [child for child in children(pid) if b"poolworker" in Path(f"/proc/{child}/cmdline").read_bytes()]


def test_no_scheduler_and_two_ways_to_grade_are_usage_errors(course: Path, submissions: Path, cli: Cli) -> None:
    both = cli("grade", "hw1", submissions, "--jobs", 1, "--scheduler", "tcp://127.0.0.1:1", cwd=course)
    assert both.returncode == 2
    assert "give one of them" in both.stderr
    nobody = cli("grade", "hw1", submissions, "--scheduler", "missing.json", cwd=course)
    assert nobody.returncode == 2
    assert "missing.json is no address of a Dask scheduler" in nobody.stderr
