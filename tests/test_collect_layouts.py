"""`collect` on every layout that platforms hand out, through the command line: whose, which attempt, what is said."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest
from collect_support import Cli, Course, folder, module, tarred, zipped

from autograder.collect.text import folder_id

ROSTER = """\
id,name,login,email,canvas_id,moodle_id,brightspace_id,github
00012345,Adaeze Okafor,aokafor,adaeze.okafor@example.edu,700101,51201,397063,ada-o
00067890,"O'Neil, Jean",jsmith2,jj.oneil@example.edu,700102,51202,397064,jean-oneil
01020304,María José García Núñez,mgarcia,mj.garcia@example.edu,700103,51203,397065,mjgn
00099001,נועה כהן,0231163,noa.cohen@example.edu,700104,51204,397066,noa
"""
ADA, JEAN, MARIA, NOA = "00012345", "00067890", "01020304", "00099001"


@pytest.fixture
def course(tmp_path: Path, cli: Cli) -> Course:
    (tmp_path / "course").mkdir()
    return Course(tmp_path / "course", cli)


def _save(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def test_canvas(course: Course, tmp_path: Path) -> None:
    download = _save(
        tmp_path / "submissions.zip",
        zipped(
            {
                "okaforadaeze_700101_880001_softmax.py": module("ada first"),
                "okaforadaeze_700101_880009_softmax-1.py": module("ada second"),
                "oneiljean_LATE_700102_880002_softmax-2.py": module("jean"),
                "garcíanúñezmaríajosé_700103_880003_my_hw1.py": module("maria"),
                "garcíanúñezmaríajosé_700103_880004_._my_hw1.py": b"\x00\x05\x16\x07",
                "כהןנועה_LATE_700104_880005_hand in.zip": zipped(
                    {"hw1/softmax.py": module("noa"), "__MACOSX/hw1/._softmax.py": b"\x00"}
                ),
                "nobodyann_700999_880006_softmax.py": module("nobody"),
                "okaforadaeze_700101_text.html": "<p>hello</p>",
            }
        ),
    )
    done = course.collect(download, roster=ROSTER)
    assert done.students == {
        ADA: module("ada second"), JEAN: module("jean"), MARIA: module("maria"), NOA: module("noa")
    }  # fmt: skip
    assert "layout canvas" in done.text
    late = done.lines("late")[0]
    assert late.endswith(f"2: {JEAN}, {NOA}")
    assert (done.out / ADA / "attempts/001-softmax.py").read_bytes() == module("ada first")
    record = done.record["students"]
    assert (record[ADA]["attempt"], record[JEAN]["attempt"], record[JEAN]["late"]) == (2, 3, True)
    assert "okaforadaeze_700101_880009_softmax-1.py" in record[ADA]["entries"]
    assert any("nobodyann is nobody in the roster" in line for line in done.lines("not placed"))
    assert any("typed into Canvas" in line for line in done.lines(ADA))
    assert done.code == 1


def test_canvas_names_decide_only_where_no_user_id_says_otherwise(course: Course, tmp_path: Path) -> None:
    """Two people of one name: the user id decides; without one both stay in the list."""
    source = folder(
        tmp_path / "s",
        {"leeann_1_11_softmax.py": module("1"), "leeann_2_12_softmax.py": module("2"),
         "leeann_3_13_softmax.py": module("3")},
    )  # fmt: skip
    decided = course.collect(source, roster="id,name,canvas_id\na,Ann Lee,1\nb,Ann Lee,2\n")
    assert decided.students == {"a": module("1"), "b": module("2")}
    assert "leeann is nobody in the roster" in decided.text
    blank = course.collect(source, roster="id,name\na,Ann Lee\nb,Ann Lee\n")
    assert "fits several students of the roster (a, b)" in blank.text
    assert blank.code == 1
    one = course.collect(source, "--out", tmp_path / "one", roster="id,name\na,Ann Lee\nb,Bo Yi\n")
    assert "fits a, and so does another one with another canvas_id" in one.text
    assert [path.name for path in (tmp_path / "one").iterdir()] == ["collected.json"]


def test_canvas_with_its_own_gradebook_export_as_roster(course: Course, tmp_path: Path) -> None:
    export = (
        "\ufeffStudent,ID,SIS User ID,SIS Login ID,Section,HW 1 (880001)\n,,,,,Manual Posting\n"
        "    Points Possible,,,,,10.00\n\"Okafor, Adaeze\",700101,00012345,aokafor,A,\n"
        "\"O'Neil, Jean \"\"JJ\"\"\",700102,00067890,jsmith2,A,\n\"Student, Test\",700199,,f00ba4,A,\n"
    )  # fmt: skip
    files = {"okaforadaeze_700101_1_softmax.py": module("a"), "oneiljeanjj_700102_2_softmax.py": module("j")}
    done = course.collect(folder(tmp_path / "s", files), roster=export)
    assert (done.code, done.students) == (0, {ADA: module("a"), JEAN: module("j")})
    assert done.lines("missing")[0].split() == ["missing", "0"]


def test_canvas_anonymous_and_without_roster(course: Course, tmp_path: Path) -> None:
    files = {"LATE_anon_x7Yz1_5_softmax.py": module("x"), "okaforadaeze_700101_1_softmax.py": module("a")}
    done = course.collect(folder(tmp_path / "s", files))
    assert (done.code, done.students) == (0, {"700101": module("a"), "anon_x7Yz1": module("x")})
    assert done.record["students"]["anon_x7Yz1"]["late"] is True


def test_moodle_folders(course: Course, tmp_path: Path) -> None:
    decomposed = unicodedata.normalize("NFD", "María José García Núñez")
    files = {
        "Adaeze Okafor_51201_assignsubmission_file/softmax.py": module("ada"),
        "Adaeze Okafor_51201_assignsubmission_onlinetext/onlinetext.html": "<p>see file</p>",
        "Jean ONeil_99_assignsubmission_file_/hw/src/softmax.py": module("jean"),
        f"{decomposed}_51203_assignsubmission_file/softmax.py": module("maria"),
        "נועה כהן_51204_assignsubmission_onlinetext/onlinetext.html": "def softmax",
    }
    roster = ROSTER.replace("moodle_id", "ignored")
    done = course.collect(_save(tmp_path / "m.zip", zipped(files)), roster=roster)
    assert done.students == {ADA: module("ada"), JEAN: module("jean"), MARIA: module("maria")}
    assert "layout moodle" in done.text
    assert any("typed into Moodle" in line for line in done.lines(f"{NOA}:"))
    assert done.code == 1


def test_moodle_files_blind_marking_and_the_worksheet_as_roster(course: Course, tmp_path: Path) -> None:
    worksheet = (
        "Identifier,Full name,ID number,Email address,Status,Grade\n"
        "Participant 51201,Adaeze Okafor,00012345,a@example.edu,Submitted,\n"
        "Participant 51202,Jean ONeil,00067890,j@example.edu,Submitted,\n"
    )
    files = {
        "Participant_51201_assignsubmission_file_softmax.py": module("ada"),
        "Participant_51202_assignsubmission_file_soft_max.py": module("jean"),
        "Participant_51209_assignsubmission_file_softmax.py": module("?"),
    }
    done = course.collect(folder(tmp_path / "s", files), roster=worksheet)
    assert done.students == {ADA: module("ada"), JEAN: module("jean")}
    assert len(done.lines("not placed")) == 1


def test_moodle_group_goes_to_all_its_members(course: Course, tmp_path: Path) -> None:
    files = {"Red Pandas_7_assignsubmission_file/softmax.py": module("red")}
    roster = "id,name,group\na,Ann,Red_Pandas\nb,Bo,Red Pandas\nc,Cy,Blue\n"
    done = course.collect(folder(tmp_path / "s", files), roster=roster)
    assert done.students == {"a": module("red"), "b": module("red")}
    assert done.record["students"]["a"]["group"] == ["b"]
    assert done.lines("missing")[0].endswith("1: c")


RECEIPT = """\
Name: {name} ({user})
Assignment: HW_3 final
Date Submitted: Saturday, January 31, 2026 11:59:01 PM EST
Current Grade: Needs Grading

