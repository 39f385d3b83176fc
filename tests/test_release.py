"""Releasing: stubs are generated, people's work is never overwritten, and a kit holds nothing of the staff's."""

from __future__ import annotations

import ast
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from autograder import leaks
from autograder.course.errors import CourseError, LeakFound, ManifestError, ReleaseError
from autograder.kit import project
from autograder.manifest import Course, find_course, load_course
from autograder.release import RECORD, release, release_check

REPOSITORY = Path(__file__).parent.parent
SECRET = "a-secret-for-this-test-only"

SOLUTION = '''\
"""Moving averages."""

import math


def mean(values):
    """The mean of the values."""
    ### BEGIN SOLUTION
    total = math.fsum(values)
    count = max(len(values), 1)
    return total / count
    ### END SOLUTION


### BEGIN SOLUTION
def _pairs(values):
    return zip(values, values[1:])


### END SOLUTION
class Average:
    """A running average."""

    def __init__(self, width):
        self.width = width

    def __call__(self, value):
        ### BEGIN SOLUTION
        return self.width * LIMIT
        ### END SOLUTION
'''

STUB = '''\
"""Moving averages."""

import math


def mean(values):
    """The mean of the values."""
    raise NotImplementedError("hw1: mean is not written yet")


class Average:
    """A running average."""

    def __init__(self, width):
        self.width = width

    def __call__(self, value):
        raise NotImplementedError("hw1: Average.__call__ is not written yet")
'''

MANIFEST = """\
format: 1
id: hw1
title: Averages
module: averages.py
stubs:
  - {name: mean, title: The mean}
  - {name: Average, title: Running average}
release: [README.md, test_public.py, hw1.ipynb]
driver: driver.py
"""

HIDDEN = '''\
"""Hidden."""


def test_everything(submission, solution, rng):
    """agrees with the solution"""
    values = rng.uniform(size=7)
    expected = solution.mean(values)
    got = submission.mean(values)
    spread = max(values) - min(values)
    worst = abs(got - expected)
    budget = spread * 1e-12
    assert worst <= budget
    assert submission.mean([1.0]) == 1.0
    assert submission.mean([]) == 0.0
'''

VARIANT = '''\
"""Divides by one too many.

fails: [everything]
"""


def mean(values):
    """The mean of the values."""
    total = 0.0
    number = 0
    for value in values:
        total = total + value
        number = number + 1
    if number > 1000:
        number = number - 1
    number = number + 1
    return total / number
'''


ANSWER = {"solution": True, "grade": True, "grade_id": "why"}
WHY = "Because a sum of many small terms loses digits."
NOTEBOOK = {
    "nbformat": 4,
    "cells": [{"cell_type": "markdown", "id": "why", "metadata": {"nbgrader": ANSWER}, "source": [WHY]}],
}


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Course:
    monkeypatch.delenv("AUTOGRADER_SECRET", raising=False)
    root = tmp_path / "course"
    files = {
        "course.yaml": "format: 1\nid: demo\ntitle: A course\nassignments: [hw1]  # one for now\n",
        "solutions/secret.txt": SECRET + "\n",
        "solutions/hw1/assignment.yaml": MANIFEST,
        "solutions/hw1/averages.py": SOLUTION,
        "solutions/hw1/README.md": "# Averages\n",
        "solutions/hw1/driver.py": '"""Driver."""\n',
        "solutions/hw1/test_public.py": '"""Public."""\n',
        "solutions/hw1/test_hidden.py": HIDDEN,
        "solutions/hw1/hw1.ipynb": json.dumps(NOTEBOOK),
        "solutions/hw1/corpus/wrong/one_too_many.py": VARIANT,
    }
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return load_course(root)


