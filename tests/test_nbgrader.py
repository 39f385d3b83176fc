"""The bridge to nbgrader against nbgrader itself: its commands, its gradebook, what its formgrader would list."""

from __future__ import annotations

import csv
import json
import shutil
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from nbgrader_support import ALL, HOSTILE, ROOT, Desk, build, code_points, nbgrader, printed_below, run
from printed import words

from autograder.nbgrader_bridge.course import open_course

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    """Graded by us; nothing in nbgrader's gradebook yet. Not to be changed."""
    folder = tmp_path_factory.mktemp("nbgrader")
    with pytest.MonkeyPatch.context() as patch:
        for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR"):  # nothing of whoever runs the tests
            patch.setenv(name, str(folder / "home" / name))
        patch.setenv("OMP_NUM_THREADS", "1")
        yield build(folder)


@pytest.fixture(scope="module")
def scored(prepared: Desk, tmp_path_factory: pytest.TempPathFactory) -> Desk:
    """With the scores in nbgrader's gradebook. Not to be changed."""
    desk = prepared.copy(tmp_path_factory.mktemp("scored"))
    code, printed = desk.scores("--yes")
    assert code == 0, printed
    return desk


@pytest.fixture
def fresh(prepared: Desk, tmp_path: Path) -> Desk:
    return prepared.copy(tmp_path)


@pytest.fixture
def desk(scored: Desk, tmp_path: Path) -> Desk:
    return scored.copy(tmp_path)


# ------------------------------------------------------------------------------------------------------ assignments out
def test_nbgrader_generates_and_validates_all_six_notebooks(prepared: Desk, tmp_path: Path) -> None:
    from nbgrader.validator import Validator

    desk = prepared.copy(tmp_path)
    modules = {"hw1": "softmax", "hw2": "flash", "hw3": "backward", "hw4": "compile_cache", "hw5": "training",
               "hw6": "memory_budget"}  # fmt: skip
    with desk.api() as api:
        for name, module in modules.items():
            done = api.generate_assignment(name, force=True)
            assert done["success"], done["log"]
            release = desk.course / "release" / name
            text = (release / f"{name}.ipynb").read_text()
            assert "HIDDEN TESTS" not in text
            assert "NBGRADER_EXECUTION" not in text
            assert (release / f"{module}.py").read_bytes() == (
                ROOT / "assignments" / name / f"{module}.py"
            ).read_bytes()
            finished = tmp_path / name
            shutil.copytree(desk.course / "source" / name, finished)
            shutil.copy(ROOT / "solutions" / name / f"{module}.py", finished)
            assert Validator(parent=api).validate(str(finished / f"{name}.ipynb")) == {}


def test_each_check_has_one_locked_cell_and_students_learn_no_hidden_title(prepared: Desk) -> None:
    record = prepared.record("ada")
    with prepared.gradebook() as gradebook:
        (notebook,) = gradebook.find_assignment("hw1").notebooks
        cells = {cell.name: cell.max_score for cell in notebook.grade_cells if cell.name.startswith("check-")}
        locked = {cell.name: cell.locked for cell in notebook.source_cells}
    assert len(cells) == len({check.id.partition("[")[0] for check in record.checks})
    assert sum(cells.values()) == record.max_score == 100
    assert all(locked[name] for name in cells)
    released = (prepared.course / "release/hw1/hw1.ipynb").read_text()
    for check in record.checks:
        assert (check.title in released) == (check.suite == "public"), check.title


def test_setup_repeats_without_harm_and_keeps_what_somebody_changed(fresh: Desk) -> None:
    config = fresh.course / "nbgrader_config.py"
    before = config.read_text()
    assert before.count("exclude_overwriting") == len(ALL)
    setup = ("nbgrader", "setup", "hw1", "--course", fresh.course)
    readme = fresh.course / "source/hw1/README.md"
    readme.write_text("mine\n")
    code, printed = run(*setup)
    assert code == 2
    assert "has other contents in README.md" in words(printed)
    assert readme.read_text() == "mine\n"
    code, printed = run(*setup, "--force")
    assert code == 0, printed
    assert "written 1, up to date 6" in words(printed)
    assert config.read_text() == before


