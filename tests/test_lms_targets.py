"""What is particular to one LMS: its columns, its students, its words."""

from __future__ import annotations

from decimal import Decimal

import pytest
from test_lms_samples import (
    AMA,
    CLASS,
    INIGO,
    LOU,
    SHIRA,
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

from autograder.lms import ColumnError, Grade, Identity, LmsError, Options, Outcome, TemplateError, export
from autograder.lms.readers import moodle as read_moodle
from autograder.lms.readers import worksheet as read_worksheet
from autograder.lms.reconciliation import shown

ITEM = Options(column="551")
LAB = Options(column="Lab 1", now=1800000500)


def statuses(outcome: Outcome) -> dict[str, int]:
    return {status: count for status, count in outcome.reconciliation.counts.items() if count and status != "rounded"}


# --------------------------------------------------------------------------------------------------------------- canvas
@pytest.mark.parametrize(
    "column", ["551", "Lab 1: tiles, part (b)", "Lab 1: tiles, part (b) (551)", "lab 1: tiles,  part (B)"]
)
def test_canvas_finds_the_assignment_by_id_or_title(column: str) -> None:
    assert export("canvas", canvas().encode(), [], Options(column=column)).reconciliation.column.endswith("(551)")


def test_canvas_lists_the_candidates_when_none_or_several_fit() -> None:
    for column in (None, "Lab", "553", "Current Score"):
        with pytest.raises(ColumnError) as caught:
            export("canvas", canvas().encode(), [], Options(column=column))
        assert caught.value.candidates == ["Lab 1: tiles, part (b) (551)", "Lab 2 (552)"]
    twice = canvas().replace("Lab 2 (552)", '"Lab 1: tiles, part (b) (552)"').encode()
    with pytest.raises(ColumnError, match="stands for 2 columns"):
        export("canvas", twice, [], Options(column="Lab 1: tiles, part (b)"))
    same = canvas().replace("Lab 2 (552)", '"Lab 1: tiles, part (b) (551)"').encode()
    with pytest.raises(ColumnError):
        export("canvas", same, [], ITEM)


def test_canvas_takes_the_assignment_called_like_ours_but_never_guesses() -> None:
    named = canvas().replace("Lab 2 (552)", "hw1 (552)").encode()
    assert export("canvas", named, [], Options(assignment="hw1")).reconciliation.column == "hw1 (552)"
    with pytest.raises(ColumnError):
        export("canvas", named, [], Options(assignment="hw"))


def test_canvas_drops_titles_that_look_like_totals_and_read_only_columns() -> None:
    survey = canvas().replace("Lab 2 (552)", "Final Grade survey (552)").encode()
    with pytest.raises(TemplateError, match="rename the assignment"):
        export("canvas", survey, [], Options(column="552"))
    closed = canvas().replace("10.00,50.00", "10.00,(read only)").encode()
    assert export("canvas", closed, [], Options()).reconciliation.column.endswith("(551)")


def test_canvas_excuses_with_ex_and_never_over_a_grade() -> None:
    done = export("canvas", canvas().encode(), [Grade(LOU, "excused"), Grade(INIGO, "excused")], ITEM)
    assert statuses(done) == {"written": 1, "unchanged": 1, "not_in_grades": 3}
    assert b"ldarcy,A,EX,38.25" in (done.data or b"")
    held = export("canvas", canvas().encode(), [Grade(AMA, "excused")], ITEM)
    assert held.data is None
    assert statuses(held)["would_erase"] == 1
    allowed = export("canvas", canvas().encode(), [Grade(AMA, "excused")], Options(column="551", allow_erase=True))
    assert b"A and B,EX,42.00" in (allowed.data or b"")


def test_canvas_keeps_an_excuse_and_an_unassigned_student() -> None:
    outcome = export("canvas", canvas().encode(), [graded(INIGO, "5"), graded(SHIRA, "5")], ITEM)
    assert outcome.data is None
    assert statuses(outcome) == {"would_erase": 1, "skipped": 1, "not_in_grades": 3}
    allowed = export(
        "canvas", canvas().encode(), [graded(INIGO, "5"), graded(SHIRA, "5")], Options(column="551", allow_erase=True)
    )
    assert b"0451,B,N/A," in (allowed.data or b"")
    assert b"ipena,A,5,0.00" in (allowed.data or b"")


def test_canvas_never_touches_the_test_student() -> None:
    test = Identity("910999", name="Student, Test", canvas_id="910999")
    outcome = export(
        "canvas", canvas().encode(), [graded(test, "5"), graded(LOU, "5")], Options(column="551", match_names=True)
    )
    assert statuses(outcome)["not_in_template"] == 1
    assert b"ffff,A,,," in (outcome.data or b"")


def test_canvas_range_and_another_maximum() -> None:
    over = export("canvas", canvas().encode(), [graded(LOU, "10.004"), graded(AMA, "-0.5")], ITEM)
    assert over.data is None
    assert statuses(over)["out_of_range"] == 2
    other = export("canvas", canvas().encode(), [graded(LOU, "80", "100")], ITEM)
    assert "out of 100 here, out of 10 there" in other.reconciliation.of("out_of_range")[0].reason
    third = export("canvas", canvas().encode(), [graded(LOU, "1", "3")], Options(column="551", rescale=True))
    assert third.reconciliation.of("rounded")[0].becomes == "3.33"
    extra = export("canvas", canvas().encode(), [graded(LOU, "12")], Options(column="551", allow_out_of_range=True))
    assert b"A,12,38.25" in (extra.data or b"")
    unknown = export("canvas", canvas().encode(), [graded(LOU, "9", None)], ITEM)
    assert statuses(unknown)["written"] == 1


def test_canvas_first_and_last_name_columns_and_guarded_names() -> None:
    pair = canvas().replace("Student,ID", "LastName,FirstName,ID").replace('"Quartey, Ama"', "Quartey,Ama")
    rows = pair.splitlines(keepends=True)
    two = [rows[0], "," + rows[1], rows[2].replace("Possible,", "Possible,,"), rows[3]]
    assert b"9,42.00" in (export("canvas", "".join(two).encode(), [graded(AMA, "9")], ITEM).data or b"")
    eve = graded(Identity("someone", name="=2+3, Eve"), "5")
    outcome = export("canvas", canvas().encode(), [eve], Options(column="551", match_names=True))
    assert b'"=""=2+3, Eve""",910005,00455,eve,B,5,50.00' in (outcome.data or b"")


# --------------------------------------------------------------------------------------------------------------- moodle
def test_moodle_grade_and_feedback_go_together() -> None:
    outcome = export("moodle", moodle().encode(), [graded(LOU, "7.5", feedback="Tiles ok,\nmasks not")], LAB)
    title, said = "Assignment: Lab 1 (Real)", "Assignment: Lab 1 (Feedback)"
    seen = {one.key: one for one in read_moodle.read(outcome.data or b"", title, feedback=said, now=1800000500)}
    assert (seen["00452"].score, seen["00452"].feedback) == (Decimal("7.5"), "Tiles ok,\nmasks not")
    assert seen["00451"].score == Decimal("9.50")


@pytest.mark.parametrize(
    "text", ["ends in \\", 'a \\" quote', "\\\\", "C:\\", '"', "=1+1", "'", "a\r\nb", "\x00\x1b[31m", "ש\u202e"]
)
def test_moodle_feedback_survives_php(text: str) -> None:
    for target, data, options in (("moodle", moodle(), LAB), ("moodle-worksheet", worksheet(), Options())):
        outcome = export(target, data.encode(), [graded(LOU, "7.5", feedback=text)], options)  # type: ignore[arg-type]
        assert outcome.data is not None
        if target == "moodle":
            seen = read_moodle.read(outcome.data, "Assignment: Lab 1 (Real)", feedback="Assignment: Lab 1 (Feedback)")
        else:
            seen = read_worksheet.read(outcome.data)
        assert len(seen) == 4
        assert [one.score for one in seen if one.key in ("00452", "70002")] == [Decimal("7.5")]
        said = next(one.feedback or "" for one in seen if one.key in ("00452", "70002"))
        assert said.replace(" ", "") == text.replace("\r\n", "\n").replace("\x00\x1b", "").replace(" ", "")


def test_an_empty_feedback_would_erase_and_none_leaves_the_text() -> None:
    kept = export("moodle-worksheet", worksheet().encode(), [graded(AMA, "9.5")], Options())
    assert kept.data == worksheet().encode()
    erased = export("moodle-worksheet", worksheet().encode(), [graded(AMA, "9.5", feedback="")], Options())
    assert erased.data is None
    assert statuses(erased)["would_erase"] == 1
    off = export("moodle-worksheet", worksheet().encode(), [graded(AMA, "9.5", feedback="")], Options(feedback=False))
    assert off.data == worksheet().encode()


def test_moodle_template_that_moodle_would_reject() -> None:
    for broken, says in (
        (moodle().replace("Fine.", '"ends in \\"'), "backslash"),
        (moodle().replace(",Fine.", ""), "cells"),
    ):
        with pytest.raises(TemplateError, match=says):
            export("moodle", broken.encode(), [], LAB)
    for stamp in ("2100000000", "Monday", "1700000000"):
        old = export("moodle", moodle().replace("1800000000", stamp).encode(), [], LAB)
        assert any("force import" in note for note in old.reconciliation.notes)
    assert not any("force import" in note for note in export("moodle", moodle().encode(), [], LAB).reconciliation.notes)


def test_moodle_percentages_and_feedback_are_no_grade_columns() -> None:
    data = moodle().replace("Quiz: Start (Real)", "Assignment: Lab 1 (Percentage)").encode()
    assert export("moodle", data, [], Options(now=1800000500)).reconciliation.column == "Assignment: Lab 1 (Real)"


def test_moodle_without_a_template_is_made_from_the_roster() -> None:
    grades = [graded(LOU, "7.5", feedback="=1+1"), Grade(AMA, "missing"), Grade(INIGO, "excused")]
    outcome = export("moodle", None, grades, Options(assignment="hw1"))
    assert outcome.data == b"ID number,Email address,hw1,Feedback: hw1\n00452,lou.darcy@u.example,7.5,=1+1\n"
    assert statuses(outcome) == {"written": 1, "kept": 2}


def test_worksheet_rows_that_moodle_would_pass_over_are_not_written() -> None:
    outcome = export("moodle-worksheet", worksheet().encode(), [graded(SHIRA, "5"), graded(LOU, "5")], Options())
    assert statuses(outcome) == {"written": 1, "skipped": 1, "not_in_grades": 2}
    for score in ("11", "-1"):
        allowed = Options(allow_out_of_range=True)
        silent = export("moodle-worksheet", worksheet().encode(), [graded(LOU, score)], allowed)
        assert statuses(silent)["refused"] == 1
    scale = worksheet().replace("Maximum grade", "Scale").encode()
    with pytest.raises(TemplateError, match="scale"):
        export("moodle-worksheet", scale, [], Options())


def test_worksheet_people_are_found_by_number_address_participant_or_unique_name() -> None:
    for who in (
        Identity("x", sis_id="00452"),
        Identity("x", email="LOU.darcy@u.example"),
        Identity("x", moodle_participant="70002"),
    ):
        assert statuses(export("moodle-worksheet", worksheet().encode(), [graded(who, "5")]))["written"] == 1
    bare = "\n".join(",".join(line.split(",")[:2] + line.split(",")[4:]) for line in worksheet().splitlines())
    outcome = export("moodle-worksheet", bare.encode(), [graded(Identity("q", name="quartey,  AMA"), "5")])
    assert outcome.reconciliation.of("written")[0].reason == "matched by name"
    twins = bare.replace("Íñigo Peña Ruiz", "Ama Quartey")
    outcome = export("moodle-worksheet", twins.encode(), [graded(Identity("q", name="Ama Quartey"), "5")])
    assert (outcome.data, statuses(outcome)["ambiguous"]) == (None, 1)


def test_a_blind_worksheet_is_not_joined_to_names() -> None:
    blind = "\n".join(",".join([line.split(",")[0], *line.split(",")[4:]]) for line in worksheet().splitlines())
    outcome = export("moodle-worksheet", blind.encode(), [graded(LOU, "5")])
    entry = outcome.reconciliation.of("written")[0]
    assert (entry.row, entry.student) == ("Participant 70002", "00452")
    assert not any("Lou" in repr(entry) for entry in outcome.reconciliation.entries)


def test_worksheet_dates_of_a_spreadsheet_are_announced() -> None:
    resaved = worksheet().replace('"Monday, 14 September 2026, 9:10 AM",Fine.', "14/09/2026 09:10,Fine.").encode()
    assert any("re-saved" in note for note in export("moodle-worksheet", resaved, []).reconciliation.notes)


# ---------------------------------------------------------------------------------------------- blackboard, brightspace
def test_blackboard_reads_headers_from_the_right_and_skips_calculated_columns() -> None:
    for column in ("77002", "Lab 2 [EXTRA CREDIT]", "Lab 2 [EXTRA CREDIT] [Total Pts: 50 Score] |77002"):
        outcome = export("blackboard", blackboard().encode(), [graded(INIGO, "50", "50")], Options(column=column))
        assert b'"ipena","12E45","","Yes","","50",""' in (outcome.data or b"")
    with pytest.raises(ColumnError) as caught:
        export("blackboard", blackboard().encode(), [], Options())
    assert len(caught.value.candidates) == 2
    short = blackboard().replace("[Total Pts: 10 Score] |77001", "[Total Pts: 1,000] |77001").encode()
    assert statuses(export("blackboard", short, [graded(LOU, "999", "1000")], Options(column="77001")))["written"] == 1
    letter = blackboard().replace("10 Score] |77001", "10 Letter] |77001").encode()
    with pytest.raises(TemplateError, match="primary display"):
        export("blackboard", letter, [], Options(column="77001"))


def test_blackboard_single_column_download_has_feedback() -> None:
    data = table([["Username", "Lab 1 [Total Pts: 10 Score] |77001", "Feedback to Learner", "Feedback Format"],
                  ["ldarcy", "", "", "HTML"]], "\t")  # fmt: skip
    outcome = export("blackboard", data.encode(), [graded(LOU, "5", feedback="=sum\tok")])
    assert (outcome.data or b"").splitlines()[1] == b'ldarcy\t5\t"=sum\tok"\tHTML'


def test_blackboard_words_in_a_cell_would_be_erased() -> None:
    data = blackboard().replace('"","38.25","38.25"', '"Needs Grading","38.25","38.25"').encode()
    outcome = export("blackboard", data, [graded(LOU, "5")], Options(column="77001"))
    assert statuses(outcome)["would_erase"] == 1


def test_brightspace_keeps_its_signs_and_adds_no_cap() -> None:
    outcome = export("brightspace", brightspace().encode(), [graded(s, "5") for s in CLASS])
    assert b"#12345678901234567890,#0451" in (outcome.data or b"")
    assert (outcome.data or b"").count(b"5,#\n") == 4
    changed = export("brightspace", brightspace().encode(), [graded(LOU, "5")], Options(changed_only=True))
    assert (changed.data or b"").count(b"\n") == 2
    symbols = brightspace().replace("Points Grade", "Grade Symbol").encode()
    with pytest.raises(ColumnError, match="Points Grade"):
        export("brightspace", symbols, [])
    new = export(
        "brightspace", None, [graded(LOU, "5"), Grade(AMA, "missing")], Options(assignment="hw1", changed_only=True)
    )
    assert new.data == b"OrgDefinedId,Username,hw1 Points Grade,End-of-Line Indicator\n#00452,#ldarcy,5,#\n"


# -------------------------------------------------------------------------------------------- gradescope, nbgrader, csv
def test_gradescope_tables_of_a_course_and_of_an_assignment() -> None:
    with pytest.raises(ColumnError) as caught:
        export("gradescope", gradescope().encode(), [])
    assert caught.value.candidates == ["Lab 1", "Lab 2"]
    one = table(
        [
            ["Name", "SID", "Email", "Total Score", "Max Points", "Status"],
            ["Lou D'Arcy", "00452", "", "", "10.0", "Missing"],
        ]
    )
    outcome = export("gradescope", one.encode(), [graded(LOU, "5")])
    assert b"00452,,5,10.0,Missing" in (outcome.data or b"")
    new = export(
        "gradescope",
        None,
        [graded(LOU, "5"), Grade(AMA, "missing"), Grade(INIGO, "excused")],
        Options(assignment="hw1"),
    )
    assert (new.data or b"").decode().splitlines()[1:] == [
        '"Lou ""Lulu""",D\'Arcy,00452,lou.darcy@u.example,5,10,Graded',
        "Ama,Quartey,00451,ama.quartey@u.example,,10,Missing",
    ]


def test_nbgrader_rows_of_other_assignments_and_quotes_stay() -> None:
    outcome = export(
        "nbgrader",
        nbgrader().encode(),
        [graded(AMA, "20", "50", submitted="2026-10-01 08:00:00")],
        Options(column="lab2"),
    )
    assert (outcome.data or b"").decode().splitlines()[-1].startswith("lab2,,2026-10-01 08:00:00,00451,Quartey,Ama,")
    assert (outcome.data or b"").decode().splitlines()[:-1] == nbgrader().splitlines()[:-1]
    with pytest.raises(ColumnError):
        export("nbgrader", nbgrader().encode(), [])
    shifted = nbgrader().replace("Peña Ruiz", "Peña, Ruiz").encode()
    with pytest.raises(TemplateError, match="no quotes, so a comma"):
        export("nbgrader", shifted, [], Options(column="lab1"))
    with pytest.raises(TemplateError, match="decimal sign"):
        export("nbgrader", nbgrader().encode(), [], Options(column="lab1", decimal_sign=","))


def test_a_penalised_zero_is_still_a_score_with_its_raw_points() -> None:
    grade = graded(LOU, "5", late_penalty=Decimal(5), submitted="2026-09-14 10:00:00")
    outcome = export("nbgrader", None, [grade], Options(assignment="lab1"))
    assert (outcome.data or b"").decode().splitlines()[1].endswith(",5,5,0,10")


def test_plain_csv_is_rfc_4180_and_can_be_its_own_template() -> None:
    grades = [
        graded(LOU, "7.5", feedback='say "hi",\nthen go'),
        Grade(AMA, "missing"),
        graded(INIGO, "1", late_penalty=Decimal("0.5")),
    ]
    outcome = export("csv", None, grades, Options(assignment="hw1"))
    data = outcome.data or b""
    assert data.startswith(b"id,name,login,email,sis_id,state,score,max_score,late_penalty,feedback\r\n")
    assert b'7.5,10,,"say ""hi"",\nthen go"\r\n' in data
    assert b"graded,0.5,10,0.5,\r\n" in data
    assert export("csv", data, grades, Options(assignment="hw1")).data == data
    with pytest.raises(TemplateError, match="--match"):
        export("csv", plain().encode(), [])
    with pytest.raises(ColumnError):
        export("csv", b"id,a,b\n1,,\n", [])


def test_formulas_are_escaped_only_off_the_path_to_an_lms() -> None:
    evil = Identity("00452", name="=HYPERLINK(1)", login="ldarcy", email="lou.darcy@u.example", sis_id="00452")
    for text, escaped in (("=1+1", "'=1+1"), (" @x", "' @x"), ("-", "-"), ("+1", "'+1"), ("fine", "fine")):
        out = (export("csv", None, [graded(evil, "5", feedback=text)], Options(assignment="h")).data or b"").decode()
        assert f",{escaped}\r\n" in out or f',"{escaped}"\r\n' in out
        assert ",'=HYPERLINK(1)," in out
        back = export("moodle", moodle().encode(), [graded(LOU, "5", feedback=text)], LAB)
        assert f",5,{text}," in (back.data or b"").decode() or f',5,"{text}",' in (back.data or b"").decode()


# ------------------------------------------------------------------------------------------------------------- matching
def test_two_students_under_one_key_stop_the_export() -> None:
    for grades in (
        [graded(LOU, "5"), graded(LOU, "6")],
        [graded(LOU, "5"), graded(Identity("z", login="ldarcy"), "6")],
    ):
        outcome = export("canvas", canvas().encode(), grades, ITEM)
        assert (outcome.data, statuses(outcome)["ambiguous"]) == (None, 2)
    split = Identity("q", canvas_id="910001", login="ldarcy")
    outcome = export(
        "canvas",
        canvas().encode(),
        [graded(split, "5"), graded(INIGO, "5")],
        Options(column="551", allow_ambiguous=True),
    )
    assert statuses(outcome)["ambiguous"] == 1
    assert outcome.data is None  # still: the excuse of another student would be erased
    twice = canvas() + '"D\'Arcy, Lou",910002,00452,ldarcy,B,,,,,\n'
    outcome = export("canvas", twice.encode(), [graded(LOU, "5"), graded(AMA, "9")], ITEM)
    assert "line 5, line 10" in outcome.reconciliation.of("ambiguous")[0].reason
    skipped = export(
        "canvas", twice.encode(), [graded(LOU, "5"), graded(AMA, "9")], Options(column="551", allow_ambiguous=True)
    )
    assert skipped.data == twice.replace("9.50,42.00", "9,42.00").encode()


def test_a_student_number_is_never_taken_for_another_ones_canvas_id() -> None:
    outcome = export("canvas", canvas().encode(), [graded(Identity("910001"), "5"), graded(LOU, "5")], ITEM)
    assert statuses(outcome)["not_in_template"] == 1
    told = export(
        "canvas", canvas().encode(), [graded(Identity("910001"), "5")], Options(column="551", match={"ID": "id"})
    )
    assert [entry.row for entry in told.reconciliation.of("written")] == ["910001"]


def test_no_name_can_rearrange_the_report() -> None:
    assert shown("a\u202eb\u2066c\x1b[31m\nש") == "a\\u202eb\\u2066c\\u001b[31m\\u000aש"


def test_the_maximum_can_be_told_where_the_file_does_not_tell_it() -> None:
    with pytest.raises(LmsError, match="--max"):
        export("moodle", moodle().encode(), [graded(LOU, "5")], Options(column="Lab 1", now=1800000500, rescale=True))
    half = Options(column="Lab 1", now=1800000500, rescale=True, column_max=Decimal(5))
    assert (
        export("moodle", moodle().encode(), [graded(LOU, "5")], half).reconciliation.of("written")[0].becomes == "2.5"
    )
    strict = Options(column="Lab 1", now=1800000500, column_max=Decimal(5))
    assert export("moodle", moodle().encode(), [graded(LOU, "5")], strict).data is None


def test_names_are_compared_in_every_script_and_last() -> None:
    data = (
        canvas()
        .replace("12345678901234567890", "")
        .replace("910004", "")
        .replace(",0451,", ",,")
        .replace("N/A", "")
        .encode()
    )
    strangers = [
        graded(Identity("q1", name="שירה לוי"), "5"),
        graded(Identity("q2", given="I\u0301n\u0303igo", family="PEÑA  RUIZ"), "6"),
    ]
    assert statuses(export("canvas", data, strangers, ITEM))["not_in_template"] == 2
    named = export("canvas", data, strangers, Options(column="551", match_names=True, allow_erase=True))
    assert [(e.becomes, e.reason) for e in named.reconciliation.of("written")] == [(n, "matched by name") for n in "56"]
    taken = [graded(LOU, "5"), graded(Identity("q3", name='Lou "Lulu" D\'Arcy'), "1")]
    assert (
        statuses(export("canvas", canvas().encode(), taken, Options(column="551", match_names=True)))["not_in_template"]
        == 1
    )


def test_templates_that_cannot_be_made_are_asked_for() -> None:
    for target in ("canvas", "moodle-worksheet", "blackboard"):
        with pytest.raises(LmsError, match="--template FILE"):
            export(target, None, [graded(LOU, "5")], Options(assignment="hw1"))  # type: ignore[arg-type]
    with pytest.raises(LmsError, match="choose one of canvas"):
        export("sakai", None, [])  # type: ignore[arg-type]
    with pytest.raises(LmsError, match="choose one of id"):
        Options(match={"Matrikel": "number"})
