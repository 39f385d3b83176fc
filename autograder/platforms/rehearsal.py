"""A trial of a finished bundle: it grades the assignment's own solution, and its appetite is measured."""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from autograder.errors import GraderError
from autograder.manifest import Assignment
from autograder.platforms.station import DETAILS

_READING_SECONDS = 0.25
_MOST_SECONDS = 1200.0
_ANONYMOUS = ("Pss_Anon:", "Pss_Shmem:")


class Memory(NamedTuple):
    """MiB of a tree of processes, each page counted once.

    `own` cannot be given back; `total` includes pages of libraries' files, which the kernel can drop and read again.
    """

    own: int
    total: int


class Trial(NamedTuple):
    """What the trial showed."""

    results: dict[str, Any]
    log: str
    seconds: float
    cpu_seconds: float
    memory: Memory


def rehearse(bundle: Path, assignment: Assignment) -> Trial:
    """Grade the solution with `bundle` (Gradescope's zip or PrairieLearn's folder) as the platform's script does.

    The packages are this machine's, the engine is the bundle's. Raises GraderError when no result is written.
    """
    assert assignment.solution_path is not None
    with _public_umask(), tempfile.TemporaryDirectory(prefix="autograder-rehearsal-") as folder:
        engine, grading = _unpacked(bundle, Path(folder))
        submission, results = Path(folder, "submission"), Path(folder, "results/results.json")
        submission.mkdir()
        (submission / assignment.module).write_bytes(assignment.solution_path.read_bytes())
        command = [sys.executable, "-P", "-m", "autograder.platforms", *map(str, (grading, submission, results))]
        environment = {"PATH": os.defpath, "LANG": "C.UTF-8", "PYTHONPATH": str(engine), DETAILS: "1"}
        log, seconds, cpu, memory = _measured(command, environment, Path(folder))
        if not results.is_file():
            raise GraderError(f"the bundle's trial gave no result (--no-rehearse packages without one):\n{log}")
        return Trial(json.loads(results.read_bytes()), log, seconds, cpu, memory)


def _unpacked(bundle: Path, folder: Path) -> tuple[Path, Path]:
    """(the engine's folder, which the submission's user has to read; the folder that grades, which it must not)."""
    engine, grading = folder / "engine", folder / "source"
    folder.chmod(0o711)
    if bundle.is_dir():
        shutil.copytree(bundle / "image/engine", engine)
        return engine, bundle.absolute() / "question/tests"
    with zipfile.ZipFile(bundle) as archive:
        archive.extractall(grading)
    (grading / "engine").rename(engine)
    grading.chmod(0o700)
    return engine, grading


@contextmanager
def _public_umask() -> Iterator[None]:
    """As in a platform's container, whatever the author's shell says."""
    before = os.umask(0o022)
    try:
        yield
    finally:
        os.umask(before)


def _measured(command: list[str], environment: dict[str, str], folder: Path) -> tuple[str, float, float, Memory]:
    peak = Memory(0, 0)
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    log = folder / "log"
    with log.open("wb") as sink:
        process = subprocess.Popen(command, env=environment, cwd=folder, stdout=sink, stderr=subprocess.STDOUT)
        while process.poll() is None:
            if time.monotonic() - begun > _MOST_SECONDS:
                process.kill()
            now = memory_of(process.pid)
            peak = Memory(max(peak.own, now.own), max(peak.total, now.total))
            time.sleep(_READING_SECONDS)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return log.read_text(errors="replace"), time.monotonic() - begun, cpu, peak


def memory_of(root: int) -> Memory:
    """What the process `root` and all its descendants hold now; zeros where /proc does not tell."""
    own = total = 0
    for process in _tree(root):
        try:
            lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
        except OSError:  # it ended meanwhile
            continue
        for name, amount, *_ in (line.split() for line in lines[1:]):
            own += int(amount) if name in _ANONYMOUS else 0
            total += int(amount) if name == "Pss:" else 0
    return Memory(own >> 10, total >> 10)


def _tree(root: int) -> list[int]:
    children: dict[int, list[int]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(path.read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
        children.setdefault(parent, []).append(int(path.parent.name))
    found = [root]
    for process in found:
        found += children.get(process, [])
    return found