def test_setup_wants_a_course_of_nbgrader(tmp_path: Path) -> None:
    code, printed = run("nbgrader", "setup", "hw1", "--course", tmp_path)
    assert code == 2
    assert "has no nbgrader_config.py and no folder source" in words(printed)
    assert list(tmp_path.iterdir()) == []


def test_without_nbgrader_the_remedy_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "nbgrader", None)  # as if it were not installed
    code, printed = run("nbgrader", "scores", "hw1", "--course", tmp_path, "--records", tmp_path)
    assert code == 2
    assert "nbgrader is not installed; pip install 'ml-systems-autograder[staff]'" in words(printed)


# ------------------------------------------------------------------------------------------------------------ scores in
def test_differences_are_shown_and_nothing_is_written_until_somebody_agrees(fresh: Desk) -> None:
    before = (fresh.course / "gradebook.db").read_bytes()
    code, printed = fresh.scores("--dry-run")
    assert code == 0
    assert "bob - -> 88/100 32 7 new student, new hand-in" in words(printed)
    assert "to write 3, unchanged 0, left out 0, without a record 0 nothing was written" in words(printed)
    code, printed = fresh.scores()
    assert code == 2
    assert "nobody is at the terminal to agree" in words(printed)
    assert (fresh.course / "gradebook.db").read_bytes() == before
    assert not (fresh.course / "autograded").exists()


def test_points_of_the_checks_are_in_nbgraders_gradebook(scored: Desk) -> None:
    for student, points in {"ada": 100.0, "bob": 88.0, "eve": 0.0}.items():
        assert scored.record(student).score == points
        assert code_points(scored, student) == points
    grades = scored.grades("bob")
    assert not any(one["needs_manual_grade"] for name, one in grades.items() if name.startswith("check"))
    assert {name for name, one in grades.items() if one["needs_manual_grade"]} == {
        "hw1-passes", "hw1-monotone", "hw1-limit-test", "hw1-sum-overflow", "hw1-out-lse", "hw1-empty"
    }  # fmt: skip
    lost = [name for name, one in grades.items() if name.startswith("check-") and one["score"] < one["max_score"]]
    assert all("online" in name or "several" in name for name in lost)


def test_formgrader_lists_the_assignment_and_every_hand_in(scored: Desk) -> None:
    with scored.api() as api:
        listed = {one["student"]: one for one in api.get_submissions("hw1")}
        assert {name: (one["autograded"], one["score"], one["max_score"]) for name, one in listed.items()} == {
            "ada": (True, 100.0, 112.0), "bob": (True, 88.0, 112.0), "eve": (True, 0.0, 112.0)
        }  # fmt: skip
        assert listed["ada"]["timestamp"] == "2026-09-14T10:00:00"
        assert api.get_assignment("hw1")["num_submissions"] == 3
        assert len(api.get_notebook_submissions("hw1", "hw1")) == 3


