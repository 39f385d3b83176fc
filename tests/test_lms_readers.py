"""The readers by themselves: each quirk of an LMS with the input that shows it."""

from __future__ import annotations

from decimal import Decimal

import pytest

from autograder.lms.readers import blackboard, brightspace, canvas, gradescope, moodle, nbgrader, plain, worksheet
from autograder.lms.readers.php import as_float
from autograder.lms.readers.seen import Rejected

HEADER = "Student,ID,Section,Lab (7)\n    Points Possible,,,10\n"


@pytest.mark.parametrize(
    ("cell", "kind", "score"),
    [
        ("7.5", "score", "7.5"),
        ('"7,5"', "score", "7.5"),
        ('"1,234.50"', "score", "1234.50"),
        ('"1,234"', "score", "1.234"),
        ("5.", "score", "5"),
        ('" 7,5"', "no_score", None),
        (" 7.5 ", "score", "7.5"),
        ("85%", "score", "8.5"),
        ("EX", "excused", None),
        ("excused", "excused", None),
        ("", "clear", None),
        ("-", "clear", None),
        ("N/A", "no_score", None),
        ("1e-05", "no_score", None),
        ("9/10", "no_score", None),
        ("8 pts", "no_score", None),
        ("complete", "score", "10"),
        ("Complete", "no_score", None),
        ("fail", "score", "0"),
        ("-2", "score", "-2"),
        ("12", "score", "12"),
    ],
)
def test_canvas_cells(cell: str, kind: str, score: str | None) -> None:
    (seen,) = canvas.read(f"{HEADER}x,1,,{cell}\n".encode(), "Lab (7)")
    assert (seen.kind, seen.score) == (kind, None if score is None else Decimal(score))


@pytest.mark.parametrize(
    "data",
    [
        HEADER.replace(",Section", "").encode(),
        HEADER.replace("ID,Section", "ID,SIS User ID,Section").encode(),
        b"Student,ID,Lab (7)\n",
        b'\xef\xbb\xbf"Student",ID,Section,Lab (7)\n',
        HEADER.replace("\n", "\r\n", 1).encode(),
        HEADER.encode("utf-16"),
        b"Student,ID,Section,Lab (7)\n    Points Possible\nx,1,,5\n",
        HEADER.replace("Lab (7)", "Lab(7)").encode(),
        HEADER.replace(",10", ",(read only)").encode(),
    ],
)  # fmt: skip
def test_canvas_refuses(data: bytes) -> None:
    with pytest.raises(Rejected):
        canvas.read(data, "Lab (7)")


def test_canvas_rewrites_ids_too() -> None:
    data = f"{HEADER.replace('ID', 'ID,SIS User ID,SIS Login ID').replace(',,,', ',,,,,')}x,,2024.01.05,l,,5\n"
    assert canvas.read(data.encode(), "Lab (7)")[0].key == "202401.05"


def test_php_numbers_and_cells() -> None:
    assert [as_float(t) for t in ("7,5", "-", "N/A", "85%", "1e3x", ".5", "")] == [
        "7",
        "0",
        "0",
        "85",
        "1e3",
        ".5",
        "0",
    ]
    head = "ID number,Lab\n"
    for cell in ("7,5", "N/A", "EX", "85%"):
        with pytest.raises(Rejected, match="incorrect"):
            moodle.read(f'{head}1,"{cell}"\n'.encode(), "Lab")
    assert moodle.read(f'{head}1,"1 007,5"\n'.encode(), "Lab", sign=",")[0].score == Decimal("1007.5")
    assert [s.kind for s in moodle.read(f"{head}1,-\n2,\n".encode(), "Lab")] == ["clear", "clear"]
    with pytest.raises(Rejected, match="bounds"):
        moodle.read(f"{head}1,11\n".encode(), "Lab", maximum=Decimal(10))
    swallowed = b'ID number,Lab,F\n1,5,"ends in \\"\n2,5,b\n'
    assert [one.key for one in moodle.read(swallowed, "Lab")] == ["1"]
    with pytest.raises(Rejected, match="numbers of columns"):
        moodle.read(b'ID number,F,Lab\n1,"ends in \\",5\n2,b,5\n', "Lab")
    with pytest.raises(Rejected, match="within a year"):
        moodle.read(b"ID number,Lab,Last downloaded from this course\n1,5,x\n", "Lab", now=1e9)


