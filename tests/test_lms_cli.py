"""`autograder export` as staff use it: a process of its own, real files."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from printed import words
from test_lms_records import record, write
from test_lms_samples import canvas, worksheet

ROOT = Path(__file__).parent.parent
ROSTER = (
    "id,name,login,sis_id\n00451,Ama Quartey,aquartey,00451\n00452,Lou [bold]D'Arcy,ldarcy,00452\n00455,Eve,eve,00455\n"
)


def run(*arguments: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "autograder", *map(str, arguments)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=120, check=False)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(
        tmp_path / "grades",
        **{"00451": record("00451", 9.5), "00452": record("00452", 7.255), "00455": record("00455", None)},
    )
    (tmp_path / "roster.csv").write_text(ROSTER)
    (tmp_path / "gradebook.csv").write_text(canvas())
    return tmp_path


def export(folder: Path, *more: object, to: str = "canvas") -> subprocess.CompletedProcess[str]:
    given = ("--records", folder / "grades", "--roster", folder / "roster.csv", "-o", folder / "out.csv")
    return run("export", "hw1", "--to", to, *given, *more, cwd=folder)


def test_grades_reach_the_template_and_everyone_is_accounted_for(folder: Path) -> None:
    done = export(folder, "--template", "gradebook.csv", "--column", "551")
    assert done.returncode == 0, done.stderr
    out = folder / "out.csv"
    assert out.read_text() == canvas().replace("A,,38.25", "A,7.26,38.25")
    assert stat.S_IMODE(out.stat().st_mode) == 0o600
    assert "\x1b" not in done.stdout
    lines = done.stdout.splitlines()
    assert lines[0] == "canvas: column Lab 1: tiles, part (b) (551)"
    assert any(line.startswith("written") and "Lou [bold]D'Arcy" in line and "7.26 (rounded)" in line for line in lines)
    assert any(line.startswith("not a grade") and "00455" in line and "grader itself" in line for line in lines)
    counts = {line.rsplit("  ", 1)[0].split("  ")[0].strip(): line.split() for line in lines}
    assert counts["rounded"][1] == "1"
    assert counts["would erase"][2] == "0"
    assert [path.name for path in folder.iterdir() if path.name.startswith(".")] == []
    assert "00451" not in done.stderr


def test_in_doubt_nothing_is_written_and_an_old_file_stays(folder: Path) -> None:
    (folder / "out.csv").write_text("older")
    (folder / "gradebook.csv").write_text(canvas().replace("A,,38.25", "A,EX,38.25"))
    refused = export(folder, "--template", "gradebook.csv", "--column", "551")
    assert refused.returncode == 1
    assert "1 would erase what the LMS holds: allow it with --allow-erase" in refused.stdout
    assert (folder / "out.csv").read_text() == "older"
    allowed = export(folder, "--template", "gradebook.csv", "--column", "551", "--allow-erase")
    assert allowed.returncode == 0
    assert ",A,7.26,38.25" in (folder / "out.csv").read_text()
    write(folder / "grades", **{"00452": record("00452", 70.0, full=100.0)})
    over = export(folder, "--template", "gradebook.csv", "--column", "551", "--allow-erase")
    assert over.returncode == 1
    assert "out of 100 here, out of 10 there" in over.stdout
    scaled = export(folder, "--template", "gradebook.csv", "--column", "551", "--allow-erase", "--rescale")
    assert scaled.returncode == 0
    assert ",A,7,38.25" in (folder / "out.csv").read_text()


def test_feedback_is_written_when_asked_for(folder: Path) -> None:
    (folder / "worksheet.csv").write_text(worksheet())
    plain = export(folder, "--template", "worksheet.csv", to="moodle-worksheet")
    assert plain.returncode == 0
    assert "7.26,10.00,Yes" in (folder / "out.csv").read_text()
    assert "softmax_naive" not in (folder / "out.csv").read_text()
    assert export(folder, "--template", "worksheet.csv", "--feedback", to="moodle-worksheet").returncode == 0
    assert '"hw1: 7.255/10 points (softmax_naive 7.255/10)"' in (folder / "out.csv").read_text().replace(
        "\n", '"\n'
    ).replace(",hw1:", ',"hw1:')


def test_a_grader_error_is_not_a_missing_submission(folder: Path) -> None:
    done = export(folder, "--missing-as-zero", to="csv")
    assert done.returncode == 0, done.stderr
    text = (folder / "out.csv").read_text()
    assert "00455" not in text
    assert "00451" in text


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (("--template", "gradebook.csv"), "candidates: Lab 1: tiles, part (b) (551)"),
        (("--template", "nowhere.csv"), "nowhere.csv: No such file"),
        ((), "canvas needs a template"),
        (("--template", "out.csv", "--match", "x"), "is not COLUMN=FIELD"),
        (("--template", "gradebook.csv", "--records", "nowhere"), "nowhere is no folder of records"),
        (("--template", "gradebook.csv", "--roster", "gone.csv"), "gone.csv: No such file"),
        (("--template", "gradebook.csv", "-o", "gradebook.csv"), "the original is your backup"),
        (("--template", "gradebook.csv", "-o", "no/folder.csv"), "a folder that exists"),
        (("--template", "gradebook.csv", "--decimals", "9"), "choose 0 to 6"),
        (("--template", "gradebook.csv", "--column", "551", "--encoding", "latin-1"), "Canvas reads UTF-8 only"),
        (("--to", "excel"), "choose one of canvas, moodle"),
    ],
)
def test_a_mistake_of_the_user_is_one_message_and_exit_2(folder: Path, more: tuple[str, ...], says: str) -> None:
    before = (folder / "gradebook.csv").read_text()
    done = export(folder, *more)
    assert done.returncode == 2
    assert says in words(done.stderr)
    assert "Traceback" not in done.stderr
    assert not (folder / "out.csv").exists()
    assert (folder / "gradebook.csv").read_text() == before
