"""Synthetic exports of every LMS in the variants that occur, and what holds for all: nothing else changes.

The other test_lms modules take their people and templates from here.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from decimal import Decimal

import pytest

from autograder.lms import Grade, Identity, Options, Target, export

CLASS = [
    Identity("00451", given="Ama", family="Quartey", login="aquartey", email="ama.quartey@u.example", sis_id="00451",
             canvas_id="910001", moodle_participant="70001"),
    Identity("00452", given='Lou "Lulu"', family="D'Arcy", login="ldarcy", email="lou.darcy@u.example", sis_id="00452",
             canvas_id="910002", moodle_participant="70002"),
    Identity("12E45", given="Íñigo", family="Peña Ruiz", login="ipena", email="inigo.pena@u.example", sis_id="12E45",
             canvas_id="910003", moodle_participant="70003"),
    Identity("12345678901234567890", given="שירה", family="לוי", login="0451", email="shira.levi@u.example",
             sis_id="12345678901234567890", canvas_id="910004", moodle_participant="70004"),
]  # fmt: skip
AMA, LOU, INIGO, SHIRA = CLASS


def graded(student: Identity, score: str, full: str | None = "10", **more: object) -> Grade:
    return Grade(student, "graded", Decimal(score), None if full is None else Decimal(full), **more)  # type: ignore[arg-type]


def canvas(delimiter: str = ",", comma: bool = False) -> str:
    """Ama 9.50, Lou blank, Íñigo EX, Shira N/A, the Test Student; item 551 of 10 points, item 552 manually posted."""
    point = "," if comma else "."
    tail = ["Labs Current Score", "Current Score", "Final Score"]
    rows = [
        [
            "Student",
            "ID",
            "SIS User ID",
            "SIS Login ID",
            "Section",
            "Lab 1: tiles, part (b) (551)",
            "Lab 2 (552)",
            *tail,
        ],
        ["", "", "", "", "", "", "Manual Posting", "", "", ""],
        ["    Points Possible", "", "", "", "", f"10{point}00", f"50{point}00", *["(read only)"] * 3],
        ["Quartey, Ama", "910001", "00451", "aquartey", "A and B", f"9{point}50", f"42{point}00", "", "", ""],
        ['D\'Arcy, Lou "Lulu"', "910002", "00452", "ldarcy", "A", "", f"38{point}25", "", "", ""],
        ["Peña Ruiz, Íñigo", "910003", "12E45", "ipena", "A", "EX", f"0{point}00", "", "", ""],
        ["לוי, שירה", "910004", "12345678901234567890", "0451", "B", "N/A", "", "", "", ""],
        ['="=2+3, Eve"', "910005", "00455", "eve", "B", f"0{point}00", f"50{point}00", "", "", ""],
        ["Student, Test", "910999", "", "f" * 40, "A", "", "", "", "", ""],
    ]
    return table(rows, delimiter)


def moodle(comma: bool = False, delimiter: str = ",") -> str:
    point = "," if comma else "."
    return table(
        [
            ["First name", "Last name", "ID number", "Institution", "Email address", "Assignment: Lab 1 (Real)",
             "Assignment: Lab 1 (Feedback)", "Quiz: Start (Real)", "Last downloaded from this course"],
            ["Ama", "Quartey", "00451", "", "ama.quartey@u.example", f"9{point}50", "Fine.", f"7{point}00",
             "1800000000"],
            ['Lou "Lulu"', "D'Arcy", "00452", "", "lou.darcy@u.example", "-", "", "-", "1800000000"],
            ["Íñigo", "Peña Ruiz", "12E45", "", "inigo.pena@u.example", "", "", f"3{point}00", "1800000000"],
            ["שירה", "לוי", "12345678901234567890", "", "shira.levi@u.example", f"0{point}00", "", "-", "1800000000"],
        ],
        delimiter,
    )  # fmt: skip


def worksheet(comma: bool = False) -> str:
    point = "," if comma else "."
    full = f"10{point}00"
    late = "Monday, 14 September 2026, 9:10 AM"
    return table(
        [
            ["Identifier", "Full name", "ID number", "Email address", "Status", "Grade", "Maximum grade",
             "Grade can be changed", "Last modified (submission)", "Last modified (grade)", "Feedback comments"],
            ["Participant 70001", "Ama Quartey", "00451", "ama.quartey@u.example", "Graded", f"9{point}50", full,
             "Yes", late, late, "Fine."],
            ["Participant 70002", 'Lou "Lulu" D\'Arcy', "00452", "lou.darcy@u.example", "Submitted", "", full, "Yes",
             late, "-", ""],
            ["Participant 70003", "Íñigo Peña Ruiz", "12E45", "inigo.pena@u.example", "No submission", "", full, "Yes",
             "-", "-", ""],
            ["Participant 70004", "שירה לוי", "12345678901234567890", "shira.levi@u.example", "Submitted", "", full,
             "No", late, "-", ""],
        ]
    )  # fmt: skip


def blackboard(delimiter: str = ",", quote: bool = True) -> str:
    return table(
        [
            ["Last Name", "First Name", "Username", "Student ID", "Last Access", "Availability",
             "Lab 1 [Total Pts: 10 Score] |77001", "Lab 2 [EXTRA CREDIT] [Total Pts: 50 Score] |77002",
             "Sum [Total Pts: up to 60 Score] |77000"],
            ["Quartey", "Ama", "aquartey", "00451", "2026-09-15 09:10:00", "Yes", "9.50", "42.00", "51.50"],
            ["D'Arcy", 'Lou "Lulu"', "ldarcy", "00452", "2026-09-15 08:00:00", "Yes", "", "38.25", "38.25"],
            ["Peña Ruiz", "Íñigo", "ipena", "12E45", "", "Yes", "", "", ""],
            ["לוי", "שירה", "0451", "12345678901234567890", "", "Yes", "10.00", "", "10.00"],
        ],
        delimiter,
        csv.QUOTE_ALL if quote else csv.QUOTE_MINIMAL,
    )  # fmt: skip


def brightspace() -> str:
    return table(
        [
            ["OrgDefinedId", "Username", "Last Name", "First Name",
             "Lab 1 Points Grade <Numeric MaxPoints:10 Weight:5 Category:Labs CategoryWeight:40>",
             "End-of-Line Indicator"],
            ["#00451", "#aquartey", "Quartey", "Ama", "9.5", "#"],
            ["#00452", "#ldarcy", "D'Arcy", 'Lou "Lulu"', "", "#"],
            ["#12E45", "#ipena", "Peña Ruiz", "Íñigo", "", "#"],
            ["#12345678901234567890", "#0451", "לוי", "שירה", "", "#"],
        ]
    )  # fmt: skip


def gradescope() -> str:
    return table(
        [
            ["First Name", "Last Name", "SID", "Email", "Sections", "Lab 1", "Lab 1 - Max Points",
             "Lab 1 - Submission Time", "Lab 2", "Lab 2 - Max Points"],
            ["Ama", "Quartey", "00451", "ama.quartey@u.example", "A", "9.5", "10.0", "2026-09-14 23:02:11", "", "50"],
            ['Lou "Lulu"', "D'Arcy", "00452", "lou.darcy@u.example", "A", "", "10.0", "", "", "50"],
            ["Íñigo", "Peña Ruiz", "12E45", "inigo.pena@u.example", "A", "", "10.0", "", "", "50"],
            ["שירה", "לוי", "12345678901234567890", "shira.levi@u.example", "B", "", "10.0", "", "", "50"],
        ]
    )  # fmt: skip


def nbgrader() -> str:
    late = "2026-09-14 23:59:00"
    lines = [
        "assignment,duedate,timestamp,student_id,last_name,first_name,email,raw_score,late_submission_penalty,score,max_score",
        f"lab1,{late},2026-09-14 23:02:11,00451,Quartey,Ama,ama.quartey@u.example,9.5,0.0,9.5,10.0",
        f'lab1,{late},2026-09-15 02:04:00,00452,D\'Arcy,Lou "Lulu",lou.darcy@u.example,9.25,1.0,8.25,10.0',
        f"lab1,{late},,12E45,Peña Ruiz,Íñigo,inigo.pena@u.example,0.0,0.0,0.0,10.0",
        f"lab1,{late},,12345678901234567890,לוי,שירה,shira.levi@u.example,0.0,0.0,0.0,10.0",
        "lab2,,,00451,Quartey,Ama,ama.quartey@u.example,0.0,0.0,0.0,50.0",
    ]
    return "".join(line + "\n" for line in lines)


def plain() -> str:
    return table(
        [
            ["CSID", "GRADE", "COMMENT"],
            ["00451", "9.5", "Fine."],
            ["00452", "", ""],
            ["12E45", "", ""],
            ["12345678901234567890", "", ""],
        ]
    )


def table(rows: list[list[str]], delimiter: str = ",", quoting: int = csv.QUOTE_MINIMAL) -> str:
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter, quoting=quoting, lineterminator="\n").writerows(rows)  # type: ignore[arg-type]
    return out.getvalue()


Variant = tuple[Target, bytes, Options]


def _variants() -> dict[str, Variant]:
    item = Options(column="551", now=1800000500)
    bb = Options(column="77001")
    lab1 = Options(column="Lab 1", now=1800000500)
    own = Options(match={"CSID": "id"})
    crlf: Callable[[str], str] = lambda text: text.replace("\n", "\r\n")  # noqa: E731
    return {
        "canvas": ("canvas", canvas().encode(), item),
        "canvas bom": ("canvas", b"\xef\xbb\xbf" + canvas().encode(), item),
        "canvas semicolon": ("canvas", canvas(";", comma=True).encode(), item),
        "canvas crlf, no last line end": ("canvas", crlf(canvas()).rstrip().encode(), item),
        "moodle": ("moodle", moodle().encode(), lab1),
        "moodle comma": ("moodle", moodle(True, ";").encode("utf-8-sig"), lab1),
        "moodle tab": ("moodle", moodle(False, "\t").encode(), lab1),
        "moodle cp1252": ("moodle", moodle().replace("שירה", "Shira").replace("לוי", "Levi").encode("cp1252"),
                          Options(column="Lab 1", encoding="cp1252", now=1800000500)),
        "worksheet": ("moodle-worksheet", worksheet().encode(), Options()),
        "worksheet comma": ("moodle-worksheet", crlf(worksheet(True)).encode("utf-8-sig"), Options()),
        "blackboard": ("blackboard", b"\xef\xbb\xbf" + blackboard().encode(), bb),
        "blackboard utf-16 tab": ("blackboard", b"\xff\xfe" + blackboard("\t").encode("utf-16-le"), bb),
        "blackboard utf-16 big": ("blackboard", b"\xfe\xff" + blackboard("\t").encode("utf-16-be"), bb),
        "blackboard utf-16 without mark": ("blackboard", blackboard("\t", False).encode("utf-16-le"), bb),
        "blackboard tab unquoted": ("blackboard", blackboard("\t", False).encode(), bb),
        "brightspace": ("brightspace", brightspace().encode(), Options()),
        "gradescope": ("gradescope", gradescope().encode(), lab1),
        "nbgrader": ("nbgrader", nbgrader().encode(), Options(assignment="lab1")),
        "csv": ("csv", b"\xef\xbb\xbf" + crlf(plain()).encode(), own),
        "csv cr": ("csv", plain().replace("\n", "\r").encode(), own),
    }  # fmt: skip


VARIANTS = _variants()


@pytest.fixture(params=sorted(VARIANTS))
def variant(request: pytest.FixtureRequest) -> Variant:
    return VARIANTS[request.param]


def test_without_a_changed_grade_the_template_comes_back(variant: Variant) -> None:
    target, data, options = variant
    for grades in ([], [graded(AMA, "9.5")], [graded(AMA, "9.500"), Grade(LOU, "missing")]):
        outcome = export(target, data, grades, options)
        assert outcome.data == data
        assert outcome.reconciliation.counts["unchanged"] == min(len(grades), 1)


def test_one_grade_changes_one_cell(variant: Variant) -> None:
    target, data, options = variant
    outcome = export(target, data, [graded(LOU, "7.25")], options)
    assert outcome.data is not None, outcome.reconciliation.blocked
    encoding = "utf-16" if target == "blackboard" and b"\0" in data else options.encoding or "utf-8"
    if data[1:2] == b"\0":
        encoding = "utf-16-le"
    before, after = (text.decode(encoding).splitlines(keepends=True) for text in (data, outcome.data))
    assert len(before) == len(after)
    changed = [(old, new) for old, new in zip(before, after) if old != new]
    assert len(changed) == 1
    old, new = changed[0]
    assert "Lou" in old or "00452" in old
    assert "7.25" in new or "7,25" in new
    if target != "nbgrader":  # there the raw score and the penalty stand beside the score
        written = next(text for text in ("7.25", "7,25") if text in new)
        start = new.index(written)
        assert new[:start].rstrip('"') == old[: len(new[:start].rstrip('"'))]
        rest = new[start + len(written) :].lstrip('"')
        assert old.endswith(rest)