def test_worksheet_casts_skips_and_cuts() -> None:
    head = "Identifier,Grade,Maximum grade,Grade can be changed,Last modified (grade),Feedback comments\n"

    def one(
        cell: str, key: str = "Participant 51", can: str = "Yes", **more: object
    ) -> tuple[str, str, Decimal | None]:
        (seen,) = worksheet.read(f'{head}{key},"{cell}",10.00,{can},-,\n'.encode(), **more)  # type: ignore[arg-type]
        return seen.key, seen.kind, seen.score

    assert one("7,5") == ("51", "score", Decimal(7))
    assert one("7,5", sign=",") == ("51", "score", Decimal("7.5"))
    assert [one(text)[2] for text in ("-", "N/A", "EX")] == [Decimal(0)] * 3
    assert one("85%")[2] == Decimal(85)
    assert one("")[1] == one("5", can="No")[1] == one("-1")[1] == one("11", maximum=Decimal(10))[1] == "nothing"
    assert one("0", zero_is_lost=True)[1] == "nothing"
    assert one("5", key="12345")[0] == ""
    assert one("5", key="Teilnehmer/in12345")[0] == "n12345"
    with pytest.raises(Rejected):
        worksheet.read(head.replace("Grade,", "Bewertung,", 1).encode())


def test_blackboard_columns_without_an_id_and_rows_without_a_user() -> None:
    head = "Username,Lab [Total Pts: 10 Score] |7\n"
    title = "Lab [Total Pts: 10 Score] |7"
    assert blackboard.read(f"{head}a,5\nb,\nc,x\n".encode("utf-16"), title)[0].score == Decimal(5)
    assert [s.kind for s in blackboard.read(f"{head}a,5\nb,\nc,x\n".encode(), title)] == [
        "score",
        "nothing",
        "no_score",
    ]
    for data, name in (
        (head.encode(), "Lab"),
        (f"{head},5\n".encode(), title),
        (b"Name,x |7\n", "x |7"),
        (f"{head}a\n".encode(), title),
    ):
        with pytest.raises(Rejected):
            blackboard.read(data, name)


def test_brightspace_caps_and_needs_its_end() -> None:
    title = "Lab Points Grade <Numeric MaxPoints:10>"
    head = f"OrgDefinedId,{title},End-of-Line Indicator\n"
    assert [s.score for s in brightspace.read(f"{head}#007,12,#\n#008,,#\n".encode(), title)] == [Decimal(10), None]
    assert brightspace.read(f"{head}#007,12,#\n".encode(), title, can_exceed=True)[0].score == Decimal(12)
    assert brightspace.read(f"{head}##007,1,#\n".encode(), title)[0].key == "#007"
    for data in (f"{head}#007,12\n", f"{head}#007,12,\n", f"Name,{title}\nx,1\n"):
        with pytest.raises(Rejected):
            brightspace.read(data.encode(), title)


def test_tables_without_an_lms() -> None:
    assert [s.kind for s in gradescope.read(b"SID,Total Score\n1,5\n2,\n3,x\n", "Total Score")] == [
        "score",
        "nothing",
        "no_score",
    ]
    head = "assignment,timestamp,student_id,raw_score,late_submission_penalty,score\n"
    seen = nbgrader.read(f"{head}h,,1,0.0,0.0,0.0\nh,t,2,0.0,0.0,0.0\nh,t,3,5,1,4\n".encode())
    assert [s.kind for s in seen] == ["nothing", "score", "score"]
    for bad in ("h,t,1,5,1,4,\n", "h,t,1,5,1,3\n"):
        with pytest.raises(Rejected):
            nbgrader.read(f"{head}{bad}".encode())
    with pytest.raises(Rejected):
        plain.read(b'id,score\n1,"5"x\n')
