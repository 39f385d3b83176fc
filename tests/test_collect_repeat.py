"""`collect` again and again: unchanged stays, newer replaces, older is kept, a person's decision is not undone."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from collect_support import Cli, Course, Result, folder, module


@pytest.fixture
def course(tmp_path: Path, cli: Cli) -> Course:
    (tmp_path / "course").mkdir()
    return Course(tmp_path / "course", cli)


class Class:
    """A class whose hand-ins change between the runs."""

    def __init__(self, course: Course, root: Path) -> None:
        self._course, self._root, self._run = course, root, 0

    def __call__(self, files: dict[str, bytes], *options: object) -> Result:
        self._run += 1
        return self._course.collect(folder(self._root / f"s{self._run}", files), *options)


@pytest.fixture
def collect(course: Course, tmp_path: Path) -> Class:
    return Class(course, tmp_path)


def _tree(root: Path) -> dict[str, bytes]:
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}


def test_a_second_run_changes_nothing(collect: Class) -> None:
    first = collect({"a_1_10_softmax.py": module("a"), "b_2_11_softmax.py": module("b")})
    before = _tree(first.out)
    second = collect({"a_1_10_softmax.py": module("a"), "b_2_11_softmax.py": module("b")})
    assert second.code == 0
    assert "unchanged 2" in second.text
    after = _tree(second.out)
    assert {k: v for k, v in after.items() if k != "collected.json"} == {
        k: v for k, v in before.items() if k != "collected.json"
    }


def test_newer_replaces_older_is_kept_and_others_stay(collect: Class) -> None:
    collect({"a_1_10_softmax.py": module("1"), "b_2_11_softmax.py": module("b")})
    newer = collect({"a_LATE_1_20_softmax-1.py": module("2")})
    assert newer.students == {"1": module("2"), "2": module("b")}
    assert (newer.out / "1/attempts/001-softmax.py").read_bytes() == module("1")
    assert "replaced 1" in newer.text
    assert newer.record["students"]["1"]["attempts"][0]["entries"] == ["a_1_10_softmax.py"]
    older = collect({"a_1_10_softmax.py": module("1"), "b_2_5_softmax.py": module("b0")})
    assert older.students == {"1": module("2"), "2": module("b")}
    assert sorted(path.name for path in (older.out / "2/attempts").iterdir()) == ["001-softmax.py"]
    assert older.record["students"]["1"]["late"] is True
    assert older.code == 0


def test_where_the_layout_tells_no_order_the_last_download_counts(collect: Class) -> None:
    collect({"ann/softmax.py": module("1"), "bo/softmax.py": module("b")})
    collect({"ann/softmax.py": module("2"), "bo/softmax.py": module("b")})
    back = collect({"ann/softmax.py": module("1"), "bo/softmax.py": module("b")})
    assert back.students["ann"] == module("1")
    kept = {path.read_bytes() for path in (back.out / "ann/attempts").iterdir()}
    assert kept == {module("1"), module("2")}


def test_an_unusable_newer_attempt_does_not_take_the_older_away(collect: Class) -> None:
    collect({"a_1_10_softmax.py": module("1")})
    for _ in range(2):
        newer = collect({"a_1_20_softmax-1.py": b"%PDF-1.7"})
        assert newer.students == {"1": module("1")}
        assert newer.code == 1
        assert any("is a PDF" in line for line in newer.lines("1:"))
        assert any("is an earlier attempt" in line for line in newer.lines("1:"))


def test_an_older_attempt_in_the_same_download_is_not_graded_instead(collect: Class) -> None:
    done = collect({"a_1_10_softmax.py": module("1"), "a_1_20_softmax-1.py": b"%PDF-1.7"})
    assert (done.code, done.students) == (1, {})
    assert (done.out / "1/attempts/001-softmax.py").read_bytes() == module("1")


def test_what_a_person_put_there_stays(collect: Class) -> None:
    files = {"ann/one.py": module("1"), "ann/two.py": module("2"), "bo/softmax.py": module("b")}
    first = collect(files)
    assert first.code == 1
    (first.out / "ann").mkdir(exist_ok=True)
    (first.out / "ann/softmax.py").write_bytes(module("by hand"))
    (first.out / "bo/softmax.py").write_bytes(module("corrected"))
    second = collect(files)
    assert second.code == 0, second.text
    assert second.students == {"ann": module("by hand"), "bo": module("corrected")}
    assert "settled by hand 2" in second.text
    third = collect({"ann/softmax.py": module("3"), "bo/softmax.py": module("b")})
    assert third.code == 1
    assert third.students == {"ann": module("by hand"), "bo": module("corrected")}
    assert "attempts/001-softmax.py" in third.lines("ann:")[0]
    assert (third.out / "ann/attempts/001-softmax.py").read_bytes() == module("3")
    shutil.copy(third.out / "ann/attempts/001-softmax.py", third.out / "ann/softmax.py")
    fourth = collect({"ann/softmax.py": module("3"), "bo/softmax.py": module("b")})
    assert (fourth.code, fourth.students["ann"]) == (0, module("3"))


def test_a_lost_record_loses_no_work(collect: Class) -> None:
    first = collect({"ann/softmax.py": module("1"), "bo/softmax.py": module("b")})
    (first.out / "collected.json").unlink()
    again = collect({"ann/softmax.py": module("2"), "bo/softmax.py": module("b")})
    assert again.students == {"ann": module("1"), "bo": module("b")}
    assert (again.out / "ann/attempts/001-softmax.py").read_bytes() == module("2")
    assert again.code == 1


@pytest.mark.parametrize("content", [b"{", b"{}", b'{"format": 2, "assignment": "hw1", "module": "softmax.py"}'])
def test_a_damaged_record_is_refused(collect: Class, content: bytes) -> None:
    first = collect({"ann/softmax.py": module("1"), "bo/softmax.py": module("b")})
    (first.out / "collected.json").write_bytes(content)
    again = collect({"ann/softmax.py": module("2"), "bo/softmax.py": module("b")})
    assert again.code == 2
    assert "move it away" in again.text
    assert again.students["ann"] == module("1")


def test_a_dry_run_writes_nothing(collect: Class) -> None:
    dry = collect({"a_1_10_softmax.py": module("1"), "a_1_20_softmax-1.py": module("2")}, "--dry-run")
    assert dry.code == 0
    assert "collected 1 (new 1)" in dry.text
    assert not dry.out.exists()
    real = collect({"a_1_10_softmax.py": module("1")})
    before = _tree(real.out)
    collect({"a_1_20_softmax-1.py": module("2")}, "--dry-run")
    assert _tree(real.out) == before


def test_a_folder_that_is_a_link_is_not_written_through(collect: Class, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    out = tmp_path / "course/submissions/hw1"
    out.mkdir(parents=True)
    (out / "ann").symlink_to(elsewhere)
    done = collect({"ann/softmax.py": module("1"), "bo/softmax.py": module("b")})
    assert (done.code, list(elsewhere.iterdir())) == (2, [])
    assert "it is no folder" in done.text
