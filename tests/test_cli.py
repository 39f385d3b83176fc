"""The command line as a student uses it, on this repository's hw1."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from printed import words

ROOT = Path(__file__).parent.parent
SOLUTION = ROOT / "solutions/hw1/softmax.py"
Cli = Callable[..., subprocess.CompletedProcess[str]]


def test_the_solution_earns_everything(cli: Cli, tmp_path: Path) -> None:
    done = cli("run", "hw1", SOLUTION, "--json", tmp_path / "r.json", "--junit", tmp_path / "r.xml")
    assert done.returncode == 0, done.stdout
    assert "score: 100/100" in done.stdout
    record = json.loads((tmp_path / "r.json").read_text())
    assert (record["score"], record["max_score"]) == (100, 100)
    assert record["submission"]["files"]["softmax.py"] in done.stdout
    suite = ET.parse(tmp_path / "r.xml").getroot()[0]
    assert int(suite.get("tests", "")) == len(record["checks"]) == len(suite)
    assert suite.get("failures") == suite.get("errors") == "0"


def test_the_stub_earns_nothing_and_is_told_where_to_begin(cli: Cli) -> None:
    done = cli("run", "hw1", "--json", "-")
    assert done.returncode == 1
    record = json.loads(done.stdout)
    assert record["score"] == 0
    assert {check["status"] for check in record["checks"]} == {"not_implemented"}
    assert "next: write softmax_naive" in words(done.stderr)
    assert "\x1b" not in done.stderr


def test_public_success_is_never_worded_as_full_marks(cli: Cli) -> None:
    done = cli("run", "hw1", SOLUTION, "--public")
    assert done.returncode == 0
    assert "all public checks pass" in done.stdout
    assert "hidden checks run when your submission is graded" in words(done.stdout)
    assert "100" not in done.stdout.split("points); hidden")[0].rsplit("(", 1)[1]
    assert f"next: hand in: autograder pack hw1 {SOLUTION}" in words(done.stdout)


def test_a_selection_is_not_a_grade(cli: Cli, tmp_path: Path) -> None:
    done = cli("run", "hw1", SOLUTION, "--stub", "finalize", "-k", "float64", "--json", tmp_path / "r.json")
    record = json.loads((tmp_path / "r.json").read_text())
    assert record["selection"] == "-k float64 and --stub finalize"
    assert {check["stub"] for check in record["checks"]} == {"finalize"}
    assert "score of the selected checks" in done.stdout
    assert f"next: run all checks: autograder run hw1 {SOLUTION}" in words(done.stdout)


def test_a_wrong_program_is_told_what_it_does(cli: Cli, tmp_path: Path) -> None:
    wrong = tmp_path / "softmax.py"
    source = SOLUTION.read_text()
    wrong.write_text(
        f"{source}\n\ndef softmax_online(x, y):\n    m, d = -np.inf, 0.0\n    for i in range(len(x)):\n"
        "        v = float(x.load(i))\n        m = max(m, v)\n        d += np.exp(v - m)\n"
        "    for i in range(len(x)):\n        y.store(i, np.exp(float(x.load(i)) - m) / d)\n"
    )
    done = cli("run", "hw1", wrong, "--stub", "softmax_online")
    assert done.returncode == 1
    assert "first to look at: public_" in done.stdout
    assert "expected" in done.stdout
    assert "hint: " in done.stdout
    assert "it behaves like this: " in done.stdout
    assert "--stub softmax_online after a change" in words(done.stdout)


USAGE = {
    "unknown assignment": (("run", "hw9"), "'hw9' is no assignment"),
    "unknown stub": (("run", "hw1", "--stub", "softmax_onlin"), "softmax_online"),
    "missing file": (("run", "hw1", "no/such/file.py"), "no/such/file.py does not exist"),
    "no expression": (("run", "hw1", SOLUTION, "-k", "a and ("), "is no expression"),
    "nothing selected": (("run", "hw1", SOLUTION, "-k", "nothing_matches"), "no check of hw1 matches"),
    "unknown hint": (("hint", "hw1", "softmax_onlin"), "did you mean softmax_online"),
    "no batch folder": (("grade", "hw1", "no/such/folder"), "no/such/folder is no folder"),
    "json into a missing folder": (("run", "hw1", SOLUTION, "--json", "no/such/r.json"), "r.json cannot be written"),
    "junit into a folder": (("run", "hw1", SOLUTION, "--junit", "tests"), "tests cannot be written"),
    "pack into a missing folder": (("pack", "hw1", SOLUTION, "-o", "no/such/a.zip"), "a.zip cannot be written"),
    "pack into a folder": (("pack", "hw1", SOLUTION, "-o", "tests"), "tests cannot be written"),
    "no hint": (("hint", "hw1", "softmax_online", "-n", "-1"), "Invalid value for '-n'"),
}


@pytest.mark.parametrize("name", USAGE)
def test_a_usage_mistake_is_one_clear_message(cli: Cli, name: str) -> None:
    arguments, message = USAGE[name]
    done = cli(*arguments)
    assert done.returncode == 2
    assert message in words(done.stderr)
    assert "Traceback" not in done.stderr + done.stdout
    assert "next:" not in done.stdout, "told after the run instead of before it"


@pytest.mark.parametrize("option", [("run", "--json"), ("run", "--junit"), ("pack", "-o")])
def test_no_output_overwrites_the_submission(cli: Cli, tmp_path: Path, option: tuple[str, str]) -> None:
    (tmp_path / "softmax.py").write_bytes(SOLUTION.read_bytes())
    (tmp_path / "link").symlink_to("softmax.py")
    done = cli(option[0], "hw1", tmp_path, option[1], tmp_path / "link")
    assert done.returncode == 2
    assert "is the submission and would be overwritten" in words(done.stderr)
    assert (tmp_path / "softmax.py").read_bytes() == SOLUTION.read_bytes()


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A student's copy of the course with hw1 alone."""
    (tmp_path / "course.yaml").write_text("format: 1\nid: copy\ntitle: A copy\nassignments: [hw1]\n")
    shutil.copytree(ROOT / "assignments/hw1", tmp_path / "assignments/hw1")
    return tmp_path


