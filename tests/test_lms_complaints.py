"""The checklist of a grade exporter and every known complaint that a file can cause, with its concrete input.

25 and 26 of the complaints are about scores sent over LTI (tests/test_push_ags.py); what a file has in common with them
is tested here. docs/lms.md lists them all.
"""

from __future__ import annotations

import re
from decimal import Decimal
from pathlib import Path

import pytest
from test_lms_samples import (
    AMA,
    CLASS,
    INIGO,
    LOU,
    SHIRA,
    VARIANTS,
    blackboard,
    brightspace,
    canvas,
    graded,
    gradescope,
    moodle,
    nbgrader,
    plain,
    table,
    worksheet,
)

from autograder.lms import ColumnError, Grade, Identity, LmsError, Options, TemplateError, export
from autograder.lms.numbers import rounded, spelled
from autograder.lms.readers import canvas as read_canvas
from autograder.lms.readers import nbgrader as read_nbgrader
from autograder.lms.readers import plain as read_plain
from autograder.lms.roster import read_roster

ITEM = Options(column="551")


# -------------------------------------------------------------------------------------------------------- the checklist
@pytest.mark.parametrize("name", sorted(VARIANTS))
def test_0_1_only_the_grade_and_feedback_cells_change(name: str) -> None:
    target, data, options = VARIANTS[name]
    outcome = export(target, data, [graded(AMA, "3.5", feedback="Well done")], options)
    assert outcome.data is not None
    back = export(target, outcome.data, [graded(AMA, "9.5", feedback="Fine.")], options)
    assert back.data is not None
    strip = re.compile(rb"[.,\"]?[05\x00]*[\"\x00]*")  # 9.50 comes back as 9.5; everything else must be as it was
    assert len(back.data) <= len(data) <= len(back.data) + 4
    assert strip.sub(b"", back.data) == strip.sub(b"", data)


def test_0_2_identifiers_are_text() -> None:
    """Leading zeros, what looks like an exponent, twenty digits: found as they are, and never as numbers."""
    outcome = export("blackboard", blackboard().encode(), [graded(s, "5") for s in CLASS], Options(column="77001"))
    assert outcome.data is not None
    assert all(text in outcome.data for text in (b'"00451"', b'"12E45"', b'"12345678901234567890"', b'"0451"'))
    lookalikes = [Identity("451"), Identity("12e45"), Identity("1.2E46"), Identity("12345678901234567000")]
    outcome = export("blackboard", blackboard().encode(), [graded(s, "5") for s in lookalikes], Options(column="77001"))
    assert outcome.data is None
    assert outcome.reconciliation.counts["not_in_template"] == 4


@pytest.mark.parametrize("target", ["canvas", "moodle"])
def test_0_3_a_grade_is_never_blanked(target: str) -> None:
    data = (canvas() if target == "canvas" else moodle()).encode()
    options = ITEM if target == "canvas" else Options(column="Lab 1", now=1800000500)
    for state in ("missing", "not_assigned"):
        outcome = export(target, data, [Grade(AMA, state)], options)  # type: ignore[arg-type]
        assert outcome.data == data
        assert "stays" in outcome.reconciliation.of("kept")[0].reason
        assert any("clears" in note for note in outcome.reconciliation.notes)
    rows = export(target, data, [graded(LOU, "5")], Options(**{**vars(options), "changed_only": True}))  # type: ignore[arg-type]
    assert rows.data is not None
    assert b"Ama" not in rows.data
    assert b"D'Arcy" in rows.data
    assert b"Test" not in rows.data


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("0.00001", "0"),
        ("3.0000000000000004", "3"),
        ("1E+1", "10"),
        ("1E-7", "0"),
        ("7.125", "7.13"),
        ("2.675", "2.68"),
        ("0.004", "0"),
        ("9.995", "10"),
        ("00.50", "0.5"),
    ],
)
def test_0_4_plain_decimals_rounded_once(value: str, text: str) -> None:
    assert spelled(rounded(Decimal(value), 2)) == text
    outcome = export("canvas", canvas().encode(), [graded(LOU, value)], ITEM)
    assert outcome.data is not None
    seen = {one.key: one for one in read_canvas.read(outcome.data, "Lab 1: tiles, part (b) (551)")}
    assert seen["910002"].score == Decimal(text)
    assert outcome.reconciliation.of("written")[0].becomes == text
    assert outcome.reconciliation.of("written")[0].rounded == (Decimal(value) != Decimal(text))