# ------------------------------------------------------------------------------------------------------------- release
def test_a_listed_stub_without_work_left_is_an_error(course: Course) -> None:
    path = course.root / "solutions/hw1/averages.py"
    path.write_text(SOLUTION + "\n\ndef extra():\n    return 1\n")
    manifest = course.root / "solutions/hw1/assignment.yaml"
    manifest.write_text(MANIFEST.replace("name: mean", "name: extra"))
    with pytest.raises(ManifestError, match="'extra' has no solution region, so it is published") as raised:
        release(course)
    assert raised.value.line == len(SOLUTION.splitlines()) + 3
    manifest.write_text(MANIFEST.replace("name: mean", "name: _pairs"))
    with pytest.raises(ManifestError, match="the stub '_pairs' is not in the generated module"):
        release(course)


def test_release_writes_exactly_what_the_manifest_names_and_is_repeatable(course: Course) -> None:
    first = release(course)
    folder = course.root / "assignments/hw1"
    names = ["README.md", "assignment.yaml", "averages.py", "driver.py", "hw1.ipynb", "test_public.py"]
    assert sorted(path.name for path in folder.iterdir()) == sorted([*names, RECORD])
    assert (folder / "averages.py").read_text() == STUB
    assert (first.removed, first.unchanged, first.kit) == ([], [], None)
    assert release_check(course) == []
    again = release(course)
    assert (again.written, len(again.unchanged)) == ([], len(names) + 1)


def test_check_names_each_file_that_is_not_up_to_date(course: Course) -> None:
    release(course)
    folder = course.root / "assignments/hw1"
    (folder / "README.md").write_text("edited")
    (folder / "driver.py").unlink()
    (folder.parent / "hw0").mkdir()
    (folder.parent / "hw0" / RECORD).write_text("{}")
    assert [str(difference) for difference in release_check(course)] == [
        "assignments/hw1/README.md: differs from what its solution generates; run 'autograder release'",
        "assignments/hw1/driver.py: is missing; run 'autograder release'",
        "assignments/hw0: is released but not in course.yaml; remove the folder, or list the assignment",
    ]


def test_a_file_that_is_no_longer_released_goes_and_others_stay(course: Course) -> None:
    release(course)
    folder = course.root / "assignments/hw1"
    (folder / "notes.txt").write_text("somebody's")
    (course.root / "solutions/hw1/assignment.yaml").write_text(MANIFEST.replace("driver: driver.py\n", ""))
    assert [difference.problem for difference in release_check(course)][-1] == "is no longer released"
    assert release(course).removed == ["assignments/hw1/driver.py"]
    assert (folder / "notes.txt").exists()
    assert not (folder / "driver.py").exists()


def test_work_in_the_released_module_is_kept_unless_forced(course: Course) -> None:
    release(course)
    module = course.root / "assignments/hw1/averages.py"
    source = course.root / "solutions/hw1/averages.py"
    source.write_text(SOLUTION.replace("Moving averages", "Averages that move"))
    release(course)  # an untouched old stub is simply replaced
    module.write_text(module.read_text() + "\n# an afternoon's work\n")
    with pytest.raises(ReleaseError, match=r"averages\.py was edited since it was released; .*--force"):
        release(course)
    assert "afternoon" in module.read_text()
    release(course, force=True)
    assert "afternoon" not in module.read_text()


def test_a_record_that_was_tampered_with_deletes_nothing_outside(course: Course) -> None:
    release(course)
    victim = course.root / "solutions/secret.txt"
    (course.root / "assignments/hw1" / RECORD).write_text(json.dumps({"../../solutions/secret.txt": "0"}))
    assert release(course).removed == []
    assert victim.exists()


def test_a_marker_in_a_file_that_is_released_as_it_is_is_an_error(course: Course) -> None:
    path = course.root / "solutions/hw1/test_public.py"
    path.write_text("### BEGIN SOLUTION\nx = 1\n### END SOLUTION\n")
    with pytest.raises(ManifestError, match="this file is released as it is"):
        release(course)


def test_a_missing_file_is_an_error_of_the_manifest(course: Course) -> None:
    (course.root / "solutions/hw1/README.md").unlink()
    with pytest.raises(ManifestError, match=r"'README\.md' is to be released but .* is missing"):
        release(course)