@pytest.mark.parametrize("broken", [b"def test_x(:\n", b"'\xff'\n", b"x = " + b"-" * 20_000 + b"1\n"])
def test_checks_that_were_edited_badly_are_named(cli: Cli, copy: Path, broken: bytes) -> None:
    checks = copy / "assignments/hw1/test_public.py"
    checks.write_bytes(broken)
    done = cli("hint", "hw1", "public_merge", cwd=copy)
    assert done.returncode == 2
    assert f"error: {checks}" in words(done.stderr)
    assert "restore test_public.py" in words(done.stderr)


def test_a_folder_that_cannot_be_looked_into_is_a_mistake_of_the_setup(cli: Cli, copy: Path) -> None:
    shutil.rmtree(copy / "assignments/hw1")
    (copy / "assignments/hw1").symlink_to("x" * 300)  # fails for root as well, as a closed folder does for others
    done = cli("list", cwd=copy)
    assert done.returncode == 2
    assert "error: assignments/hw1/assignment.yaml" in words(done.stderr)


def test_a_folder_that_was_deleted_is_said_to_be_gone(tmp_path: Path) -> None:
    (tmp_path / "gone").mkdir()
    start = "import os, sys; os.rmdir(os.getcwd()); os.execv(sys.executable, [sys.executable, *sys.argv[1:]])"
    command = [sys.executable, "-c", start, "-m", "autograder", "list"]
    done = subprocess.run(command, cwd=tmp_path / "gone", capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("error: the current folder is no longer there")


def test_it_works_from_any_folder_of_the_course_and_nowhere_else(cli: Cli, tmp_path: Path) -> None:
    assert "softmax_online" in cli("list", cwd=ROOT / "solutions" / "hw1").stdout
    outside = cli("list", cwd=tmp_path)
    assert outside.returncode == 2
    assert "no course.yaml" in words(outside.stderr)


def test_a_folder_may_hold_the_file_deeper_down(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "upload" / "hw").mkdir(parents=True)
    (tmp_path / "upload" / "hw" / "softmax.py").write_bytes(SOLUTION.read_bytes())
    assert cli("run", "hw1", tmp_path, "--stub", "finalize").returncode == 0
    (tmp_path / "softmax_old").mkdir()
    (tmp_path / "softmax_old" / "softmax.py").write_text("")
    ambiguous = cli("run", "hw1", tmp_path)
    assert ambiguous.returncode == 2
    assert "holds several softmax.py" in words(ambiguous.stderr)


def test_hints_come_one_at_a_time(cli: Cli) -> None:
    first = cli("hint", "hw1", "softmax_online").stdout
    more = cli("hint", "hw1", "softmax_online", "-n", "2").stdout
    assert first.startswith("1. ")
    assert "2. " not in first
    assert "2. " in more


def test_debug_runs_in_this_process(cli: Cli, tmp_path: Path) -> None:
    module = tmp_path / "softmax.py"
    module.write_text(f"{SOLUTION.read_text()}\nimport os\nprint('imported in process', os.getpid())\n")
    done = cli("run", "hw1", module, "--debug", "-k", "finalize")
    assert done.returncode == 0, done.stdout
    assert "imported in process" in done.stdout


def test_pack_writes_the_checked_file_only(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("not handed in")
    (tmp_path / "softmax.py").write_bytes(SOLUTION.read_bytes())
    done = cli("pack", "hw1", tmp_path, "-o", tmp_path / "hw1.zip")
    assert done.returncode == 0, done.stdout + done.stderr
    with zipfile.ZipFile(tmp_path / "hw1.zip") as archive:
        assert archive.namelist() == ["softmax.py"]
        assert archive.read("softmax.py") == SOLUTION.read_bytes()
    assert "warning" not in done.stdout
    assert f"next: upload {tmp_path / 'hw1.zip'}" in words(done.stdout)


def test_pack_knows_names_that_are_bound_by_assignment_or_import(cli: Cli, tmp_path: Path) -> None:
    source = (
        SOLUTION.read_text().replace("def softmax_naive(", "def _naive(").replace("def softmax_safe(", "def _safe(")
    )
    bound = "softmax_naive = _naive\ntry:\n    softmax_safe: object = _safe\nfinally:\n    import math as finalize\n"
    (tmp_path / "softmax.py").write_text(source.replace("def finalize(", "def _finalize(") + bound)
    done = cli("pack", "hw1", tmp_path, "-o", tmp_path / "hw1.zip")
    assert done.returncode == 1, done.stdout + done.stderr  # `finalize` is no function, as the run tells
    assert "does not seem to define" not in done.stdout
    assert "warning: not every public check passes yet" in words(done.stdout)


@pytest.mark.parametrize(
    ("source", "warnings"),
    [
        ((ROOT / "assignments/hw1/softmax.py").read_text(), ["is written yet, so this hand-in earns nothing"]),
        ("def something_else(): ...\n", ["does not seem to define softmax_naive,", "earns nothing"]),
    ],
)
def test_pack_warns_of_what_earns_nothing(cli: Cli, tmp_path: Path, source: str, warnings: list[str]) -> None:
    (tmp_path / "softmax.py").write_text(source)
    done = cli("pack", "hw1", tmp_path, "-o", tmp_path / "hw1.zip")
    assert done.returncode == 1
    assert (tmp_path / "hw1.zip").is_file()
    assert words(done.stdout).count("warning: ") == len(warnings)
    for warning in warnings:
        assert warning in words(done.stdout)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("", "is empty"),
        ("def softmax_online(x, y)\n", "softmax.py:1: "),
        ("x = " + "-" * 20_000 + "1\n", "nested too deeply"),
        ("from . import helper\ndef softmax_online(x, y): ...\n", "relative import"),
        ("import helper\ndef softmax_online(x, y): ...\n", "imports helper.py from your folder"),
    ],
)
def test_pack_refuses_what_could_not_be_graded(cli: Cli, tmp_path: Path, source: str, message: str) -> None:
    (tmp_path / "softmax.py").write_text(source)
    (tmp_path / "helper.py").write_text("")
    done = cli("pack", "hw1", tmp_path, "-o", tmp_path / "hw1.zip")
    assert done.returncode == 2
    assert message in words(done.stderr)
    assert not (tmp_path / "hw1.zip").exists()