def test_0_5_one_width_one_kind_of_line_end_utf_8() -> None:
    for broken, says in (
        (canvas().replace("Points Possible,,,,,10.00,50.00,", "Points Possible,,,,,10.00"), "line 3 has"),
        (canvas().replace("\n", "\r\n", 1), "mixes line ends"),
        ('\ufeff"Student"' + canvas().removeprefix("Student"), "byte order mark"),
    ):
        with pytest.raises(TemplateError, match=says):
            export("canvas", broken.encode(), [], ITEM)
    for encoding in ("utf-16", "cp1255"):
        with pytest.raises(TemplateError, match="UTF-8"):
            export("canvas", canvas().replace("Í", "I").replace("ñ", "n").encode(encoding), [], ITEM)


def test_0_6_keys_and_grades_are_never_escaped() -> None:
    outcome = export("csv", None, [graded(Identity("=1+1"), "5"), graded(AMA, "5")], Options(assignment="lab1"))
    assert outcome.data is None
    assert "begins like a formula" in outcome.reconciliation.of("refused")[0].reason
    kept = export("csv", None, [graded(Identity("=1+1"), "5"), graded(AMA, "5", feedback="=1+1")],
                  Options(assignment="lab1", allow_refused=True))  # fmt: skip
    assert kept.data is not None
    assert b"'=1+1" in kept.data
    assert b"\r\n00451," in kept.data
    negative = export("canvas", canvas().encode(), [graded(LOU, "-1")], Options(column="551", allow_out_of_range=True))
    assert b",-1,38.25" in (negative.data or b"")


def test_0_7_four_states_are_four_things() -> None:
    grades = [graded(LOU, "0"), Grade(AMA, "missing"), Grade(INIGO, "excused"), Grade(SHIRA, "not_assigned")]
    assert export("canvas", canvas().encode(), grades, ITEM).reconciliation.counts["written"] == 1
    new = export("csv", None, grades, Options(assignment="lab1"))
    assert new.data is not None
    lines = {line.split(",")[0]: line.split(",")[5:7] for line in new.data.decode().splitlines()[1:]}
    assert lines == {
        "00452": ["graded", "0"],
        "00451": ["missing", ""],
        "12E45": ["excused", ""],
        "12345678901234567890": ["not_assigned", ""],
    }
    nb = export("nbgrader", None, [graded(LOU, "0", submitted="2026-09-14 10:00:00"), *grades[1:]],
                Options(assignment="lab1"))  # fmt: skip
    assert nb.data is not None
    assert {one.key: one.kind for one in read_nbgrader.read(nb.data)} == {
        "lab1/00452": "score",
        "lab1/00451": "nothing",
    }
    for target, data in (("moodle", moodle()), ("moodle-worksheet", worksheet()), ("blackboard", blackboard())):
        column = {"moodle": "Lab 1", "blackboard": "77001"}.get(target)
        outcome = export(target, data.encode(), grades, Options(column=column, now=1800000500))  # type: ignore[arg-type]
        assert outcome.reconciliation.counts["written"] == 1, target
        assert outcome.reconciliation.counts["skipped"] == 1, target


def test_0_8_the_late_penalty_is_applied_once() -> None:
    late = graded(LOU, "8", late_penalty=Decimal("1.5"))
    here = export("canvas", canvas().encode(), [late], ITEM)
    there = export("canvas", canvas().encode(), [late], Options(column="551", late="leave"))
    assert [o.reconciliation.of("written")[0].becomes for o in (here, there)] == ["6.5", "8"]
    assert any("--late leave" in note for note in here.reconciliation.notes)
    nb = export("nbgrader", nbgrader().encode(), [late], Options(assignment="lab1"))
    assert b"lou.darcy@u.example,8,1.5,6.5,10.0" in (nb.data or b"")
    floor = export("canvas", canvas().encode(), [graded(LOU, "1", late_penalty=Decimal(4))], ITEM)
    assert floor.reconciliation.of("written")[0].becomes == "0"


