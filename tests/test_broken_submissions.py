"""A class of broken hand-ins through `autograder grade`: each is a row with the right cause, and costs nobody else."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from broken_submissions import ONE_FUNCTION, RIGHT_FILES, WHOLE_FILE
from printed import words

from autograder import record as rec
from autograder.render.prose import explain

ROOT = Path(__file__).parent.parent
SOLUTION = (ROOT / "solutions/hw1/softmax.py").read_text()
Cli = Callable[..., subprocess.CompletedProcess[str]]


def _source(name: str) -> bytes:
    if name in ONE_FUNCTION:
        return f"{SOLUTION}\n\n{ONE_FUNCTION[name].snippet}\n".encode()
    if name in WHOLE_FILE:
        return WHOLE_FILE[name][0]
    return {
        "byte_order_mark": b"\xef\xbb\xbf" + SOLUTION.encode(),
        "windows_line_ends": SOLUTION.replace("\n", "\r\n").encode(),
        "closed_stdout": f"{SOLUTION}\nimport sys\nsys.stdout.close()\nsys.stderr = None\n".encode(),
        "prints_politely": f"{SOLUTION}\nprint('hello')\n".encode(),
    }[name]


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """This repository's course with hw1 only, and a time limit that keeps the loops short."""
    root = tmp_path_factory.mktemp("course")
    shutil.copytree(ROOT / "solutions/hw1", root / "solutions/hw1", ignore=shutil.ignore_patterns("corpus"))
    (root / "course.yaml").write_text("format: 1\nid: test\ntitle: Test course\nassignments: [hw1]\n")
    manifest = root / "solutions/hw1/assignment.yaml"
    text, count = re.subn(r"check_seconds: \d+", "check_seconds: 3", manifest.read_text())
    assert count == 1
    text, count = re.subn(r"memory_mib: \d+", "memory_mib: 512", text)
    assert count == 1
    manifest.write_text(text)
    return root


@pytest.fixture(scope="module")
def records(course: Path, cli: Cli) -> dict[str, rec.Record]:
    for name in (*ONE_FUNCTION, *WHOLE_FILE, *RIGHT_FILES):
        folder = course / "submissions/hw1" / name
        folder.mkdir(parents=True)
        (folder / "softmax.py").write_bytes(_source(name))
    done = cli("grade", "hw1", cwd=course, timeout=900)
    assert done.returncode == 0, done.stdout + done.stderr
    files = sorted((course / "grades/hw1").glob("*.json"))
    return {path.stem: rec.decode(path.read_bytes()) for path in files}


def test_every_submission_has_a_record(records: dict[str, rec.Record]) -> None:
    assert set(records) == {*ONE_FUNCTION, *WHOLE_FILE, *RIGHT_FILES}
    assert all(record.score is not None for record in records.values())


@pytest.mark.parametrize("name", ONE_FUNCTION)
def test_one_broken_function_costs_itself_only(records: dict[str, rec.Record], name: str) -> None:
    broken, checks = ONE_FUNCTION[name], records[name].checks
    hit = [check for check in checks if check.stub == broken.hits]
    assert any(check.status == broken.status and broken.says in explain(check.failure) for check in hit), [
        (check.id, check.status, explain(check.failure)) for check in hit
    ]
    others = [check for check in checks if check.stub != broken.hits and check.status not in ("passed", "skipped")]
    assert not others, [(check.id, check.status, explain(check.failure)) for check in others]
    assert all(check.points == 0 for check in hit if check.status != "passed")


@pytest.mark.parametrize("name", WHOLE_FILE)
def test_a_file_that_cannot_be_imported_earns_nothing_and_says_why(records: dict[str, rec.Record], name: str) -> None:
    _, status, says = WHOLE_FILE[name]
    record = records[name]
    assert record.score == 0
    first = record.checks[0]
    assert first.status == status
    assert says in explain(first.failure)


@pytest.mark.parametrize("name", RIGHT_FILES)
def test_an_unusual_file_is_not_punished(records: dict[str, rec.Record], name: str) -> None:
    lost = [(check.id, explain(check.failure)) for check in records[name].checks if check.status != "passed"]
    assert not lost
    assert records[name].score == 100


def test_records_are_private_and_follow_the_published_schema(course: Path, records: dict[str, rec.Record]) -> None:
    import jsonschema

    published: dict[str, Any] = json.loads((ROOT / "docs/schemas/result.schema.json").read_text())
    assert published == json.loads(json.dumps(rec.schema()))
    validator = jsonschema.Draft202012Validator(published)
    for path in (course / "grades/hw1").glob("*.json"):
        validator.validate(json.loads(path.read_text()))
        assert path.stat().st_mode & 0o777 == 0o600


def test_nothing_printed_in_hidden_checks_reaches_the_record(records: dict[str, rec.Record]) -> None:
    hidden = [c for c in records["prints_a_gigabyte"].checks if c.suite == "hidden" and c.output is not None]
    assert hidden
    assert all(check.output is not None and check.output.text is None for check in hidden)
    visible = [c for c in records["prints_a_gigabyte"].checks if c.suite == "public" and c.output is not None]
    assert visible[0].output is not None
    assert visible[0].output.cut
    assert len(visible[0].output.text or "") < 70_000


