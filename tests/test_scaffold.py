"""A new assignment is complete, well formed and consistent from the start, and replaces nothing."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.manifest import Course, CourseError, load_corpus, load_course
from autograder.release import release, release_check
from autograder.scaffold import new_assignment, open_todos

REPOSITORY = Path(__file__).parent.parent


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Course:
    monkeypatch.setenv("AUTOGRADER_SECRET", "a-secret-for-this-test-only")
    root = tmp_path / "course"
    (root / "solutions/hw1").mkdir(parents=True)
    (root / "course.yaml").write_text("format: 1\nid: demo\ntitle: A course\nassignments: [hw1]\n")
    return load_course(root)


def ruff(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "ruff", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, cwd=REPOSITORY, check=False)


LISTS = [
    ("assignments: []  # none yet\n", "assignments: [hw7]  # none yet\n"),
    ("assignments: [hw1]  # one\n", "assignments: [hw1, hw7]  # one\n"),
    ("assignments: [\n  hw1,  # first\n]\n", "assignments: [\n  hw1, hw7,  # first\n]\n"),
    ("assignments:\n  - hw1  # first\nsecret_file: a\n", "assignments:\n  - hw1  # first\n  - hw7\nsecret_file: a\n"),
    ("assignments:\n- hw1", "assignments:\n- hw1\n- hw7"),
]


@pytest.mark.parametrize(("before", "after"), LISTS, ids=["empty", "flow", "lines", "block", "last"])
def test_a_new_assignment_is_listed_and_the_rest_of_the_file_stays(course: Course, before: str, after: str) -> None:
    head = "# our course\nformat: 1\nid: demo\ntitle: A course\n"
    course.path.write_text(head + before)
    new_assignment(load_course(course.root), "hw7", "Ring all-reduce")
    assert course.path.read_text() == head + after


@pytest.mark.parametrize(
    "title", ["Ring all-reduce", 'Quotes " and \\ in: titles #1', "Random", "Ünïcode", "2 + 2", "Lambda"]
)
def test_a_new_assignment_is_complete_and_formatted(course: Course, title: str) -> None:
    new_assignment(course, "hw7", title)
    course = load_course(course.root)
    assignment = course.assignment("hw7")
    assert assignment.title == title
    assert [variant.id for variant in load_corpus(assignment)] == [
        "right/loads_first",
        "wrong/one_behind",
        "wrong/starts_again",
        "cheat/never_looks",
    ]
    release(course, ["hw7"], out=course.root.parent / "kit")
    assert release_check(course, ["hw7"]) == []
    folders = course.root / "solutions/hw7", course.root / "assignments/hw7"
    assert ruff("format", "--diff", "--config", REPOSITORY / "pyproject.toml", *folders).stdout == ""
    lint = ruff("check", "--config", REPOSITORY / "pyproject.toml", "--exclude", "corpus", *folders)
    assert lint.returncode == 0, lint.stdout
    assert [todo.id for todo in open_todos(course, "hw7")] != []
    assert len({todo.id for todo in open_todos(course, "hw7")}) == 10


def test_a_new_assignment_never_replaces_anything(course: Course) -> None:
    for id, title, message in [
        ("hw1", "Again", "hw1 exists already"),
        ("hw 7", "Space", "cannot be an id"),
        ("../hw7", "Up", "cannot be an id"),
        ("hw7", "two\nlines", "the title is empty or has line breaks"),
    ]:
        with pytest.raises(CourseError, match=message):
            new_assignment(course, id, title)
    shutil.rmtree(course.root / "solutions")
    with pytest.raises(CourseError, match="this is a student's kit"):
        new_assignment(course, "hw7", "Title")