def test_0_9_the_reconciliation_names_everyone() -> None:
    stranger, twin = Identity("99999"), Identity("00451", login="other")
    grades = [graded(LOU, "7.255"), graded(stranger, "5"), graded(AMA, "9.5"), graded(twin, "1"), graded(INIGO, "5"),
              graded(Identity("00455"), "10.01")]  # fmt: skip
    outcome = export("canvas", canvas().encode(), grades, ITEM)
    counts = outcome.reconciliation.counts
    assert outcome.data is None
    assert counts["ambiguous"] == 2
    assert counts["not_in_template"] == counts["would_erase"] == counts["out_of_range"] == counts["rounded"] == 1
    assert [e.row for e in outcome.reconciliation.of("not_in_grades")] == ["910004"]
    assert len(outcome.reconciliation.blocked) == 3


# ------------------------------------------------------------------------------------------------------- the complaints
def test_1_zeros_eaten_by_a_spreadsheet_are_recognised_not_guessed() -> None:
    damaged = Identity("451")
    other = graded(LOU, "5")
    outcome = export("canvas", canvas().encode(), [graded(damaged, "3"), other], ITEM)
    assert "leading zeros" in outcome.reconciliation.of("not_in_template")[0].reason
    loose = export(
        "canvas", canvas().encode(), [graded(damaged, "3"), other], Options(column="551", ignore_leading_zeros=True)
    )
    assert loose.data is None  # 00451 and the login 0451 both become 451: nobody is guessed
    assert loose.reconciliation.counts["ambiguous"] == 1
    clear = canvas().replace(",0451,", ",slevi,")
    loose = export(
        "canvas", clear.encode(), [graded(damaged, "3"), other], Options(column="551", ignore_leading_zeros=True)
    )
    assert {e.row: e.becomes for e in loose.reconciliation.of("written")} == {"910001": "3", "910002": "5"}
    assert any("without leading zeros" in e.reason for e in loose.reconciliation.of("written"))


def test_2_a_login_that_canvas_does_not_know_matches_nobody_and_says_so() -> None:
    mine = [graded(Identity(f"{s.login}@u.example", login=f"{s.login}@u.example"), "5") for s in CLASS]
    outcome = export("canvas", canvas().encode(), mine, ITEM)
    assert outcome.data is None
    assert "no student was found in the template by ID, SIS User ID, SIS Login ID" in outcome.reconciliation.blocked[0]


def test_3_the_columns_canvas_needs_stay_and_blank_sections_are_fine() -> None:
    data = canvas().replace(",A and B,", ",,")
    assert export("canvas", data.encode(), [graded(AMA, "1")], ITEM).data is not None
    short = table([["Student", "ID", "Section", "Lab (551)"], ["Quartey, Ama", "910001", "", ""]])
    assert export("canvas", short.encode(), [graded(AMA, "1")], Options()).data == short.encode()[:-1] + b"1\n"
    for wrong in (
        "Student,ID,SIS User ID,Section,Lab (551)\n",
        "Student,ID,SIS Login ID,Lab (551)\n",
        "Name,ID,Section,x (1)\n",
    ):
        with pytest.raises(TemplateError):
            export("canvas", wrong.encode(), [], Options())


def test_4_no_partial_points_into_a_complete_incomplete_assignment() -> None:
    data = canvas().replace("9.50,42.00", "complete,42.00").encode()
    outcome = export("canvas", data, [graded(LOU, "5")], ITEM)
    assert outcome.data is None
    assert "only 0 or all" in outcome.reconciliation.of("refused")[0].reason
    whole = export("canvas", data, [graded(LOU, "10"), graded(AMA, "10")], ITEM)
    assert [whole.reconciliation.counts[k] for k in ("written", "unchanged")] == [1, 1]  # type: ignore[index]


def test_5_several_students_without_a_row_are_all_listed() -> None:
    strangers = [graded(Identity(f"9000{n}"), "5") for n in range(3)]
    outcome = export("canvas", canvas().encode(), [*strangers, graded(LOU, "5")], ITEM)
    assert outcome.reconciliation.counts["not_in_template"] == 3
    assert outcome.data is not None
    assert b"90001" not in outcome.data


