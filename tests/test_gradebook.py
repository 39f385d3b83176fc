"""`autograder gradebook` as staff use it: a process of its own, real files, a real database."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import pytest
from gradebook_support import ROOT, Desk, course, hand_in, opened, record
from printed import words

from autograder.gradebook.audit import trail
from autograder.gradebook.database import open_database
from autograder.gradebook.exporting import collect_for_export, grades_for_export, log_export

DUE = ("--due", "2026-10-02 23:59", "--zone", "Europe/Berlin", "--percent", "10")


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    """For tests that write nothing; the others work on copies of it."""
    return opened(tmp_path_factory.mktemp("course"))


@pytest.fixture
def desk(template: Desk, tmp_path: Path) -> Desk:
    shutil.copytree(template.root, tmp_path, dirs_exist_ok=True)
    return Desk(tmp_path)


def exported(desk: Desk, assignment: str = "hw1") -> dict[str, tuple[str, Decimal | None, Decimal | None]]:
    with open_database(str(desk.root / "gradebook.db")) as database:
        grades = grades_for_export(database, assignment)
    return {grade.student.id: (grade.state, grade.score, grade.late_penalty) for grade in grades}


def lines_of_the_log(desk: Desk) -> int:
    with open_database(str(desk.root / "gradebook.db")) as database, database.read() as session:
        return len(trail(session))


def test_a_class_from_roster_to_export(desk: Desk) -> None:
    assert stat.S_IMODE((desk.root / "gradebook.db").stat().st_mode) == 0o600
    desk.records(record("00451", 7.3), record("00452", 0.1, files="b"))
    done = desk.ok("import", "hw1", "grades/hw1", "--yes")
    lines = [" ".join(line.split()) for line in done.splitlines()]
    assert "00451 Ama Quartey missing -> 7.3/10" in lines
    assert "00452 Lou [bold]D'Arcy missing -> 0.1/10" in lines
    assert lines[-2:] == ["new attempts 2, new results 2, known already 0, grades that change 2", "written"]
    assert exported(desk) == {
        "00451": ("graded", Decimal("7.3"), None),
        "00452": ("graded", Decimal("0.1"), None),
        "ç8": ("missing", None, None),
    }
    assert exported(desk, "hw2") == dict.fromkeys(("00451", "00452", "ç8"), ("missing", None, None))
    again = desk.ok("import", "hw1")
    assert again.splitlines()[-1] == "nothing is new"
    assert "known already 2" in again


def test_nobody_at_the_terminal_means_nothing_is_written(desk: Desk) -> None:
    desk.records(record("00451", 7.3))
    refused = desk.run("import", "hw1", stdin="y\n")
    assert refused.returncode == 2
    assert "missing" in refused.stdout
    assert "then add --yes" in words(refused.stderr)
    assert desk.grade("00451") == "missing"


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo terminal")
@pytest.mark.parametrize(("answer", "code", "grade"), [("n", 1, "missing"), ("y", 0, "7.3/10")])
def test_at_a_terminal_it_asks(desk: Desk, answer: str, code: int, grade: str) -> None:
    import pty

    desk.records(record("00451", 7.3))
    command, environment = desk.command("import", "hw1")
    ours, theirs = pty.openpty()
    try:
        os.write(ours, f"{answer}\n".encode())
        done = subprocess.run(command, cwd=desk.root, env=environment, stdin=theirs, capture_output=True, text=True,
                              timeout=120, check=False)  # fmt: skip
    finally:
        os.close(ours)
        os.close(theirs)
    assert done.returncode == code, done.stdout + done.stderr
    assert "write this?" in done.stdout + done.stderr
    assert desk.grade("00451") == grade


def test_a_regrade_shows_old_and_new_and_keeps_both(desk: Desk) -> None:
    desk.records(record("00451", 7.0), record("00452", 5.0, files="b"))
    desk.ok("import", "hw1", "--yes")
    desk.records(record("00451", 8.5, kit="2"), record("00452", 5.0, files="b", kit="2"))
    done = desk.ok("import", "hw1", "--yes")
    lines = [" ".join(line.split()) for line in done.splitlines()]
    assert "00451 Ama Quartey 7/10 -> 8.5/10" in lines
    assert not any("00452" in line for line in lines)
    assert "new results 1, known already 1" in done
    assert "graded again with another kit, nothing came out differently: 1" in done
    assert desk.ok("log", "hw1", "--student", "00452").count("results") == 1
    desk.records(record("00451", 7.0))
    assert "8.5/10" in desk.ok("import", "hw1", "--yes")
    assert desk.grade("00451") == "7/10"
    assert desk.ok("log", "hw1", "--student", "00451").count("results") == 3


def test_what_is_no_grade_never_becomes_one(desk: Desk) -> None:
    desk.records(
        record("00451", None),
        record("00452", 10.0, files="b", selection="-k float64"),
        record("ghost", 9.0),
        record("ç8", 9.0, assignment="hw2"),
    )
    (desk.root / "grades/hw1/z.json").write_text('{"format": 1, "sco')
    done = desk.run("import", "hw1", "--yes")
    assert done.returncode == 1
    for text in (
        "no grade, r0.json: the grader itself failed",
        "no grade, r1.json: only some checks ran (-k float64)",
        "left out, ghost: nobody",
        "no grade, r3.json: is of hw2, not of hw1",
        "no grade, z.json: is no record",
    ):
        assert text in done.stdout
    assert exported(desk) == {"ç8": ("missing", None, None)}
    with open_database(str(desk.root / "gradebook.db")) as database:
        pending = collect_for_export(database, "hw1").no_grades
    assert [entry.student.split()[0] for entry in pending] == ["00451", "00452"]
    assert "the grader itself failed; grade it again" in pending[0].reason
    desk.records(record("00451", 6.0), record("00452", 4.0, files="b"))
    desk.run("import", "hw1", "--yes")
    desk.records(record("00451", None, kit="2"))
    desk.run("import", "hw1", "--yes")
    assert desk.grade("00451") == "6/10"
    assert "the earlier result counts" in desk.ok("show", "hw1", "--student", "00451")


def test_lateness_grace_extension_and_correction(desk: Desk) -> None:
    desk.ok("policy", "hw1", *DUE, "--grace", "15m")
    desk.collected(
        s00451=hand_in("a", "2026-10-04T00:00:00+02:00"), s00452=hand_in("b", "2026-10-03 00:14"), ç8=hand_in("c")
    )
    desk.records(record("00451", 8.0), record("00452", 9.0, files="b"), record("ç8", 5.0, files="c"))
    desk.ok("import", "hw1", "--yes")
    assert desk.grade("00451") == "6/10 (2 off for lateness)"
    assert desk.grade("00452") == "9/10"
    assert "time unknown: counted as on time" in desk.ok("show", "hw1")
    assert exported(desk)["00451"] == ("graded", Decimal("8.0"), Decimal("2"))
    desk.ok("extend", "hw1", "aquartey", "2026-10-03 20:00", "--reason", "ill")
    assert desk.grade("00451") == "7/10 (1 off for lateness)"
    desk.ok("extend", "hw1", "00451", "2026-10-04 12:00", "--reason", "still ill")
    assert desk.grade("00451") == "8/10"
    desk.ok("extend", "hw1", "00451", "none", "--reason", "no note")
    assert desk.grade("00451") == "6/10 (2 off for lateness)"
    desk.ok("submitted", "hw1", "00451", "2026-10-02 23:00", "--reason", "receipt by e-mail")
    assert desk.grade("00451") == "8/10"
    assert desk.ok("import", "hw1").splitlines()[-1] == "nothing is new"
    assert desk.grade("00451") == "8/10"
    assert "1 of 1" in desk.ok("show", "hw1")


def test_a_mark_without_a_time_proves_one_unit(desk: Desk) -> None:
    desk.ok("policy", "hw1", *DUE)
    desk.collected(s00451=hand_in("a", late=True))
    desk.records(record("00451", 8.0))
    desk.ok("import", "hw1", "--yes")
    assert desk.grade("00451") == "7/10 (1 off for lateness)"
    assert "marked late, time unknown: counted as one day" in desk.ok("show", "hw1")
    desk.collected(s00451=hand_in("a", "2026-10-04T23:00+02:00", late=True))
    desk.ok("import", "hw1", "--yes")
    assert desk.grade("00451") == "6/10 (2 off for lateness)"
    assert "1 of 1" in desk.ok("show", "hw1")


@pytest.mark.parametrize(
    ("counts", "grade"), [("last", "4/10 (1 off for lateness)"), ("best", "9/10"), ("last_on_time", "6/10")]
)
def test_which_attempt_counts(desk: Desk, counts: str, grade: str) -> None:
    desk.ok("policy", "hw1", *DUE, "--counts", counts)
    older = "a@2026-10-01T12:00 b@2026-10-02T12:00"
    desk.collected(s00451=hand_in("c", "2026-10-03 12:00", older=older))
    desk.records(record("00451", 9.0, files="a"), record("00451", 6.0, files="b"), record("00451", 5.0, files="c"))
    desk.ok("import", "hw1", "--yes")
    assert desk.grade("00451") == grade


def test_the_last_attempt_counts_even_when_it_is_not_graded_yet(desk: Desk) -> None:
    desk.collected(s00451=hand_in("c", older="a c b"))
    desk.records(record("00451", 9.0, files="a"))
    desk.run("import", "hw1", "--yes")
    assert desk.grade("00451") == "pending"
    assert "attempt 4 has no result" in desk.ok("show", "hw1")
    assert "00451" not in exported(desk)
    assert desk.ok("import", "hw1").splitlines()[-1] == "nothing is new"
    desk.ok("policy", "hw1", "--zone", "UTC", "--counts", "best")
    assert desk.grade("00451") == "9/10"


def test_overrides_are_final_and_can_be_taken_back(desk: Desk) -> None:
    desk.ok("policy", "hw1", *DUE)
    desk.collected(s00451=hand_in("a", "2026-10-03 12:00"))
    desk.records(record("00451", 8.0))
    desk.ok("import", "hw1", "--yes")
    assert "9.25/10" in desk.ok("override", "hw1", "00451", "9.25", "--reason", "a check was wrong")
    assert exported(desk)["00451"] == ("graded", Decimal("9.25"), None)
    for given, state in (("excused", "excused"), ("not-assigned", "not_assigned"), ("missing", "missing")):
        desk.ok("override", "hw1", "00451", given, "--reason", "x")
        assert exported(desk)["00451"] == (state, None, None)
    desk.ok("override", "hw1", "00451", "none", "--reason", "x")
    assert desk.grade("00451") == "7/10 (1 off for lateness)"
    log = desk.ok("log", "--student", "00451")
    assert log.count("overrides") == 5
    assert "9.25, because: a check was wrong" in log
    assert all("  ta  " in line for line in log.splitlines()[1:])


def test_written_questions_complete_a_grade(desk: Desk) -> None:
    desk.records(record("00451", 8.0), record("00452", 6.0, files="b"))
    desk.ok("import", "hw1", "--yes")
    desk.ok("points", "hw1", "00451", "q1", "3.5/5")
    assert desk.grade("00451") == "11.5/15"
    assert desk.grade("00452") == "pending"
    assert "no points yet for q1" in desk.ok("show", "hw1")
    assert set(exported(desk)) == {"00451", "ç8"}
    desk.ok("points", "hw1", "00452", "q1", "4")
    assert desk.grade("00452") == "10/15"
    desk.ok("points", "hw1", "ç8", "q1", "2/5")
    assert desk.grade("ç8") == "2/15"
    for student in ("00451", "00452", "ç8"):
        desk.ok("points", "hw1", student, "q1", "none")
    assert (desk.grade("00451"), desk.grade("ç8")) == ("8/10", "missing")


def test_students_leave_and_come_back(desk: Desk) -> None:
    desk.records(record("00451", 8.0))
    desk.ok("import", "hw1", "--yes")
    (desk.root / "r2.csv").write_text("id,name,login\n00452,Lou D'Arcy,ldarcy\nn1,New,nn\n")
    assert "not in the file, still here: 00451, ç8" in desk.ok("roster", "r2.csv")
    assert "00451" in exported(desk)
    assert "left 2" in desk.ok("roster", "r2.csv", "--drop")
    assert set(exported(desk)) == {"00452", "n1"}
    desk.ok("roster", "roster.csv")
    assert exported(desk)["00451"][1] == Decimal("8.0")
    (desk.root / "r3.csv").write_text("id,login\nother,aquartey\n")
    clash = desk.run("roster", "r3.csv")
    assert clash.returncode == 2
    assert "have the same login" in words(clash.stderr)


def test_the_policy_has_versions(desk: Desk) -> None:
    assert "no late policy" in desk.ok("policy", "hw1")
    desk.ok("policy", "hw1", *DUE)
    words = desk.ok(
        "policy", "hw1", "--cap", "30%", "--floor", "40", "--per", "hour", "--of", "score", "--grace", "1h30m"
    )
    assert words == (
        "hw1, version 2: due 2026-10-02 23:59 CEST (Europe/Berlin), grace 1:30:00; "
        "10% of the score per hour begun, 30% at most, not below 40% of the maximum; the last attempt counts\n"
    )
    assert desk.ok("log", "hw1").count("policies") == 2


def test_exports_are_logged(desk: Desk) -> None:
    with open_database(str(desk.root / "gradebook.db")) as database:
        grades = grades_for_export(database, "hw1")
        log_export(database, "hw1", grades, target="canvas", file="up.csv", sha256="f" * 64, author="lead")
    assert "3 grades for canvas, file up.csv ffffffffffff" in desk.ok("log", "hw1")


def test_feedback_is_of_the_record_that_counts(desk: Desk) -> None:
    desk.records(record("00451", 8.0))
    desk.ok("import", "hw1", "--yes")
    with open_database(str(desk.root / "gradebook.db")) as database:
        grades = grades_for_export(database, "hw1", feedback=True)
    assert grades[0].feedback == "hw1: 8/10 points (softmax_naive 8/10)"
    assert grades[1].feedback is None


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("show", "hw9"), "'hw9' is no assignment"),
        (("show", "hw1", "--student", "00541"), "did you mean '00451'?"),
        (("override", "hw1", "00451", "lots", "--reason", "x"), "is no number of points"),
        (("override", "hw1", "00451", "-1", "--reason", "x"), "no such option"),
        (("override", "hw1", "00451", "7"), "missing option '--reason'"),
        (("override", "hw1", "00451", "7", "--reason", " "), "--reason is empty"),
        (("extend", "hw1", "00451", "2026-10-05 23:59", "--reason", "x"), "with --zone"),
        (("extend", "hw1", "00451", "tomorrow", "--reason", "x"), "is no date with a time"),
        (("extend", "hw1", "00451", "2026-10-05", "--reason", "x"), "is no date with a time"),
        (("points", "hw1", "00451", "q1", "7/5"), "more than the maximum"),
        (("points", "hw1", "00451", "q1", "7"), "out of what"),
        (("policy", "hw1", "--percent", "10"), "needs --zone"),
        (("policy", "hw1", "--zone", "Mars/Base"), "is no time zone"),
        (("policy", "hw1", "--zone", "../etc"), "is no time zone"),
        (("policy", "hw1", "--zone", "UTC", "--percent", "101"), "is no percentage"),
        (("policy", "hw1", "--zone", "UTC", "--per", "week"), "is not one of day, hour"),
        (("policy", "hw1", "--zone", "UTC", "--grace", "soon"), "is no duration"),
        (("import", "hw1", "nowhere"), "nowhere is no folder"),
        (("import", "hw1", "."), ". has no records"),
        (("roster", "gone.csv"), "gone.csv: no such file"),
        (("submitted", "hw1", "00451", "2026-10-05 23:59", "--reason", "x"), "has 0 attempts"),
        (("show", "hw1", "--db", "gone.db"), "make one with: autograder gradebook init"),
        (("show", "hw1", "--db", "roster.csv"), "damaged or no gradebook"),
        (("show", "hw1", "--db", "mysql://u:secret@h/d"), "'mysql' are not supported"),
        (("init", "--db", "no/folder.db"), "cannot be made"),
    ],
)
def test_a_mistake_of_the_user_is_one_message_and_exit_2(template: Desk, arguments: tuple[str, ...], says: str) -> None:
    before = lines_of_the_log(template)
    done = template.run(*arguments)
    assert done.returncode == 2, done.stdout
    said = words(done.stderr.replace("│", " "))
    assert says in said or says in said.lower()
    assert "secret" not in done.stderr
    assert lines_of_the_log(template) == before == 3


def test_two_records_of_one_hand_in_are_nobodys_choice(desk: Desk) -> None:
    desk.records(record("00451", 8.0), record("aquartey", 9.0))
    done = desk.run("import", "hw1", "--yes")
    assert done.returncode == 2
    assert "keep the one that counts" in words(done.stderr)


def test_help_needs_no_database_library(tmp_path: Path) -> None:
    code = (
        "import sys\n"
        "from autograder.cli import gradebook\n"
        "sys.exit(any(name.startswith(('sqlalchemy', 'alembic')) for name in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False, timeout=60)
    assert done.returncode == 0
    assert "Example: autograder gradebook import" in course(tmp_path).ok("import", "--help")
