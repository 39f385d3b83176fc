"""The solution of hw5 and the instruments of its driver, without the engine."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch

from course_lib import Plan, fresh, make_data

HW5 = Path(__file__).parent.parent / "solutions" / "hw5"


def _load(name: str, path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def training() -> ModuleType:
    return _load("hw5_training", HW5 / "training.py")


@pytest.fixture
def driver(training: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    module = _load("hw5_driver", HW5 / "driver.py")
    module.student = training  # type: ignore[attr-defined]
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("tempfile.tempdir", None)
    yield module
    sys.setprofile(None)


def _run(driver: Any) -> Any:
    data, plan = make_data(length=6), Plan(batch=3, micro=2)
    config = {"vocab_size": len(data.vocab), "context": 6, "d_model": 8, "heads": 2, "layers": 1}
    return driver.begin(config, None, data, plan, 3)


def test_schedule_meets_its_corners(training: ModuleType) -> None:
    rates = [training.learning_rate(step, Plan()) for step in range(12)]
    assert rates[:3] == pytest.approx([1e-3, 2e-3, 3e-3])
    assert rates[-1] == 3e-4
    assert rates[2:] == sorted(rates[2:], reverse=True)


def test_resumed_run_is_bitwise_the_same(training: ModuleType, tmp_path: Path) -> None:
    data, plan = make_data(length=8), Plan(total=5)
    whole = fresh(data, plan, 1)
    wanted = training.advance(*whole, data, 0, 5, plan)
    parts = fresh(data, plan, 1)
    losses = training.advance(*parts, data, 0, 2, plan)
    training.save(tmp_path / "run.ckpt", *parts, 2, data, plan)
    torch.manual_seed(0)
    *parts, completed = training.restore(str(tmp_path / "run.ckpt"), data, plan)
    losses += training.advance(*parts, data, completed, 5, plan)
    assert losses == wanted
    for a, b in zip(whole[0].parameters(), parts[0].parameters()):
        assert torch.equal(a, b)


def test_watch_sees_the_order_of_a_save(driver: Any) -> None:
    run = _run(driver)
    driver.save(run)
    events, renamed, syncs = driver.watched_save(run)
    order = [event for event in events if event in ("after fsync", "before os.rename", "after replace")]
    assert order == ["after fsync", "before os.rename", "after replace"]
    assert renamed == {"beside": True, "synced": True, "elsewhere": False}
    assert syncs == 1
    assert sys.getprofile() is None


@pytest.mark.parametrize("synced", [True, False], ids=["synced", "not-synced"])
def test_watch_sees_what_was_synced(driver: Any, monkeypatch: pytest.MonkeyPatch, synced: bool) -> None:
    def save(path: Path, *arguments: Any) -> None:
        temporary = path.with_suffix(".tmp")
        with temporary.open("wb", buffering=1 << 16) as file:
            file.write(b"first")
            if synced:
                file.flush()
            os.fsync(file.fileno())
        temporary.rename(path)

    monkeypatch.setattr(driver.student, "save", save)
    _, renamed, _ = driver.watched_save(_run(driver))
    assert renamed["synced"] is synced


def test_a_failing_save_is_reported_with_its_files(driver: Any) -> None:
    run = _run(driver)
    driver.save(run)
    raised, before, after = driver.failing_save(run, 1000)
    assert raised in ("OSError", "RuntimeError")
    assert before == after == driver.files()
    driver.save(run)


@pytest.mark.parametrize(("at", "limit"), [(2, None), (-1, 5000)], ids=["at an event", "in a write"])
def test_a_dying_save_leaves_the_old_checkpoint(driver: Any, at: int, limit: int | None) -> None:
    run = _run(driver)
    driver.save(run)
    old = Path(driver.CHECKPOINT).read_bytes()
    driver.follow(run, 1)
    child = os.fork()
    if child == 0:
        driver.dying_save(run, at, limit)
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    assert os.WEXITSTATUS(status) != 0
    assert Path(driver.CHECKPOINT).read_bytes() == old


def test_pretended_torch_is_refused(driver: Any) -> None:
    run = _run(driver)
    driver.save_as_torch(run, driver.CHECKPOINT, "1.2.3")
    kinds, message, changed = driver.refusal(driver.CHECKPOINT, run.data, run.plan)
    assert "ValueError" in kinds
    assert "1.2.3" in message
    assert str(torch.__version__) in message
    assert changed == []


def test_points_in_the_handout_are_those_of_the_checks() -> None:
    declared = {}
    for name in ("test_public.py", "test_hidden.py"):
        text = (HW5 / name).read_text(encoding="utf-8")
        pattern = r"@check\(\s*points=(\d+).*?def test_(\w+)\("
        declared |= {check: int(points) for points, check in re.findall(pattern, text, re.DOTALL)}
    table = re.findall(r"^\| `(\w+)` \| \w+ \| (\d+) \|", (HW5 / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert {check: int(points) for check, points in table} == declared
    assert sum(declared.values()) == 100


def test_notebook_questions_have_answers_between_markers() -> None:
    cells = json.loads((HW5 / "hw5.ipynb").read_text(encoding="utf-8"))["cells"]
    graded = [cell for cell in cells if cell["metadata"].get("nbgrader", {}).get("solution")]
    assert len(graded) == 8
    assert all("### BEGIN SOLUTION" in "".join(cell["source"]) for cell in graded)