def test_6_the_manual_posting_row_with_its_blank_first_cell_is_no_student() -> None:
    for row in (
        ",,,,,,Manual Posting,,,",
        ",,,,,Manual Posting (scores hidden from instructors),Muted,,,",
        ",,,,,,,,,",
    ):
        data = canvas().replace(",,,,,,Manual Posting,,,", row)
        outcome = export("canvas", data.encode(), [graded(LOU, "5")], ITEM)
        assert outcome.data == data.replace("A,,38.25", "A,5,38.25").encode()
        assert outcome.reconciliation.counts["not_in_grades"] == 4


def test_7_a_byte_order_mark_hides_no_column(tmp_path: Path) -> None:
    outcome = export("csv", b"\xef\xbb\xbf" + plain().encode(), [graded(LOU, "5")], Options(match={"CSID": "id"}))
    assert outcome.data == b"\xef\xbb\xbf" + plain().replace("00452,", "00452,5").encode()
    roster = tmp_path / "roster.csv"
    roster.write_bytes("\ufeffid;name\n00451;Ama\n".encode())
    assert read_roster(roster)[0].student == Identity("00451", "Ama")


def test_8_whoever_has_no_grade_here_keeps_the_one_there() -> None:
    data = brightspace().replace(",,#", ",4,#").encode()
    outcome = export("brightspace", data, [graded(AMA, "3"), *(Grade(s, "missing") for s in (LOU, INIGO, SHIRA))])
    assert outcome.data == data.replace(b",9.5,", b",3,")
    zeroed = export("brightspace", data, [Grade(LOU, "missing")], Options(missing_as_zero=True))
    assert zeroed.data is None
    assert zeroed.reconciliation.counts["would_erase"] == 1
    allowed = export("brightspace", data, [Grade(LOU, "missing")], Options(missing_as_zero=True, allow_erase=True))
    assert allowed.reconciliation.of("written")[0].becomes == "0"


def test_9_spaces_around_a_key_do_not_matter(tmp_path: Path) -> None:
    roster = tmp_path / "roster.csv"
    roster.write_text(" id ,Name ,E-Mail\n 00452 , Lou ,lou.darcy@u.example \n")
    student = read_roster(roster)[0].student
    assert (student.id, student.email) == ("00452", "lou.darcy@u.example")
    data = moodle().replace("lou.darcy@u.example,", "Lou.Darcy@u.example ,").replace(",00452,", ",,")
    outcome = export("moodle", data.encode(), [graded(student, "5")], Options(column="Lab 1", now=1800000500))
    assert outcome.reconciliation.counts["written"] == 1


def test_10_words_and_small_numbers() -> None:
    data = moodle().replace("9.50", "sheep").encode()
    outcome = export("moodle", data, [graded(AMA, "0.01")], Options(column="Lab 1", now=1800000500))
    assert "no item with points" in outcome.reconciliation.of("refused")[0].reason
    with pytest.raises(TypeError):
        Grade(AMA, "graded", "sheep")  # type: ignore[arg-type]
    small = export("moodle", moodle().encode(), [graded(AMA, "0.01")], Options(column="Lab 1", now=1800000500))
    assert small.reconciliation.of("written")[0].becomes == "0.01"
    for value in ("NaN", "Infinity"):
        strange = export("canvas", canvas().encode(), [graded(LOU, value)], ITEM)
        assert strange.reconciliation.counts["refused"] == 1


def test_11_titles_that_differ_in_a_sign_and_points_with_a_fraction() -> None:
    header = [
        "OrgDefinedId",
        "Test #1 Points Grade <Numeric MaxPoints:55.5>",
        "Test #2 Points Grade <Numeric MaxPoints:55.5>",
    ]
    data = table([[*header, "End-of-Line Indicator"], ["#00451", "", "", "#"]]).encode()
    for title, row in (("Test #1", b"#00451,55.5,,#"), ("Test #2", b"#00451,,55.5,#")):
        outcome = export("brightspace", data, [graded(AMA, "55.5", "55.5")], Options(column=title))
        assert row in (outcome.data or b"")
    with pytest.raises(ColumnError, match=r"Test #1.*\n.*Test #2"):
        export("brightspace", data, [], Options())