Submission Field:
There is no student submission text data for this assignment.

Comments:
There are no student comments for this assignment.
"""


def test_blackboard(course: Course, tmp_path: Path) -> None:
    start = "HW_3 final"
    files = {
        f"{start}_aokafor_attempt_2026-01-31-23-59-01_softmax.py": module("ada 1"),
        f"{start}_aokafor_attempt_2026-01-31-23-59-01.txt": RECEIPT.format(name="Adaeze Okafor", user="aokafor"),
        f"{start}_aokafor_attempt_2026-02-01-00-10-00_softmax.py": module("ada 2"),
        f"{start}_aokafor_attempt_2026-02-01-00-10-00.txt": RECEIPT.format(name="Adaeze Okafor", user="aokafor"),
        f"{start}_m_garcia_attempt_2026-01-30-10-00-00_softmax.py": module("maria"),
        f"{start}_m_garcia_attempt_2026-01-30-10-00-00.txt": RECEIPT.format(name="M G", user="m_garcia"),
        f"{start}_jsmith2_attempt_2026-01-30-10-00-00_softmax.py": module("jean"),
    }
    done = course.collect(_save(tmp_path / "b.zip", zipped(files)), roster=ROSTER.replace("mgarcia", "m_garcia"))
    assert (done.code, done.students) == (0, {ADA: module("ada 2"), JEAN: module("jean"), MARIA: module("maria")})
    assert done.record["students"][ADA]["submitted"] == "2026-02-01T00:10:00"
    assert (done.out / ADA / "attempts/001-softmax.py").read_bytes() == module("ada 1")


def test_blackboard_does_not_guess_where_a_user_begins(course: Course, tmp_path: Path) -> None:
    files = {f"Lab_x_{user}_attempt_2026-01-31-23-59-01_softmax.py": module(user) for user in ("a_doe", "b_doe")}
    alone = course.collect(folder(tmp_path / "s", files))
    assert set(alone.students) == {"Lab_x_a_doe", "Lab_x_b_doe"}
    known = course.collect(
        folder(tmp_path / "s", files), "--out", alone.out / "../other", roster="login\na_doe\nb_doe\n"
    )
    assert known.code == 0
    assert sorted(path.name for path in (alone.out / "../other").iterdir() if path.is_dir()) == ["a_doe", "b_doe"]


def test_brightspace(course: Course, tmp_path: Path) -> None:
    files = {
        "index.html": "<html></html>",
        "397063-55 - Adaeze Okafor - Jan 31, 2026 1159 PM/softmax.py": module("ada old"),
        "397063-55 - Adaeze Okafor - Feb 1, 2026 1205 AM/softmax.py": module("ada new"),
        "397064-55 - Jean O'Neil - Jan 9, 2026 926 AM/Softmax.py": module("jean"),
        "500-55 - Stranger - In - Jan 9, 2026 926 AM/softmax.py": module("?"),
    }
    done = course.collect(_save(tmp_path / "d2l.zip", zipped(files)), roster=ROSTER)
    assert done.students == {ADA: module("ada new"), JEAN: module("jean")}
    assert done.record["students"][ADA]["submitted"] == "2026-02-01T00:05:00"
    assert done.record["students"][JEAN]["submitted"] == "2026-01-09T09:26:00"
    assert "Stranger - In is nobody" in done.text


def test_gradescope(course: Course, tmp_path: Path) -> None:
    metadata = """\
