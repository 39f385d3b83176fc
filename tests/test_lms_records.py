"""Grades from a folder of records and a roster: who counts as graded, as missing, as neither."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from autograder import record as rec
from autograder.lms import Identity, LmsError, RosterError
from autograder.lms.records import collect_grades
from autograder.lms.roster import RosterLine, columns_of, read_roster


def record(
    student: str, score: float | None, *, assignment: str = "hw1", full: float = 10.0, selection: str | None = None
) -> bytes:
    group = rec.Group("softmax_naive", 1, 2, score or 0.0, full)
    return rec.encode(
        rec.Record(
            format=rec.FORMAT,
            assignment=assignment,
            kit_version="1",
            submission=rec.Submission(student, {}),
            started="2026-09-14T10:00:00.123+00:00",
            finished="2026-09-14T10:00:01+00:00",
            environment=rec.Environment("3.11", None, "2", 1, "process", [], "course"),
            suites=["public", "hidden"],
            checks=[],
            totals=rec.Totals([group], []),
            score=score,
            max_score=full,
            receipt="0",
            selection=selection,
        )
    )


def write(folder: Path, **records: bytes) -> Path:
    folder.mkdir(exist_ok=True)
    for name, data in records.items():
        (folder / f"{name}.json").write_bytes(data)
    return folder


def lines(*ids: str) -> list[RosterLine]:
    return [RosterLine(Identity(one), number) for number, one in enumerate(ids, 2)]


def test_states_come_from_records_and_roster(tmp_path: Path) -> None:
    folder = write(tmp_path / "r", a=record("a", 7.3), b=record("b", 0.0), x=record("x", 5.0))
    roster = [
        *lines("a", "b", "c"),
        RosterLine(Identity("d"), 5, "excused"),
        RosterLine(Identity("a2"), 6, "not_assigned"),
    ]
    got = {grade.student.id: (grade.state, grade.score) for grade in collect_grades(folder, roster, "hw1").grades}
    assert got == {
        "a": ("graded", Decimal("7.3")),
        "b": ("graded", Decimal("0.0")),
        "c": ("missing", None),
        "d": ("excused", None),
        "a2": ("not_assigned", None),
        "x": ("graded", Decimal("5.0")),
    }


def test_what_is_no_grade_is_neither_graded_nor_missing(tmp_path: Path) -> None:
    folder = write(
        tmp_path / "r",
        a=record("a", None),
        b=record("b", 5.0, selection="-k float64"),
        c=record("c", 5.0, assignment="hw2"),
        d=b'{"format": 1, "sco',
        e=record("e", 1.0),
    )
    collected = collect_grades(folder, lines("a", "b", "c", "d", "e"), "hw1")
    assert [grade.student.id for grade in collected.grades] == ["e"]
    reasons = {entry.student: entry.reason for entry in collected.no_grades}
    assert set(reasons) == {"a", "b", "c", "d"}
    for student, word in (("a", "grader itself"), ("b", "-k float64"), ("c", "hw2"), ("d", "cannot be read")):
        assert word in reasons[student]


def test_a_record_under_another_key_of_the_student(tmp_path: Path) -> None:
    folder = write(tmp_path / "r", ldarcy=record("ldarcy", 5.0))
    roster = [RosterLine(Identity("00452", login="ldarcy"), 2), RosterLine(Identity("00453", login="other"), 3)]
    grades = collect_grades(folder, roster, "hw1", feedback=True).grades
    assert [(g.student.id, g.state) for g in grades] == [("00452", "graded"), ("00453", "missing")]
    assert grades[0].feedback == "hw1: 5/10 points (softmax_naive 5/10)"
    assert grades[0].submitted == "2026-09-14 10:00:00"
    write(folder, other=record("00452", 6.0))
    with pytest.raises(RosterError, match="both records of"):
        collect_grades(folder, roster, "hw1")


def test_no_records_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(LmsError, match="grade first"):
        collect_grades(tmp_path, [], "hw1")


@pytest.mark.parametrize(
    "data",
    [
        "id,name,login,email,sis_id,canvas_id\n007,Ama Q,amaq,a@u.example,S007,910\n",
        "ID;Full name;Username;E-mail address;SIS ID;Canvas ID\r\n007;Ama Q;amaq;a@u.example;S007;910\r\n",
        "\ufeffStudent-ID\tName\tLogin ID\tMail\tSID\tcanvas_user_id\n007\t Ama Q \tamaq\ta@u.example\tS007\t910",
    ],
)
def test_roster_columns_in_any_spelling(tmp_path: Path, data: str) -> None:
    for encoding in ("utf-8", "utf-16"):
        path = tmp_path / "roster.csv"
        path.write_bytes(data.removeprefix("\ufeff").encode(encoding) if encoding == "utf-16" else data.encode())
        (line,) = read_roster(path)
        assert line.student == Identity(
            "007", "Ama Q", login="amaq", email="a@u.example", sis_id="S007", canvas_id="910"
        )


def test_a_canvas_export_is_a_roster_too(tmp_path: Path) -> None:
    path = tmp_path / "roster.csv"
    path.write_text(
        'Student,ID,SIS User ID,SIS Login ID,Section,x (1)\n    Points Possible,,,,,10\n"Q, Ama",910,007,amaq,A,\n'
    )
    (line,) = read_roster(path)
    assert line.student == Identity("007", "Q, Ama", login="amaq", sis_id="007", canvas_id="910")
    assert columns_of(["id", "given name", "Last Name", "state", "late_penalty"])["family"] == 2


@pytest.mark.parametrize(
    ("data", "says"),
    [
        ("id,name\n007,a\n007,b\n", ":3: the same id as line 2"),
        ("id,email\n1,a@x.example\n2,a@x.example\n", ":3: the same email as line 2"),
        ("id,name\n1.23E+07,a\n", ":2: id is a number that a spreadsheet has shortened"),
        ("name,section\na,b\n", "no column id"),
        ("id,name\n,a\n", ":2: the line has no id"),
        ("id,state\n1,ill\n", "write one of excused"),
        ("id,late_penalty\n1,much\n", "no number of points"),
        ("id,name\n1,a,b\n", "line 2 has 3 cells"),
    ],
)
def test_roster_mistakes_name_their_line(tmp_path: Path, data: str, says: str) -> None:
    path = tmp_path / "roster.csv"
    path.write_text(data)
    with pytest.raises(RosterError, match=says) as caught:
        read_roster(path)
    assert str(path) in str(caught.value)
    assert ";" in str(caught.value)


def test_roster_marks(tmp_path: Path) -> None:
    path = tmp_path / "roster.csv"
    path.write_text("id,state,late_penalty,submitted\n12E45,excused,,\n2,,1.5,2026-09-14 10:00:00\n3,graded,,\n")
    first, second, third = read_roster(path)
    assert (first.student.id, first.state) == ("12E45", "excused")
    assert (second.late_penalty, second.submitted) == (Decimal("1.5"), "2026-09-14 10:00:00")
    assert third.state is None
