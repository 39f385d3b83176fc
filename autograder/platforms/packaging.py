"""`autograder package`: build the bundle, try it, and say what has to be known before it is uploaded."""

from __future__ import annotations

import re
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from autograder.cli.common import EXIT_FAILED
from autograder.errors import UsageError
from autograder.isolation import Isolation
from autograder.platforms.bundles import TARGETS, Order, build
from autograder.platforms.options import one_of
from autograder.platforms.rehearsal import Trial, rehearse
from autograder.platforms.settings import PLATFORMS, Name
from autograder.render.gradescope import HIDDEN_AS

if TYPE_CHECKING:
    from rich.console import Console

_NEXT = {
    "gradescope": "upload it under Configure Autograder; its setup takes some minutes",
    "prairielearn": "build and push the image from image/, copy question/ into your course's questions/",
    "github": "copy it into the folder that 'autograder release --out' wrote, before you push that to GitHub",
}
_ADDRESS = re.compile(r"https://[\w./~%:-]+")
_HALF_A_PROCESSOR = 0.5
_TIGHT = 0.9


def make(console: Console, order: Order, *, trial: bool) -> int:
    """Build what `order` says and report it; returns the exit status (1: the trial did not give full points)."""
    one_of(order.target, TARGETS, "--for")
    one_of(order.hidden_as, HIDDEN_AS, "--hidden-as")
    if order.torch_index and not _ADDRESS.fullmatch(order.torch_index):
        raise UsageError(f"--torch-index {order.torch_index!r} is no address", "give one that begins with https://")
    assignment, graded = order.assignment, order.target != "github"
    place = build(order)
    _say(console, f"wrote {place}: {assignment.id} for {order.target}")
    if graded:
        _warn(console, order)
    status = _try(console, order, place) if graded and trial else 0
    _say(console, f"next: {_NEXT[order.target]}")
    return status


def _warn(console: Console, order: Order) -> None:
    """What the staff has to know about this bundle."""
    course = order.assignment.course
    has_secret = course.secret() is not None
    held = "the solution, the hidden checks" + (" and the course's secret" if has_secret else "")
    _say(console, f"it holds {held}: for the staff only")
    if not has_secret:
        text = f"no secret is set, so hidden inputs can be guessed; write one into {course.secret_file}, package again"
        _say(console, f"warning: {text}", "yellow")
    if order.isolation is Isolation.PROCESS:
        text = "--isolation=process protects neither the hidden checks nor the result from a submission"
        _say(console, f"warning: {text}", "yellow")


def _try(console: Console, order: Order, place: Path) -> int:
    """Grade the solution with the bundle; what it took, and whether the platform gives as much."""
    trial = rehearse(place, order.assignment)
    full = _is_full(trial.results)
    verdict = "earns every point" if full else "does not earn every point"
    _say(console, f"trial: the solution {verdict}; {_appetite(trial)}", "" if full else "red")
    if not full:
        _say(console, trial.log.rstrip())
    limit = order.memory_mib or PLATFORMS[cast(Name, order.target)].memory_mib
    if trial.memory.own > _TIGHT * limit:
        text = f"more than a container of {limit} MiB gives, unless torch is a CPU build there: --torch-index"
        _say(console, f"warning: {text}", "yellow")
    return 0 if full else EXIT_FAILED


def _appetite(trial: Trial) -> str:
    slow = trial.cpu_seconds / _HALF_A_PROCESSOR
    own, total = trial.memory
    memory = (
        f"{own} MiB of memory, {total} MiB with the libraries' files" if total else "memory cannot be measured here"
    )
    return f"{trial.seconds:.0f} s here, about {slow:.0f} s on half a processor; {memory} (torch {version('torch')})"


def _is_full(results: dict[str, Any]) -> bool:
    """Whether a result of either platform is full marks."""
    if "gradable" in results:
        return bool(results.get("score") == 1.0)
    return bool(results["score"] == round(sum(test["max_score"] for test in results["tests"]), 4))


def _say(console: Console, text: str, style: str = "") -> None:
    console.print(text, style=style, markup=False, soft_wrap=True)
