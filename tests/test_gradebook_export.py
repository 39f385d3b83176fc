"""`autograder export` from the gradebook: what leaves, where the late penalty is deducted, and what the log says."""

from __future__ import annotations

import hashlib
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from gradebook_support import Desk, hand_in, opened, record
from printed import words

GRADES = """\
Student,ID,SIS User ID,SIS Login ID,Section,Tiles (551)
    Points Possible,,,,,10
"Quartey, Ama",1,00451,aquartey,A,
"D'Arcy, Lou",2,00452,ldarcy,A,3
"Ñ, Çe",3,ç8,,A,
"""


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    """Ama is late and has 8 - 1, Lou has handed in again and waits, Çe is not there."""
    desk = opened(tmp_path_factory.mktemp("course"))
    (desk.root / "canvas.csv").write_text(GRADES, encoding="utf-8")
    desk.ok("policy", "hw1", "--due", "2026-10-02 23:59", "--zone", "UTC", "--percent", "10")
    desk.collected(s00451=hand_in("a", "2026-10-03T08:00+00:00"), s00452=hand_in("c", older="b"))
    desk.records(record("00451", 8.0), record("00452", 5.0, files="b"))
    desk.ok("import", "hw1", "--yes")
    return desk


@pytest.fixture
def desk(template: Desk, tmp_path: Path) -> Desk:
    shutil.copytree(template.root, tmp_path, dirs_exist_ok=True)
    return Desk(tmp_path)


def export(desk: Desk, *more: str, code: int = 0) -> str:
    done = desk.run("hw1", "--to", "canvas", "--template", "canvas.csv", "-o", "up.csv", *more, group="export")
    assert done.returncode == code, done.stdout + done.stderr
    return words(done.stdout, done.stderr)


def test_the_late_penalty_is_deducted_in_one_place(desk: Desk) -> None:
    said = export(desk)
    assert "late penalty: deducted in this file (1 student)" in said
    assert "aquartey,A,7\n" in (desk.root / "up.csv").read_text(encoding="utf-8")
    assert "pending 00452 Lou [bold]D'Arcy 2 4 3 attempt 2 has no result" in said
    assert "kept ç8 Çe Ñ 3 5 missing" in said
    said = export(desk, "--late", "leave")
    assert "late penalty: left to the LMS, this file holds the points before it (1 student)" in said
    assert "aquartey,A,8\n" in (desk.root / "up.csv").read_text(encoding="utf-8")
    log = desk.ok("log", "hw1")
    assert "1 grades for canvas" in log
    assert "with --late leave" in log
    assert hashlib.sha256((desk.root / "up.csv").read_bytes()).hexdigest()[:12] in "".join(log.split())


def test_no_file_leaves_without_its_row(desk: Desk) -> None:
    """The database that cannot take the row keeps the file from getting its name, and an older one stays."""
    (desk.root / "up.csv").write_text("older")
    with closing(sqlite3.connect(desk.root / "gradebook.db")) as connection, connection:
        connection.execute("CREATE TRIGGER full BEFORE INSERT ON exports BEGIN SELECT RAISE(ABORT, 'no room'); END")
    assert "no room" in export(desk, code=2)
    assert (desk.root / "up.csv").read_text() == "older"
    assert not [path for path in desk.root.iterdir() if path.name.startswith(".export")]
    assert "exports" not in desk.ok("log", "hw1")


def test_records_beside_the_gradebook_are_exported_only_when_they_are_named(desk: Desk) -> None:
    desk.records(record("00451", 2.0))
    assert "the records in grades/hw1 would change 1 of these grades" in export(desk)
    assert ",A,7\n" in (desk.root / "up.csv").read_text(encoding="utf-8")
    said = export(desk, "--records", "grades/hw1")
    assert ",A,2\n" in (desk.root / "up.csv").read_text(encoding="utf-8")
    assert "grades: records grades/hw1, roster" in said
    assert "logged" not in said
    assert desk.ok("log", "hw1").count("exports") == 1


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (("--roster", "roster.csv"), "the roster is the gradebook's own"),
        (("--records", "grades/hw1", "--db", "gradebook.db"), "two sources of grades"),
        (("--db", "gone.db"), "make one with: autograder gradebook init"),
        (("--author", "x", "-o", "canvas.csv"), "the original is your backup"),
    ],
)
def test_a_mistake_of_the_user_is_one_message(template: Desk, more: tuple[str, ...], says: str) -> None:
    assert says in export(template, *more, code=2)
    assert (template.root / "canvas.csv").read_text(encoding="utf-8") == GRADES


def test_an_assignment_without_any_hand_in_is_not_exported_as_missing(template: Desk) -> None:
    done = template.run("hw2", "--to", "csv", "--missing-as-zero", "-o", "hw2.csv", group="export")
    assert done.returncode == 2
    assert "knows no hand-in of hw2; autograder gradebook import hw2" in words(done.stderr)
    assert not (template.root / "hw2.csv").exists()


def test_feedback_says_what_the_grade_is_made_of(desk: Desk) -> None:
    desk.ok("points", "hw1", "00451", "q1", "1.5/2")
    desk.ok("00452", "4", "--reason", "private", group="override hw1")
    desk.ok("points", "hw1", "ç8", "q1", "1/2")
    done = desk.ok("hw1", "--to", "csv", "--feedback", "-o", "up.csv", group="export")
    text = (desk.root / "up.csv").read_text(encoding="utf-8")
    assert "hw1: 9.5/12 points (softmax_naive 8/10, q1 1.5/2); 1.2 off for lateness" in text, done
    assert "hw1: 4/12 points (set by the staff)" in text
    assert "hw1: 1/12 points (q1 1/2)" in text
    assert "private" not in text
