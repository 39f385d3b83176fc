"""A small class with good, wrong, hostile and broken hand-ins, and the processes of those who grade it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from broken_submissions import ONE_FUNCTION, WHOLE_FILE

from autograder.manifest import find_course, load_corpus

ROOT = Path(__file__).parent.parent
SOLUTION = (ROOT / "solutions/hw1/softmax.py").read_text()
FROM_CORPUS = (
    "right/block_double", "right/merge_logaddexp", "right/safe_log_domain",
    "wrong/block_field_order", "wrong/finalize_swapped", "wrong/merge_plain_sum", "wrong/naive_clipped",
    "wrong/safe_no_shift",
    "cheat/arguments_returned", "cheat/counts_set", "cheat/exit_on_import", "cheat/forged_reply", "cheat/lying_objects",
)  # fmt: skip
BROKEN = ("sleeps_forever", "allocates_30_gb", "segmentation_fault", "os_exit_0", "prints_a_gigabyte")
UNREADABLE = ("syntax_error", "a_pdf")
PATIENCE = 120.0
"""Seconds after which something that should happen is taken for something that does not."""


def broken(name: str) -> bytes:
    return f"{SOLUTION}\n\n{ONE_FUNCTION[name].snippet}\n".encode()


def mixed_class() -> dict[str, bytes]:
    """20 hand-ins by student, the kinds in turn."""
    corpus = {variant.id: variant.source.encode() for variant in load_corpus(find_course(ROOT).assignment("hw1"))}
    programs = {name: corpus[name] for name in FROM_CORPUS}
    programs |= {f"broken/{name}": broken(name) for name in BROKEN}
    programs |= {f"file/{name}": WHOLE_FILE[name][0] for name in UNREADABLE}
    kinds = ("right", "wrong", "cheat", "broken", "file")
    by_kind = [[name for name in programs if name.startswith(kind)] for kind in kinds]
    order = [names[turn] for turn in range(5) for names in by_kind if turn < len(names)]
    return {f"s{n:02d}-{name.replace('/', '-')}": programs[name] for n, name in enumerate(order)}


def make_course(root: Path) -> Path:
    """This repository's course with hw1 only, without its corpus and with a short time limit."""
    shutil.copytree(ROOT / "solutions/hw1", root / "solutions/hw1", ignore=shutil.ignore_patterns("corpus"))
    (root / "course.yaml").write_text("format: 1\nid: test\ntitle: Test course\nassignments: [hw1]\n")
    (root / "solutions/secret.txt").write_text("the secret of the test course\n")
    manifest = root / "solutions/hw1/assignment.yaml"
    text, count = re.subn(r"check_seconds: \d+", "check_seconds: 2", manifest.read_text())
    assert count == 1
    text, count = re.subn(r"memory_mib: \d+", "memory_mib: 512", text)
    assert count == 1
    manifest.write_text(text)
    return root


def hand_in(folder: Path, programs: dict[str, bytes]) -> Path:
    for student, source in programs.items():
        (folder / student).mkdir(parents=True)
        (folder / student / "softmax.py").write_bytes(source)
    return folder


def start_grading(course: Path, submissions: Path, out: Path, *options: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "autograder", "grade", "hw1", submissions, "--out", out, *options]
    return subprocess.Popen(
        list(map(str, command)), cwd=course, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def wait_for(condition: Callable[[], Any], what: str, process: subprocess.Popen[str] | None = None) -> Any:
    """The first true value of `condition`, asked again and again."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        value = condition()
        if value:
            return value
        if process is not None and process.poll() is not None:
            raise AssertionError(f"{what}: it ended before, {process.communicate()}")
        time.sleep(0.01)
    raise AssertionError(f"{what}: did not happen within {PATIENCE:.0f} s")


def records_in(out: Path) -> list[Path]:
    return sorted(out.glob("*.json")) if out.is_dir() else []


def timeless(out: Path) -> dict[str, Any]:
    """Every record by student, apart from times."""
    return {path.stem: _timeless(json.loads(path.read_text())) for path in records_in(out)}


def _timeless(record: dict[str, Any]) -> dict[str, Any]:
    checks = [{key: value for key, value in check.items() if key != "duration"} for check in record["checks"]]
    return {**record, "started": "", "finished": "", "checks": checks}


def children(pid: int) -> list[int]:
    try:
        tasks = [task / "children" for task in Path(f"/proc/{pid}/task").iterdir()]
        return [int(child) for task in tasks for child in task.read_text().split()]
    except (FileNotFoundError, ProcessLookupError):
        return []


def descendants(pid: int) -> list[int]:
    found = children(pid)
    for child in found:
        found += children(child)
    return found


def busy_worker(pid: int, but: int = 0) -> int | None:
    """A pool worker of the grader `pid`, not `but`, below which a warm parent's monitor runs a submission."""
    for worker in children(pid):
        below = [child for parent in children(worker) for monitor in children(parent) for child in children(monitor)]
        if worker != but and any(_resident_mib(child) > 100 for child in below):  # a fork of the one that has torch
            return worker
    return None


def _resident_mib(pid: int) -> float:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / (1 << 20)
    except (FileNotFoundError, ProcessLookupError):
        return 0.0


def is_gone(pid: int) -> bool:
    """Whether a process has ended; a zombie has, too."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in ("Z", "X")
    except (FileNotFoundError, ProcessLookupError):
        return True