def test_12_translated_headers_are_named_and_brackets_belong_to_titles() -> None:
    words = {"Identifier": "ID", "Full name": "Vollständiger Name", "ID number": "Matrikel", "Email address": "E-Mail",
             "Maximum grade": "Bestwertung", "Grade can be changed": "frei", "Feedback comments": "Text"}  # fmt: skip
    data = worksheet(comma=True).replace(",Grade,", ",Bewertung,").replace("Participant ", "Teilnehmer/in")
    for english, german in words.items():
        data = data.replace(english, german)
    with pytest.raises(ColumnError, match="Bewertung"):
        export("moodle-worksheet", data.encode(), [], Options())
    options = Options(column="Bewertung", match={"Matrikel": "sis_id"}, feedback_column="Text")
    outcome = export("moodle-worksheet", data.encode(), [graded(LOU, "7.5", feedback="ß")], options)
    assert ',"7,5","10,00",' in (outcome.data or b"").decode()
    odd = blackboard().replace("Lab 1 [Total", "Auto-y-Coevaluacion [10] [Total").encode()
    for column in ("Auto-y-Coevaluacion [10]", "77001"):
        assert export("blackboard", odd, [graded(LOU, "5")], Options(column=column)).data is not None


@pytest.mark.parametrize("delimiter", [",", ";"])
def test_13_14_decimal_commas_stay_commas_and_are_quoted_where_they_must(delimiter: str) -> None:
    data = canvas(delimiter, comma=True)
    outcome = export("canvas", data.encode(), [graded(LOU, "7.5")], ITEM)
    cell = '"7,5"' if delimiter == "," else "7,5"
    rest = '"38,25"' if delimiter == "," else "38,25"
    assert f"{delimiter}A{delimiter}{cell}{delimiter}{rest}{delimiter}" in (outcome.data or b"").decode()
    seen = {one.key: one.score for one in read_canvas.read(outcome.data or b"", "Lab 1: tiles, part (b) (551)")}
    assert seen["910002"] == Decimal("7.5")


def test_14_unquoted_decimal_commas_are_found_with_their_line() -> None:
    data = canvas(",", comma=True).replace('"42,00"', "42,00")
    with pytest.raises(TemplateError, match="line 4 has 11 cells"):
        export("canvas", data.encode(), [graded(LOU, "7.5")], ITEM)


def test_15_16_half_points_and_many_digits_are_kept_where_the_file_can() -> None:
    grades = [graded(AMA, "7.5"), graded(LOU, "0.12345")]
    exact = export("csv", None, grades, Options(assignment="lab1"))
    assert [one.score for one in read_plain.read(exact.data or b"")] == [Decimal("7.5"), Decimal("0.12345")]
    shown = export("canvas", canvas().encode(), grades, ITEM)
    assert [e.becomes for e in shown.reconciliation.of("written")] == ["7.5", "0.12"]
    more = export("canvas", canvas().encode(), grades, Options(column="551", decimals=5))
    assert [e.becomes for e in more.reconciliation.of("written")] == ["7.5", "0.12345"]


def test_17_a_binary_neighbour_is_written_as_the_number_that_was_meant() -> None:
    grade = graded(LOU, repr(0.1 + 0.2 + 2.7 + 4.4e-16), "4")
    outcome = export("csv", None, [grade], Options(assignment="lab1"))
    assert [one.score for one in read_plain.read(outcome.data or b"")] == [Decimal(3)]


def test_18_wait_listed_students_do_not_stop_the_others() -> None:
    outcome = export("gradescope", gradescope().encode(), [graded(Identity("77777"), "5"), graded(LOU, "5")],
                     Options(column="Lab 1"))  # fmt: skip
    assert outcome.reconciliation.counts["not_in_template"] == outcome.reconciliation.counts["written"] == 1
    assert outcome.data is not None