# ----------------------------------------------------------------------------------------------------------------- kit
@pytest.fixture
def kit(course: Course) -> Path:
    out = course.root.parent / "kit"
    assert release(course, out=out).kit == out
    return out


def test_a_kit_has_what_a_student_needs_and_nothing_else(course: Course, kit: Path) -> None:
    top = [".gitignore", "LICENSE", "README.md", "assignments", "autograder", "course.yaml", "course_lib"]
    assert sorted(path.name for path in kit.iterdir()) == [*top, "pyproject.toml"]
    assert leaks.scan(course, kit) == []
    assert not list(kit.rglob("__pycache__"))
    assert find_course(kit / "assignments/hw1").assignment("hw1").source_dir is None
    assert load_course(kit).secret() is None
    assert "secret" not in (kit / "course.yaml").read_text()
    for path in kit.rglob("*.py"):
        ast.parse(path.read_text())


def test_a_kit_declares_what_the_project_does(kit: Path) -> None:
    tomllib = pytest.importorskip("tomllib")
    ours = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
    theirs = tomllib.loads((kit / "pyproject.toml").read_text())["project"]
    for key in ("version", "requires-python", "dependencies", "scripts", "entry-points", "license", "license-files"):
        assert theirs[key] == ours[key], key
    assert theirs["name"] == "demo-kit"
    assert (kit / "LICENSE").read_text() == (REPOSITORY / "LICENSE").read_text() == project().license
    readme = (kit / "README.md").read_text()
    assert "{{" not in readme
    assert "| hw1 | Averages | `assignments/hw1/averages.py` |" in readme


def test_a_kit_works_from_its_own_folder(kit: Path) -> None:
    script = "from pathlib import Path; import autograder; from autograder.manifest import find_course as f\n"
    script += "print(Path(autograder.__file__).parent.parent == Path.cwd(), f(Path.cwd()).assignment('hw1').title)"
    environment = {**os.environ, "PYTHONPATH": str(kit)}
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, cwd=kit, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == "True Averages\n"
    with pytest.raises(CourseError, match="release from the staff's copy"):
        release(load_course(kit))


def test_two_kits_are_the_same_bytes(course: Course, kit: Path) -> None:
    other = release(course, out=course.root.parent / "other").kit
    assert other is not None
    names = {path.relative_to(kit) for path in kit.rglob("*") if path.is_file()}
    assert names == {path.relative_to(other) for path in other.rglob("*") if path.is_file()}
    assert all((kit / name).read_bytes() == (other / name).read_bytes() for name in names)


def test_a_kit_never_goes_into_a_folder_that_is_not_empty(course: Course, tmp_path: Path) -> None:
    (tmp_path / "kit").mkdir()
    release(course, out=tmp_path / "kit")
    with pytest.raises(ReleaseError, match="is not an empty folder; name a new one"):
        release(course, out=tmp_path / "kit")


def test_a_kit_that_cannot_be_written_is_told_before_anything_is(course: Course) -> None:
    with pytest.raises(ReleaseError, match=r"kit cannot be made: .*; name a folder where you may write"):
        release(course, out=course.path / "kit")
    assert not (course.root / "assignments").exists()
    (course.root / "assignments").write_text("not a folder")
    with pytest.raises(CourseError, match=r"cannot be read or written: .*; check its permissions"):
        release(course)