def test_the_umask_of_whoever_grades_does_not_matter(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "autograder", "run", "hw1", SOLUTION, "-k", "public_finalize"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, umask=0o077, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_check_whose_library_is_broken_here_is_nobodys_fault(tmp_path: Path) -> None:
    (tmp_path / "torchvision").mkdir()
    (tmp_path / "torchvision/__init__.py").write_text(
        "raise RuntimeError('operator torchvision::nms does not exist')\n"
    )
    command = [sys.executable, "-m", "autograder", "run", "hw6", "solutions/hw6", "-k", "torchvision", "--json", "-"]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env=environment, timeout=120, check=False)
    checks = json.loads(done.stdout)["checks"]
    assert {check["status"] for check in checks} == {"not_runnable"}, done.stderr
    assert "torchvision::nms" in checks[0]["failure"]["message"]


def test_doctor_names_every_layer(cli: Cli) -> None:
    text = cli("doctor").stdout
    for layer in ("mount namespace", "landlock", "seccomp", "resource limits"):
        assert layer in text


def test_help_shows_an_example_for_every_command(cli: Cli) -> None:
    for command in ("list", "run", "hint", "demo", "pack", "doctor", "grade", "new", "verify", "release"):
        text = cli(command, "--help").stdout
        assert "Example" in text, command


def test_a_bare_pytest_run_works_and_speaks_plainly(tmp_path: Path) -> None:
    import sys

    done = subprocess.run(
        [sys.executable, "-m", "pytest", "assignments/hw1", "-q", "-k", "online", "-p", "no:cacheprovider"],
        cwd=ROOT, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert "softmax_online is not written yet" in done.stdout
    assert "submission.py" not in done.stdout