def test_19_zero_in_an_export_of_ungraded_work_is_not_taken_for_a_grade_of_ours() -> None:
    """Grades come from records only; a template's 0.0 is never read as one."""
    outcome = export("nbgrader", nbgrader().encode(), [Grade(INIGO, "missing")], Options(assignment="lab1"))
    assert outcome.data == nbgrader().encode()
    nothing = export("nbgrader", nbgrader().encode(), [graded(INIGO, "0")], Options(assignment="lab1"))
    assert "time of submission" in nothing.reconciliation.of("refused")[0].reason
    timed = graded(INIGO, "0", submitted="2026-09-14 10:00:00")
    real = export("nbgrader", nbgrader().encode(), [timed], Options(assignment="lab1"))
    assert {one.key: one.kind for one in read_nbgrader.read(real.data or b"")}["lab1/12E45"] == "score"


def test_20_a_zero_that_the_target_may_lose_is_announced() -> None:
    outcome = export("moodle-worksheet", worksheet().encode(), [graded(LOU, "0")], Options())
    assert outcome.reconciliation.of("written")[0].becomes == "0"
    assert any("exactly 0" in note for note in outcome.reconciliation.notes)


def test_21_a_comma_in_a_title_shifts_nothing() -> None:
    outcome = export("canvas", canvas().encode(), [graded(LOU, "5")], Options(column="Lab 1: tiles, part (b)"))
    assert b"A,5,38.25" in (outcome.data or b"")
    with pytest.raises(LmsError, match="needs quotes"):
        export("nbgrader", None, [graded(LOU, "5", submitted="2026-09-14 10:00:00")], Options(column="tiles, part b"))
    given = Identity("00461", given="Ann, Jr.", family="Doe")
    refused = export(
        "nbgrader", None, [graded(given, "5", submitted="2026-09-14 10:00:00")], Options(assignment="lab1")
    )
    assert refused.data is None
    assert "--to csv" in refused.reconciliation.of("refused")[0].reason


@pytest.mark.parametrize("target", ["moodle", "blackboard", "csv"])
def test_22_23_a_row_of_another_width_is_found_with_its_line(target: str) -> None:
    data = {"moodle": moodle(), "blackboard": blackboard(), "csv": plain()}[target].splitlines(keepends=True)
    for line in (data[2].rstrip("\n") + ",\n", data[2].rpartition(",")[0] + "\n"):
        broken = "".join([*data[:2], line, *data[3:]])
        with pytest.raises(TemplateError, match="line 3 has"):
            export(target, broken.encode(), [], Options(match={"CSID": "id"} if target == "csv" else {}))  # type: ignore[arg-type]


def test_24_a_comma_locale_does_not_make_integers() -> None:
    data = moodle(comma=True).encode()
    outcome = export("moodle", data, [graded(LOU, "7.75")], Options(column="Lab 1", now=1800000500))
    assert ',"7,75",' in (outcome.data or b"").decode()


def test_25_26_only_rows_of_the_lms_are_graded() -> None:
    """What comes late or from someone outside the course changes no row, and no row is invented."""
    outsider = graded(Identity("88888", email="guest@u.example"), "5", late_penalty=Decimal(1))
    outcome = export("moodle", moodle().encode(), [outsider, graded(LOU, "5")], Options(column="Lab 1", now=1800000500))
    assert outcome.data is not None
    assert outcome.data.count(b"\n") == moodle().count("\n")
    assert [e.student for e in outcome.reconciliation.of("not_in_template")] == ["88888"]


def test_the_list_in_the_documentation_is_complete() -> None:
    """Every rule and complaint is there, with tests that exist; and every numbered test is in the list."""
    root = Path(__file__).parent.parent
    listed = (root / "docs/lms.md").read_text(encoding="utf-8").partition("## What is known to go wrong")[2]
    numbers = [int(n) for cell in re.findall(r"^\| ([\d, ]+) \|", listed, re.MULTILINE) for n in cell.split(", ")]
    assert numbers == list(range(1, 27))
    tests = {name for name in globals() if re.match(r"test_\d", name)}
    assert set(re.findall(r"`(test_\w+)`", listed)) == tests
    assert all((root / place).is_file() for place in re.findall(r"`(tests/\w+\.py)`", listed))