def test_no_record_grows_with_what_a_submission_says(course: Path, records: dict[str, rec.Record]) -> None:
    sizes = {path.stem: path.stat().st_size for path in (course / "grades/hw1").glob("*.json")}
    assert max(sizes.values()) < 1 << 20, max(sizes, key=lambda name: sizes[name])


def test_links_and_unusable_names_are_listed_and_not_graded(course: Path, cli: Cli, tmp_path: Path) -> None:
    solution = course / "solutions/hw1"
    (tmp_path / "thief").mkdir()
    (tmp_path / "thief/softmax.py").symlink_to(solution / "softmax.py")
    (tmp_path / "whole").symlink_to(solution)
    (tmp_path / ("n" * 250)).mkdir()
    (tmp_path / "two\nlines").mkdir()
    (tmp_path / "honest").mkdir()
    (tmp_path / "honest/softmax.py").write_text("")
    done = cli("grade", "hw1", tmp_path, "--out", tmp_path / "out", cwd=course)
    assert done.returncode == 1, done.stderr
    assert "graded 1, unchanged 0, nothing to grade" in done.stdout
    assert done.stdout.count("reached through a link") == 2
    assert [path.name for path in (tmp_path / "out").glob("*.json")] == ["honest.json"]


def test_an_output_folder_that_cannot_be_is_said_at_once(course: Path, cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "class/honest").mkdir(parents=True)
    done = cli("grade", "hw1", tmp_path / "class", "--out", tmp_path / "file", cwd=course)
    assert done.returncode == 2
    assert "choose another --out" in words(done.stderr)


def test_a_second_run_grades_only_what_changed(course: Path, records: dict[str, rec.Record], cli: Cli) -> None:
    again = cli("grade", "hw1", cwd=course)
    assert f"graded 0, unchanged {len(records)}" in again.stdout
    changed = course / "submissions/hw1/empty/softmax.py"
    changed.write_text("# one more line\n")
    once = cli("grade", "hw1", cwd=course)
    assert f"graded 1, unchanged {len(records) - 1}" in once.stdout


def test_the_same_file_gives_the_same_record_apart_from_times(
    course: Path, records: dict[str, rec.Record], cli: Cli
) -> None:
    before = json.loads((course / "grades/hw1/returns_none.json").read_text())
    cli("grade", "hw1", "--student", "returns_none", "--force", cwd=course)
    after = json.loads((course / "grades/hw1/returns_none.json").read_text())
    assert _timeless(before) == _timeless(after)


def _timeless(record: dict[str, Any]) -> dict[str, Any]:
    checks = [{key: value for key, value in check.items() if key != "duration"} for check in record["checks"]]
    return {**record, "started": "", "finished": "", "checks": checks}


def test_imports_that_take_their_time_again_and_again_end_with_the_time_of_all_checks(
    course: Path, cli: Cli, tmp_path: Path
) -> None:
    root = tmp_path / "course"
    shutil.copytree(course / "solutions", root / "solutions")
    shutil.copy(course / "course.yaml", root)
    manifest = root / "solutions/hw1/assignment.yaml"
    manifest.write_text(manifest.read_text().replace("limits:\n", "limits:\n  total_seconds: 1\n"))
    functions = re.findall(r"^def (softmax\w+|block_state|merge_states|finalize)\(", SOLUTION, re.MULTILINE)
    dying = "".join(f"def {name}(*arguments):\n    os._exit(0)\n\n\n" for name in functions)
    (tmp_path / "softmax.py").write_text(f"import os\nimport threading\n\nthreading.Event().wait(0.4)\n\n\n{dying}")
    cli("run", "hw1", tmp_path / "softmax.py", "--json", tmp_path / "record.json", cwd=root)
    statuses = [check["status"] for check in json.loads((tmp_path / "record.json").read_text())["checks"]]
    assert statuses[0] == "crashed"
    assert statuses.count("crashed") < 5
    assert set(statuses) <= {"crashed", "timed_out", "skipped"}


def test_a_record_without_the_secret_is_graded_again_with_it(course: Path, cli: Cli, tmp_path: Path) -> None:
    root = tmp_path / "course"
    shutil.copytree(course / "solutions", root / "solutions")
    shutil.copy(course / "course.yaml", root)
    (root / "submissions/hw1/ann").mkdir(parents=True)
    (root / "submissions/hw1/ann/softmax.py").write_text("def softmax_naive(x, y)\n")
    assert "there is no course secret" in cli("grade", "hw1", cwd=root).stdout
    (root / "solutions/secret.txt").write_text("of this course only\n")
    again = cli("grade", "hw1", cwd=root).stdout
    assert "graded 1, unchanged 0" in again
    assert "there is no course secret" not in again
