"""What students read and run besides the checks: demos and notebooks of every assignment."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import nbclient
import nbformat
import pytest

from autograder.manifest import find_course

ROOT = Path(__file__).parent.parent
NAMES = find_course(ROOT).assignments


@pytest.mark.parametrize("name", NAMES)
def test_the_demo_draws_from_the_solution(name: str, tmp_path: Path) -> None:
    script = ROOT / "solutions" / name / "demo.py"
    command = [sys.executable, str(script), "--solution", "--out", str(tmp_path)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    figures = [path for path in tmp_path.rglob("*") if path.suffix in (".png", ".svg")]
    assert figures
    assert all(path.stat().st_size > 5000 for path in figures)


@pytest.mark.parametrize("name", NAMES)
def test_the_demo_of_a_stub_says_what_to_write(name: str, tmp_path: Path) -> None:
    script = ROOT / "assignments" / name / "demo.py"
    command = [sys.executable, str(script), "--out", str(tmp_path)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False)
    assert "is not written yet" in done.stdout + done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("source", "out", "status", "message"),
    [
        ("import math\ndef softmax_naive(x, y)\n", "figures", 1, "softmax.py:2: expected ':'"),
        ("import math\nraise SystemExit(0)\n", "figures", 1, "softmax.py:2: SystemExit: 0"),
        ("", "softmax.py/figures", 2, "no figures can be written to softmax.py/figures"),
    ],
)
def test_a_demo_tells_why_it_cannot_draw(tmp_path: Path, source: str, out: str, status: int, message: str) -> None:
    shutil.copy(ROOT / "assignments/hw1/demo.py", tmp_path)
    (tmp_path / "softmax.py").write_text(source)
    command = [sys.executable, "demo.py", "--out", out]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == status
    assert message in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("name", NAMES)
def test_the_notebook_runs_with_the_solution(name: str, tmp_path: Path) -> None:
    source = ROOT / "solutions" / name
    for path in [*source.glob("*.py"), source / f"{name}.ipynb"]:
        shutil.copy(path, tmp_path)
    notebook = nbformat.read(tmp_path / f"{name}.ipynb", as_version=4)
    nbformat.validate(notebook)
    nbclient.NotebookClient(
        notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}
    ).execute()
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    assert any("image/png" in output.get("data", {}) for output in outputs)


@pytest.mark.parametrize("name", NAMES)
def test_the_released_notebook_keeps_its_questions_and_no_answer(name: str) -> None:
    released = nbformat.read(ROOT / "assignments" / name / f"{name}.ipynb", as_version=4)
    nbformat.validate(released)
    graded = [cell.metadata["nbgrader"] for cell in released.cells if "nbgrader" in cell.metadata]
    assert any(cell.get("solution") and cell.get("grade") for cell in graded), "no written question"
    identities = [cell["grade_id"] for cell in graded]
    assert len(identities) == len(set(identities))
    assert not any(cell.get("outputs") for cell in released.cells)
    assert not any("BEGIN SOLUTION" in cell.source for cell in released.cells)