def test_what_was_handed_in_is_shown_privately_with_the_graders_words(scored: Desk) -> None:
    folder = scored.course / "autograded/bob/hw1"
    assert {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {
        "hw1.ipynb": 0o600, "softmax.py": 0o600, "timestamp.txt": 0o600
    }  # fmt: skip
    assert (folder / "softmax.py").read_bytes() == (scored.course / "submitted/bob/hw1/softmax.py").read_bytes()
    cells = scored.shown("bob")
    texts = {name: printed_below(cell) for name, cell in cells.items() if name.startswith("check-")}
    assert len(texts) == 25
    (wrong,) = [text for text in texts.values() if text.startswith("softmax_online matches the definition")]
    assert "0/10 points: 0 of 15 cases pass" in wrong
    assert "Hint: When the maximum moves" in wrong
    assert "### BEGIN HIDDEN TESTS" in "".join(cells["hw1-limit-test"]["source"])


def test_comments_tell_what_the_record_tells_a_student_and_are_no_markup(scored: Desk) -> None:
    comments = scored.comments("bob")
    assert set(comments) == {
        "checks-softmax_naive", "checks-softmax_safe", "checks-softmax_online", "checks-block_state",
        "checks-merge_states", "checks-finalize", "checks-several",
    }  # fmt: skip
    assert comments["checks-finalize"] == "```\nfinalize: 6/6 points, 17 of 17 cases pass\n```"
    assert "worst error" in comments["checks-softmax_online"]
    hostile = scored.comments("eve")["checks-finalize"]
    assert "<img src=x onerror=alert(1)> ..." in hostile
    assert hostile.count("```") == 2
    assert hostile.startswith("```\n")
    assert hostile.endswith("\n```")


def test_repeating_changes_nothing(desk: Desk) -> None:
    before = {path: path.stat().st_mtime_ns for path in desk.course.rglob("*") if path.is_file()}
    code, printed = desk.scores("--yes")
    assert code == 0
    assert "to write 0, unchanged 3, left out 0, without a record 0 nothing is new" in words(printed)
    assert {path: path.stat().st_mtime_ns for path in desk.course.rglob("*") if path.is_file()} == before


def test_points_of_a_person_stay_and_ask_for_another_look(desk: Desk) -> None:
    grades = desk.grades("bob")
    name = next(name for name, one in grades.items() if name.startswith("check-") and one["auto_score"] > 0)
    with desk.gradebook() as gradebook:
        for cell, points in {name: 1.5, "hw1-passes": 1.25}.items():
            grade = gradebook.find_grade(cell, "hw1", "hw1", "bob")
            grade.manual_score, grade.needs_manual_grade = points, False
    desk.put(msgspec.structs.replace(desk.record("bob"), checks=desk.record("eve").checks))
    code, printed = desk.scores("--yes")
    assert code == 0
    assert "bob 88 -> 0/100" in words(printed)
    assert "cells with points from a person, which stay: 1" in words(printed)
    after = desk.grades("bob")
    assert (after[name]["auto_score"], after[name]["score"], after[name]["needs_manual_grade"]) == (0, 1.5, True)
    assert (after["hw1-passes"]["score"], after["hw1-passes"]["needs_manual_grade"]) == (1.25, False)


def test_nbgraders_autograde_gives_no_points_for_checks_and_scores_brings_them_back(desk: Desk) -> None:
    notebook = desk.course / "submitted/ada/hw1/hw1.ipynb"
    text = json.loads(notebook.read_text())
    for cell in text["cells"]:
        if cell["metadata"].get("nbgrader", {}).get("grade_id") == "hw1-limit":
            cell["source"] = "limit = float(np.log(np.float64(np.finfo(np.float16).max)))"
    deleted = next(cell for cell in text["cells"] if "check-finalize" in str(cell["metadata"]))
    text["cells"].remove(deleted)
    notebook.write_text(json.dumps(text))
    done = nbgrader(desk.course, "autograde", "hw1", "--student", "ada", "--force")
    assert done.returncode == 0, done.stderr
    left = deleted["metadata"]["nbgrader"]["points"]  # of the cell that was not there to be run
    assert code_points(desk, "ada") == left
    own = desk.course / "autograded/ada/hw1/softmax.py"
    assert own.read_bytes() == (ROOT / "solutions/hw1/softmax.py").read_bytes()  # not the stub of source/
    code, printed = desk.scores("--yes")
    assert code == 0
    assert f"ada {left:g} -> 100/100" in words(printed)
    assert "nothing is new" in desk.scores("--yes")[1]
    grades = desk.grades("ada")
    assert code_points(desk, "ada") == 100
    assert (grades["hw1-limit-test"]["score"], grades["hw1-limit-test"]["needs_manual_grade"]) == (1, False)
    assert all(printed_below(cell) for name, cell in desk.shown("ada").items() if name.startswith("check-"))


def test_nobody_without_a_grade_gets_one(fresh: Desk) -> None:
    ada, bob = fresh.record("ada"), fresh.record("bob")
    fresh.put(msgspec.structs.replace(ada, score=None))
    fresh.put(msgspec.structs.replace(fresh.renamed("bob", "fay"), selection="-k naive"))
    fresh.put(fresh.renamed("bob", "kim"))
    (fresh.records / "lea.json").write_text("{}")
    fresh.hand_in("bob", b"# another file\n")
    fresh.hand_in("mia", HOSTILE.encode())
    code, printed = fresh.scores("--yes")
    assert code == 1
    text = words(printed)
    assert "to write 1, unchanged 0, left out 5, without a record 1" in text
    assert "left out, ada: the grader itself failed" in text
    assert "left out, fay: only some checks ran (-k naive)" in text
    assert "left out, kim: nobody in nbgrader has this id" in text
    assert "left out, lea: cannot be read as a record" in text
    assert "left out, bob: the hand-in in nbgrader is another file than the graded one" in text
    assert "no record, mia: grade the hand-in" in text
    with fresh.gradebook() as gradebook:
        assert [student.id for student in gradebook.students] == ["eve"]
    assert bob.score == 88


def test_a_record_of_other_checks_is_left_out(fresh: Desk) -> None:
    record = fresh.record("ada")
    fresh.put(msgspec.structs.replace(record, checks=record.checks[1:]))
    code, printed = fresh.scores("--dry-run")
    assert code == 1
    assert "left out, ada: 1 checks have no cell, or other points, in nbgrader" in words(printed)


def test_the_roster_names_students_who_have_another_id_in_nbgrader(fresh: Desk, tmp_path: Path) -> None:
    for id, student in {"00451": "ada", "00452": "bob", "00453": "eve"}.items():
        fresh.put(fresh.renamed(student, id))
        (fresh.records / f"{student}.json").unlink()
    roster = tmp_path / "roster.csv"
    roster.write_text(
        'id,given,family,login,email,sis_id\n00451,"Ada ""Q"", Ñ",Größe,ada,ada@uni.test,\n'
        "00452,Bob,B,bob,,eve\n00453,Eve,E,,,\n"
    )
    code, printed = fresh.scores("--yes", "--roster", roster)
    assert code == 1
    assert "left out, 00452: may be bob or eve in nbgrader: correct the roster" in words(printed)
    assert "left out, 00453: nobody in nbgrader has this id" in words(printed)
    with fresh.gradebook() as gradebook:
        (student,) = gradebook.students
        assert (student.id, student.first_name, student.last_name) == ("ada", 'Ada "Q", Ñ', "Größe")
        assert student.email == "ada@uni.test"


def test_who_hands_in_again_is_shown_anew_and_waits_for_people_again(desk: Desk) -> None:
    with desk.gradebook() as gradebook:
        grade = gradebook.find_grade("hw1-limit-test", "hw1", "hw1", "bob")
        grade.auto_score, grade.needs_manual_grade = 1.0, False
    desk.hand_in("bob", (ROOT / "solutions/hw1/softmax.py").read_bytes(), stamp="2026-09-15 08:00:00 UTC")
    desk.put(desk.renamed("ada", "bob"))
    code, printed = desk.scores("--yes")
    assert code == 0
    assert "bob 88 -> 100/100" in words(printed)
    assert "handed in again" in words(printed)
    grades = desk.grades("bob")
    assert (grades["hw1-limit-test"]["auto_score"], grades["hw1-limit-test"]["needs_manual_grade"]) == (None, True)
    with desk.api() as api:
        (bob,) = [one for one in api.get_submissions("hw1") if one["student"] == "bob"]
        assert (bob["autograded"], bob["timestamp"]) == (True, "2026-09-15T08:00:00")


def test_whatever_a_notebook_is_the_grader_has_a_page_to_look_at(fresh: Desk) -> None:
    ada, bob, eve = (fresh.course / "submitted" / student / "hw1/hw1.ipynb" for student in ("ada", "bob", "eve"))
    without = json.loads(ada.read_text())
    without["cells"] = [one for one in without["cells"] if "checks-" not in str(one["metadata"])][:-3]
    ada.write_text(json.dumps(without))
    bob.write_text('{"cells": 3, "nbformat": 4, "nbformat_minor": 5, "metadata": {}}')
    eve.symlink_to(fresh.course / "source/hw1/hw1.ipynb")
    code, printed = fresh.scores("--yes")
    assert code == 0, printed
    assert "bob: hw1.ipynb cannot be" in words(printed)
    assert "eve: hw1.ipynb was not handed in" in words(printed)
    assert "  ada:" not in printed
    for student in ("ada", "bob", "eve"):
        cells = fresh.shown(student)
        assert sum(bool(printed_below(cell)) for name, cell in cells.items() if name.startswith("check-")) == 25
        assert "checks-finalize" in cells
        assert "END SOLUTION" not in json.dumps(list(cells.values()))  # nothing was read through the link


def test_what_is_not_there_is_named(fresh: Desk, tmp_path: Path) -> None:
    code, printed = run("nbgrader", "scores", "hw2", "--course", fresh.course, "--records", fresh.records)
    assert code == 2
    assert "nbgrader's gradebook has no assignment hw2; autograder nbgrader setup hw2" in words(printed)
    code, printed = run("nbgrader", "scores", "hw1", "--course", fresh.course, "--records", tmp_path / "none")
    assert code == 2
    assert "is no folder of records; grade first" in words(printed)
    (fresh.course / "gradebook.db").unlink()
    code, printed = fresh.scores()
    assert code == 2
    assert "gradebook.db is not there; make it with: nbgrader generate_assignment" in words(printed)


def test_programs_of_an_environment_that_is_not_activated_are_found(
    prepared: Desk, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from nbgrader.api import Gradebook

    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    open_course(prepared.course)
    with Gradebook(f"sqlite:///{tmp_path / 'new.db'}", "tiles") as gradebook:  # starts alembic
        assert gradebook.students == []


# ---------------------------------------------------------------------------------------------------------- grades out
def settle(desk: Desk, *students: str) -> None:
    """What a person does in formgrader: a point for every cell that waits, and half a point more for the last."""
    with desk.gradebook() as gradebook:
        for student in students:
            for grade in gradebook.find_submission("hw1", student).notebooks[0].grades:
                if grade.needs_manual_grade:
                    grade.manual_score, grade.needs_manual_grade = 0.1, False


def test_nbgraders_export_and_ours_agree_and_names_survive(desk: Desk) -> None:
    settle(desk, "ada", "bob")
    with desk.gradebook() as gradebook:
        gradebook.update_or_create_student("bob", first_name='Bö"b', last_name="O'Ñ, the 3rd")
        gradebook.update_or_create_student("zoe", first_name="Zoë", last_name="Ω")
    done = nbgrader(
        desk.course,
        "export",
        "--exporter",
        "autograder.nbgrader_bridge.LmsExport",
        "--assignment=['hw1']",
        "--to=out.csv",
    )
    assert done.returncode == 0, done.stderr
    assert "eve cells wait for a person: finish them in formgrader" in words(done.stdout)
    with open(desk.course / "out.csv", encoding="utf-8", newline="") as file:
        rows = {row["id"]: row for row in csv.DictReader(file)}
    assert {id: (row["name"], row["state"], row["score"]) for id, row in rows.items()} == {
        "ada": ("", "graded", "100.6"),
        "bob": ("Bö\"b O'Ñ, the 3rd", "graded", "88.6"),
        "zoe": ("Zoë Ω", "missing", ""),
    }
    assert stat.S_IMODE((desk.course / "out.csv").stat().st_mode) == 0o600
    assert desk.exported(plugin=False)[0] == 0
    own = (desk.course / "grades.csv").read_text()
    assert any(line.startswith("hw1,,2026-09-14 10:00:00,ada,") and ",100.6" in line for line in own.splitlines())


CANVAS = (
    "Student,ID,SIS User ID,SIS Login ID,Section,Lab 1 (551)\n    Points Possible,,,,,112.00\n"
    '"Ñ, Ada",8,00452,ada,A,3\n"O\'Ñ, ""Bö""",7,00451,bob,A,\n'
)


def test_canvas_receives_its_own_file_back_or_nothing(desk: Desk) -> None:
    settle(desk, "ada", "bob")
    with desk.gradebook() as gradebook:
        gradebook.find_submission("hw1", "bob").notebooks[0].late_submission_penalty = 8.6
    template = desk.course / "canvas.csv"
    template.write_text(CANVAS)
    config = desk.course / "nbgrader_config.py"
    config.write_text(config.read_text() + 'c.LmsExport.target = "canvas"\nc.LmsExport.template = "canvas.csv"\n')
    code, printed = desk.exported("--to=up.csv")
    assert code == 0, printed
    assert (desk.course / "up.csv").read_text() == CANVAS.replace("ada,A,3", "ada,A,100.6").replace(
        "bob,A,", "bob,A,80"
    )
    template.write_text(CANVAS.replace("00451,bob", "00451,ada"))
    code, printed = desk.exported("--to=again.csv")
    assert code == 1
    assert "nothing written: " in words(printed)
    assert "ambiguous" in printed
    assert not (desk.course / "again.csv").exists()
    code, printed = desk.exported("--to=canvas.csv")
    assert code == 2
    assert "canvas.csv is also an input" in words(printed)
    code, printed = desk.exported("--LmsExport.target=canvass")
    assert code == 2
    assert "no target is called 'canvass'" in words(printed)


# ------------------------------------------------------------------------------------------- points of people come back
def test_points_of_written_questions_come_into_the_gradebook(desk: Desk, tmp_path: Path) -> None:
    settle(desk, "ada", "bob")
    with desk.gradebook() as gradebook:
        grade = gradebook.find_grade("hw1-passes", "hw1", "hw1", "ada")
        grade.manual_score, grade.extra_credit = 2.0, 0.5
    roster, book = tmp_path / "roster.csv", tmp_path / "book.db"
    roster.write_text("id,login\n00451,ada\n00452,bob\n")
    assert run("gradebook", "init", "--db", book)[0] == 0
    assert run("gradebook", "roster", roster, "--db", book)[0] == 0
    manual = ("nbgrader", "manual", "hw1", "--course", desk.course, "--db", book)
    code, printed = run(*manual, "--dry-run")
    assert code == 0, printed
    assert "ada hw1-passes - -> 2/2" in words(printed)
    assert "ada hw1-passes-extra - -> 0.5/0" in words(printed)
    assert "bob hw1-passes-extra - -> 0/0" in words(printed)
    assert "hw1: to write 14, unchanged 0, to be graded 6 to be graded, eve: 6 cells" in words(printed)
    code, printed = run(*manual, "--yes", "--author", "ta")
    assert (code, words(printed).endswith("written")) == (0, True)
    code, printed = run(*manual, "--yes")
    assert (code, words(printed).endswith("nothing is new")) == (0, True)
    code, printed = run("gradebook", "show", "hw1", "--student", "00451", "--db", book)
    assert code == 0
    assert "3/12" in words(printed)