# --------------------------------------------------------------------------------------------------------------- leaks
REGION = "total = math.fsum(values)\ncount = max(len(values), 1)\nreturn total / count\n"
BODY = "\n".join(VARIANT.split("\n")[-11:])
PLANTS = [
    ("assignments/hw1/notes.md", f"Spoiler:\n\n  {REGION}", "text of a solution in solutions/hw1/averages.py"),
    ("course_lib/helper.py", REGION.replace("\n", "\n\n\t"), "text of a solution in solutions/hw1/averages.py"),
    ("autograder/x.txt", REGION.replace("\n", "\r\n"), "text of a solution in solutions/hw1/averages.py"),
    ("assignments/hw1/b.md", "return self.width * LIMIT\n", "text of a solution in solutions/hw1/averages.py"),
    ("a.md", f"# Why\n\n{WHY}\n", "text of a solution in solutions/hw1/hw1.ipynb"),
    ("x.ipynb", json.dumps({"cells": [{"outputs": [{"text": REGION.splitlines(True)}]}]}), "text of a solution"),
    ("assignments/hw1/helpers.py", HIDDEN, "text of solutions/hw1/test_hidden.py"),
    ("assignments/hw1/example.py", BODY, "text of solutions/hw1/corpus/wrong/one_too_many.py"),
    ("assignments/hw1/test_hidden.py", "", "is named like hidden checks"),
    ("assignments/hw1/one_too_many.py", "", "is named like hidden checks or a program of the corpus"),
    ("solutions/hw1/readme.md", "", "lies in a folder of the staff"),
    ("assignments/hw1/corpus/x.py", "", "lies in a folder of the staff"),
    ("assignments/secret.txt", "", "is named like the file of the course's secret"),
    ("README.md", f"key={SECRET}.", "holds the course's secret"),
    ("assignments/hw1/averages.py", "def f():\n    ### BEGIN SOLUTION\n    x\n    ### END SOLUTION", "between markers"),
    ("assignments/hw1/averages.py", "def f():\n    ## BEGIN SOLUTION\n    x\n", "not a marker"),
]


@pytest.mark.parametrize(("name", "text", "what"), PLANTS, ids=[plant[0] for plant in PLANTS])
def test_a_planted_leak_is_found(course: Course, kit: Path, name: str, text: str, what: str) -> None:
    (kit / name).parent.mkdir(parents=True, exist_ok=True)
    (kit / name).write_bytes(text.encode())
    found = [leak for leak in leaks.scan(course, kit) if what in leak.what]
    assert [leak.path for leak in found[:1]] == [name]


def test_a_leak_stops_the_release_and_leaves_nothing_behind(course: Course, tmp_path: Path) -> None:
    (course.root / "solutions/hw1/README.md").write_text(f"# Averages\n\nTry\n\n    {REGION}")
    with pytest.raises(LeakFound, match=r"assignments/hw1/README\.md:5: text of a solution"):
        release(course, out=tmp_path / "kit")
    assert [path.name for path in tmp_path.iterdir()] == ["course"]
    assert not (course.root / "assignments").exists()


def test_a_secret_that_can_be_guessed_stops_the_release(course: Course, tmp_path: Path) -> None:
    (course.root / "solutions/secret.txt").write_text("hw")
    with pytest.raises(CourseError, match="shorter than 8 characters"):
        release(course, out=tmp_path / "kit")


# --------------------------------------------------------------------------------------------------- this repository's
def test_the_assignments_of_this_course_are_up_to_date() -> None:
    assert [str(difference) for difference in release_check(load_course(REPOSITORY))] == []


def test_the_kit_of_this_course_leaks_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTOGRADER_SECRET", SECRET)
    root = tmp_path / "course"
    for name in ("solutions", "assignments"):
        shutil.copytree(REPOSITORY / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(REPOSITORY / "course.yaml", root)
    course = load_course(root)
    kit = release(course, out=tmp_path / "kit", force=True).kit
    assert kit is not None
    names = {path.relative_to(kit).as_posix() for path in kit.rglob("*")}
    assert not [name for name in names if {"solutions", "corpus", "test_hidden.py"} & set(name.split("/"))]
    region = next(leaks.solution_regions(root, (root / "solutions/hw1/softmax.py").read_text()))
    (kit / "assignments/hw1/planted.md").write_text("\n".join(region))
    assert any(leak.path == "assignments/hw1/planted.md" for leak in leaks.scan(course, kit))