---
submission_101:
  :submitters:
  - :name: Adaeze Okafor
    :sid: '00012345'
    :email: adaeze.okafor@example.edu
  - :name: Jean O'Neil
    :sid:
    :email: JJ.ONeil@example.edu
  :created_at: 2026-01-31 22:59:01.365935000 Z
  :score: 7.0
  :results:
    tests:
    - output: |-
        submission_999:
          :submitters: [
  :history: []
submission_102:
  :submitters:
  - :name: Somebody Else
    :sid: '777'
    :email: x@example.edu
  :created_at: !ruby/object:Time 2026-01-31 22:00:00.000000000 Z
"""
    files = {
        "assignment_9_export/submission_metadata.yml": metadata,
        "assignment_9_export/submission_101/softmax.py": module("pair"),
        "assignment_9_export/submission_102/softmax.py": module("other"),
    }
    done = course.collect(_save(tmp_path / "g.zip", zipped(files)), roster=ROSTER)
    assert done.students == {ADA: module("pair"), JEAN: module("pair")}
    about = done.record["students"][ADA]
    assert (about["group"], about["submitted"]) == ([JEAN], "2026-01-31T22:59:01.365935+00:00")
    assert "Somebody Else is nobody" in done.text


def test_gradescope_metadata_that_is_none(course: Course, tmp_path: Path) -> None:
    files = {"submission_metadata.yml": "a: [", "submission_1/softmax.py": module()}
    done = course.collect(folder(tmp_path / "s", files))
    assert (done.code, "export the submissions again" in done.text) == (2, True)


def test_github_classroom(course: Course, tmp_path: Path) -> None:
    files = {
        "hw1-submissions/hw1-ada-o/softmax.py": module("ada"),
        "hw1-submissions/hw1-ada-o/.git/config": "[core]",
        "hw1-submissions/hw1-ada-o/.git/old/softmax.py": module("history"),
        "hw1-submissions/hw1-ada-o/test_public.py": "from softmax import softmax_naive\n",
        "hw1-submissions/hw1-jean-oneil/src/softmax.py": module("jean"),
        "hw1-submissions/hw1-jean-oneil/.git/HEAD": "ref",
        "hw1-submissions/hw1-oneil/softmax.py": module("?"),
        "hw1-submissions/hw1-oneil/.git/HEAD": "ref",
    }
    done = course.collect(folder(tmp_path / "s", files), roster=ROSTER)
    assert done.students == {ADA: module("ada"), JEAN: module("jean")}
    assert "layout github" in done.text
    assert done.lines("not placed")[0].strip().startswith("not placed: hw1-oneil")


def test_github_classroom_under_another_name_is_cut_where_the_roster_knows_somebody(
    course: Course, tmp_path: Path
) -> None:
    files = {f"lab-2-{user}/{name}": module(user) for user in ("ada-o", "ada-p") for name in ("softmax.py", ".git/x")}
    done = course.collect(folder(tmp_path / "s", files), roster="id,github\n1,ada-o\n2,ada-p\n3,p\n")
    assert (done.code, done.students) == (0, {"1": module("ada-o"), "2": module("ada-p")})


def test_nbgrader(course: Course, tmp_path: Path) -> None:
    files = {
        "submitted/aokafor/hw1/softmax.py": module("ada"),
        "submitted/aokafor/hw1/timestamp.txt": "2026-01-31 23:59:01.25 America/New_York",
        "submitted/aokafor/hw2/softmax.py": module("ada hw2"),
        "submitted/jsmith2/hw2/softmax.py": module("jean hw2"),
        "submitted/mgarcia/ps1/softmax.py": module("maria"),
        "release/hw1/softmax.py": module("release"),
        "gradebook.db": b"SQLite",
    }
    done = course.collect(folder(tmp_path / "s", files), roster=ROSTER)
    assert done.students == {ADA: module("ada")}
    assert done.record["students"][ADA]["submitted"] == "2026-01-31T23:59:01.250000-05:00"
    assert "has no folder hw1" in done.lines(f"{MARIA}:")[0]
    assert done.lines("missing")[0].endswith(f"2: {JEAN}, {NOA}")


@pytest.mark.parametrize("kind", ["folder", "zip", "tar.gz", "tar", "zip in zip"])
def test_a_folder_per_student_in_every_wrapping(course: Course, tmp_path: Path, kind: str) -> None:
    """Named by id, login, e-mail address or name; one with a folder of the assignment's name within."""
    files = {
        "class of 2026/00012345/softmax.py": module("ada"),
        "class of 2026/jsmith2/hw1/softmax.py": module("jean"),
        "class of 2026/MJ.Garcia@example.edu/softmax.py": module("maria"),
        "class of 2026/ כהן  נועה/softmax.py": module("noa"),
        "class of 2026/.DS_Store": b"\x00",
        "__MACOSX/class of 2026/._00012345": b"\x00",
    }
    if kind == "folder":
        source = folder(tmp_path / "s", files)
    elif kind.startswith("tar"):
        import tarfile

        mode = "w:gz" if kind == "tar.gz" else "w"
        entries = [(tarfile.TarInfo(f"./{name}"), content) for name, content in files.items()]
        source = _save(tmp_path / f"s.{kind}", tarred(*entries, mode=mode))
    else:
        content = zipped(files)
        source = _save(tmp_path / "s.zip", zipped({"all.zip": content}) if "in" in kind else content)
    done = course.collect(source, roster=ROSTER)
    assert (done.code, done.students) == (
        0, {ADA: module("ada"), JEAN: module("jean"), MARIA: module("maria"), NOA: module("noa")},
    ), done.text  # fmt: skip
    assert "layout folder" in done.text


def test_an_archive_per_student(course: Course, tmp_path: Path) -> None:
    files = {"ada.zip": zipped({"softmax.py": module("ada")}), "bo.zip": zipped({"x/softmax.py": module("bo")})}
    done = course.collect(folder(tmp_path / "s", files))
    assert (done.code, done.students) == (0, {"ada": module("ada"), "bo": module("bo")})


def test_two_folders_of_one_student_are_not_chosen_between(course: Course, tmp_path: Path) -> None:
    files = {"aokafor/softmax.py": module("1"), "Adaeze Okafor/softmax.py": module("2"), "noa/softmax.py": module("n")}
    done = course.collect(folder(tmp_path / "s", files), roster=ROSTER)
    assert done.students == {NOA: module("n")}
    assert "cannot be told which is the newest" in done.lines(f"{ADA}:")[0]
    assert done.code == 1


def test_ids_that_differ_in_spelling_only_are_listed(course: Course, tmp_path: Path) -> None:
    files = {"José/softmax.py": module("1"), unicodedata.normalize("NFD", "José") + "/softmax.py": module("2"),
             "ada/softmax.py": module("a")}  # fmt: skip
    done = course.collect(folder(tmp_path / "s", files))
    assert done.students == {"ada": module("a")}
    assert len(done.lines("not placed")) == 2


def test_one_folder_in_one_folder_is_not_guessed(course: Course, tmp_path: Path) -> None:
    source = folder(tmp_path / "s", {"ada/src/softmax.py": module("ada")})
    refused = course.collect(source)
    assert (refused.code, refused.students) == (2, {})
    assert "--layout folder" in refused.text
    forced = course.collect(source, "--layout", "folder")
    assert (forced.code, forced.students) == (0, {"ada": module("ada")})


def test_bidi_controls_are_shown_escaped_and_never_a_match(course: Course, tmp_path: Path) -> None:
    files = {"\u202eyp.xamtfos/softmax.py": module("x"), "noa/softmax.py": module("n")}
    done = course.collect(folder(tmp_path / "s", files), roster=ROSTER)
    assert done.students == {NOA: module("n")}
    assert "\\u202eyp.xamtfos" in done.text
    assert "\u202e" not in done.text


def test_student_ids_become_safe_folders(course: Course, tmp_path: Path) -> None:
    ids = ["../../etc", "CON", ".hidden", "a/b\\c", "nul.txt", "50%", "x.", "collected.json", "Ø ñ-1@x.edu"]
    roster = "id,login\n" + "".join(f"{id},u{place}\n" for place, id in enumerate(ids))
    files = {f"u{place}/softmax.py": module(id) for place, id in enumerate(ids)}
    done = course.collect(folder(tmp_path / "s", files), roster=roster)
    assert done.code == 0
    folders = {id: about["folder"] for id, about in done.record["students"].items()}
    assert folders == {
        "../../etc": "%2E.%2F..%2Fetc", "CON": "%43ON", ".hidden": "%2Ehidden", "a/b\\c": "a%2Fb%5Cc",
        "nul.txt": "%6Eul.txt", "50%": "50%25", "x.": "x%2E", "collected.json": "%63ollected.json",
        "Ø ñ-1@x.edu": "Ø ñ-1@x.edu",
    }  # fmt: skip
    assert done.students == {folders[id]: module(id) for id in ids}
    assert {folder_id(name): id for id, name in folders.items()} == {id: id for id in ids}


USAGE = {
    "no such layout": ({"a/softmax.py": b"x"}, ("--layout", "canvas"), None, "not in the layout canvas: it holds a"),
    "loose files only": ({"softmax.py": b"x"}, (), None, "no hand-ins in a layout that is known"),
    "roster without a key": ({"a/softmax.py": b"x"}, (), "name\nAnn\n", "no column identifies"),
    "roster of two rows with one id": ({"a/softmax.py": b"x"}, (), "id\na\nb\nA\n", "roster.csv:4: the id is the same"),
    "roster with a hole": ({"a/softmax.py": b"x"}, (), "id,name\na,Ann\n,Bo\n", "roster.csv:3: the id is empty"),
    "roster with a ragged row": ({"a/softmax.py": b"x"}, (), "id,name\na,Lee,Ann\n", "roster.csv:2: 3 cells"),
    "roster in cp1252": ({"a/softmax.py": b"x"}, (), "id,name\na,José\n".encode("cp1252"), "not UTF-8"),
    "roster of nothing": ({"a/softmax.py": b"x"}, (), "", "no header"),
}


@pytest.mark.parametrize("case", USAGE)
def test_what_cannot_be_used_is_refused_with_a_remedy(course: Course, tmp_path: Path, case: str) -> None:
    files, options, roster, says = USAGE[case]
    done = course.collect(folder(tmp_path / "s", files), *options, roster=roster)
    assert done.code == 2
    assert says in done.text
    assert not done.out.exists()
