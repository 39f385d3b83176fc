"""A class graded on one machine: killed and continued, workers that die, and what a regrade says."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from grading_support import (
    SOLUTION,
    broken,
    busy_worker,
    children,
    descendants,
    hand_in,
    is_gone,
    make_course,
    mixed_class,
    records_in,
    start_grading,
    timeless,
    wait_for,
)

pytestmark = pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="processes are found through /proc")
Cli = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_course(tmp_path_factory.mktemp("course"))


@pytest.fixture(scope="module")
def submissions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return hand_in(tmp_path_factory.mktemp("class"), mixed_class())


@pytest.fixture(scope="module")
def uninterrupted(course: Path, submissions: Path, cli: Cli, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("uninterrupted")
    done = cli("grade", "hw1", submissions, "--out", out, "--jobs", 2, cwd=course)
    assert done.returncode == 0, done.stdout + done.stderr
    return out


@dataclass
class Interrupted:
    """A class whose grading was stopped four times and continued: where to, what was said, and to a second grader."""

    out: Path
    codes: list[int]
    output: list[str]
    errors: list[str]
    second: subprocess.CompletedProcess[str] | None = None


@pytest.fixture(scope="module")
def interrupted(course: Path, submissions: Path, cli: Cli, tmp_path_factory: pytest.TempPathFactory) -> Interrupted:
    result = Interrupted(tmp_path_factory.mktemp("interrupted"), [], [], [])
    moments = ((signal.SIGKILL, 0, 2), (signal.SIGTERM, 0, 2), (signal.SIGKILL, 4, 2), (signal.SIGINT, 10, 1))
    for number, count, jobs in moments:
        grader = start_grading(course, submissions, result.out, "--jobs", jobs)
        wait_for(lambda: len(children(grader.pid)) == jobs, "the workers start", grader)  # noqa: B023
        wait_for(lambda: len(records_in(result.out)) >= count, f"{count} records", grader)  # noqa: B023
        if number == signal.SIGTERM:
            result.second = cli("grade", "hw1", submissions, "--out", result.out, cwd=course)
        _stop(grader, number)
        result.codes.append(grader.returncode)
        for path in records_in(result.out):
            json.loads(path.read_text())  # whole
        output, errors = grader.communicate()
        result.output.append(output)
        result.errors.append(errors)
    done = cli("grade", "hw1", submissions, "--out", result.out, "--jobs", 1, cwd=course)
    result.codes.append(done.returncode)
    result.output.append(done.stdout)
    return result


def _stop(grader: subprocess.Popen[str], number: int) -> None:
    """Send the signal; nothing that the grader had started may live on."""
    others = descendants(grader.pid)
    assert others
    grader.send_signal(number)
    grader.wait(120)
    if number == signal.SIGKILL:
        wait_for(lambda: all(is_gone(pid) for pid in others), "nothing survives")
    assert [pid for pid in others if not is_gone(pid)] == []


def test_a_run_killed_at_any_moment_continues(uninterrupted: Path, interrupted: Interrupted) -> None:
    records = timeless(interrupted.out)
    assert list(records) == sorted(mixed_class())
    assert records == timeless(uninterrupted)
    assert interrupted.codes == [-9, 143, -9, 130, 0]
    assert "grader errors 0" in interrupted.output[-1]
    assert "graded again" not in interrupted.output[-1]


def test_ctrl_c_and_sigterm_say_what_is_done_and_how_to_continue(interrupted: Interrupted) -> None:
    for name, output, errors in (
        ("SIGTERM", interrupted.output[1], interrupted.errors[1]),
        ("SIGINT", interrupted.output[3], interrupted.errors[3]),
    ):
        assert f"stopped by {name}" in output
        assert "are still to be graded: the same command continues" in output
        assert errors == ""  # nor a warning about leaked semaphores


def test_one_that_loops_holds_up_nobody(uninterrupted: Path) -> None:
    records = {path.stem: json.loads(path.read_text()) for path in records_in(uninterrupted)}
    (slow,) = (record for student, record in records.items() if student.endswith("sleeps_forever"))
    meanwhile = [r for r in records.values() if slow["started"] < r["finished"] < slow["finished"]]
    assert meanwhile
    assert slow["score"] is not None


def test_two_runs_do_not_write_to_one_folder(interrupted: Interrupted) -> None:
    second = interrupted.second
    assert second is not None
    assert second.returncode == 2
    assert "another `autograder grade` is writing" in " ".join(second.stderr.split())


@pytest.fixture(scope="module")
def lost(course: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, subprocess.Popen[str], str]:
    """Two hand-ins behind one whose worker is killed, twice."""
    slow = broken("sleeps_forever")
    class_ = hand_in(
        tmp_path_factory.mktemp("lost"), {"a": slow, "b": SOLUTION.encode(), "c": SOLUTION.encode() + b"#\n"}
    )
    out = class_ / ".out"
    grader = start_grading(course, class_, out, "--jobs", 1)
    first = wait_for(lambda: busy_worker(grader.pid), "a worker grades", grader)
    os.kill(first, signal.SIGKILL)
    second = wait_for(lambda: busy_worker(grader.pid, but=first), "another worker tries it again", grader)
    assert records_in(out) == []
    os.kill(second, signal.SIGKILL)
    output, errors = grader.communicate(timeout=120)
    assert errors == ""
    return class_, out, grader, output


def test_a_submission_that_takes_its_worker_down_twice_is_a_grader_error(
    lost: tuple[Path, Path, subprocess.Popen[str], str],
) -> None:
    _, out, grader, output = lost
    assert grader.returncode == 3
    assert "graded 3, unchanged 0, nothing to grade 0, grader errors 1" in output
    records = timeless(out)
    assert {student: record["score"] for student, record in records.items()} == {"a": None, "b": 100, "c": 100}
    assert {check["status"] for check in records["a"]["checks"]} == {"grader_error"}
    assert records["a"]["checks"][0]["failure"]["message"].endswith("its worker process was killed by SIGKILL")
    assert len(records["a"]["checks"]) == len(records["b"]["checks"])
    assert records["a"]["max_score"] == 100
    assert records["a"]["submission"]["files"]["softmax.py"] != records["b"]["submission"]["files"]["softmax.py"]


def test_a_grader_error_is_graded_again_and_a_regrade_tells_differences(
    course: Path, lost: tuple[Path, Path, subprocess.Popen[str], str], cli: Cli
) -> None:
    class_, out, _, _ = lost
    (class_ / "b/softmax.py").write_text("")
    manifest = course / "solutions/hw1/assignment.yaml"
    before = manifest.read_text()
    manifest.write_text(f"{before}# another kit\n")
    again = cli("grade", "hw1", class_, "--out", out, "--jobs", 1, cwd=course)
    manifest.write_text(before)
    assert again.returncode == 0, again.stdout + again.stderr
    assert "graded 3, unchanged 0, nothing to grade 0, grader errors 0" in again.stdout
    score = json.loads((out / "a.json").read_text())["score"]
    assert 0 < score < 100
    assert "graded again 3, of which another score 2" in again.stdout
    assert f"a: grader error -> {score:g} (another kit)" in again.stdout
    assert "b: 100 -> 0 (another file)" in again.stdout
    assert "c:" not in again.stdout
    assert "change only by `autograder gradebook import hw1`, which asks first" in again.stdout
