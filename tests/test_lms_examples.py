"""The files of docs/examples/exports: a template of each target, the exported file and what the export printed.

They are what the command makes of a small gradebook, today as on the day they were written. `python
tests/test_lms_examples.py` writes the exported files and the printed texts again.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from gradebook_support import ROOT, Desk, course, hand_in, record
from printed import words

FOLDER = ROOT / "docs/examples/exports"
OPTIONS = {
    "canvas": "--column 880001",
    "moodle": "--column 'Online softmax' --feedback",
    "moodle-worksheet": "--feedback",
    "blackboard": "--column 664617",
    "brightspace": "--changed-only",
    "gradescope": "--column 'Online softmax'",
    "nbgrader": "",
    "csv": "--match CSID=id",
}


def gradebook(root: Path) -> Desk:
    """One student in each state: graded, graded late, zero, missing, excused, pending, and not in the LMS."""
    desk = course(root)
    shutil.copy(FOLDER / "roster.csv", root)
    desk.ok("init")
    desk.ok("roster", "roster.csv")
    desk.ok("policy", "hw1", "--due", "2026-10-02 23:59", "--zone", "Europe/Berlin", "--percent", "10")
    desk.collected(
        s00451=hand_in("a", "2026-10-02T09:10:00+02:00"),
        s00452=hand_in("b", "2026-10-03T10:00:00+02:00"),
        s00453=hand_in("c", "2026-10-02T20:00:00+02:00"),
        s00456=hand_in("d", "2026-10-02T21:30:00+02:00"),
        s00457=hand_in("e", "2026-10-02T22:00:00+02:00"),
    )
    scores = {"00451": (9.5, "a"), "00452": (8.255, "b"), "00453": (0.0, "c"), "00457": (6.0, "e")}
    desk.records(*(record(student, score, files=files) for student, (score, files) in scores.items()))
    desk.ok("import", "hw1", "--yes")
    desk.ok("override", "hw1", "00455", "excused", "--reason", "ill")
    return desk


def export(desk: Desk, target: str) -> tuple[bytes, str]:
    """The file for `target`, and the command with what it printed."""
    before, after = f"{target}-before.csv", f"{target}-after.csv"
    shutil.copy(FOLDER / before, desk.root)
    line = f"export hw1 --to {target} --template {before} {OPTIONS[target]}".strip() + f" -o {after}"
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "AUTOGRADER_DB": "", "AUTOGRADER_AUTHOR": "ta"}
    done = subprocess.run([sys.executable, "-m", "autograder", *shlex.split(line)], cwd=desk.root, env=environment,
                          capture_output=True, text=True, timeout=120, check=False)  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    printed = "".join(f"{row.rstrip()}\n" for row in done.stdout.replace(f"{desk.root}/", "").splitlines())
    return (desk.root / after).read_bytes(), f"$ autograder {line}\n{printed}"


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    return gradebook(tmp_path_factory.mktemp("course"))


@pytest.mark.parametrize("target", OPTIONS)
def test_the_published_example_is_what_the_command_makes(desk: Desk, target: str) -> None:
    data, printed = export(desk, target)
    assert data == (FOLDER / f"{target}-after.csv").read_bytes()
    assert words(printed) == words((FOLDER / f"{target}.txt").read_text(encoding="utf-8"))


def test_every_target_has_an_example() -> None:
    from autograder.lms import TARGETS

    assert set(OPTIONS) == set(TARGETS)
    assert {path.name for path in FOLDER.iterdir()} == {
        "roster.csv", *(f"{t}{end}" for t in TARGETS for end in ("-before.csv", "-after.csv", ".txt"))
    }  # fmt: skip


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        at_the_desk = gradebook(Path(place))
        for one in OPTIONS:
            made, text = export(at_the_desk, one)
            (FOLDER / f"{one}-after.csv").write_bytes(made)
            (FOLDER / f"{one}.txt").write_text(text, encoding="utf-8")
