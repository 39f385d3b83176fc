"""The checks of an assignment as pytest collects them, handed over instead of run."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Literal

import pytest

from autograder import record as rec
from autograder.checks.declare import Spec, spec_of
from autograder.errors import GraderError, UsageError
from autograder.pytest_plugin import KEY
from autograder.pytest_plugin import __name__ as PLUGIN
from autograder.state import GradingState

Suite = Literal["public", "hidden"]


@dataclass(frozen=True)
class Check:
    """One collected case of a check."""

    item: pytest.Function
    spec: Spec
    id: str
    suite: Suite
    max: Fraction
    function: str

    @property
    def visible(self) -> bool:
        return self.visibility == "visible"

    @property
    def visibility(self) -> rec.Visibility:
        return self.spec.visibility or ("visible" if self.suite == "public" else "hidden")


class Collector:
    """Hands the collected checks to the body instead of running them once."""

    def __init__(self, state: GradingState, body: Callable[[list[Check]], None], stub: str | None) -> None:
        assert state.assignment is not None
        self._state, self._assignment, self._body, self._stub = state, state.assignment, body, stub
        self._shares: dict[str, Fraction] = {}
        self._broken: list[str] = []
        self.error: BaseException | None = None
        """What ended the session, carried past pytest, which would turn it into an exit code."""

    def pytest_internalerror(self, excinfo: pytest.ExceptionInfo[BaseException]) -> bool:
        self.error = excinfo.value
        return True  # and nothing is printed

    def pytest_keyboard_interrupt(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        self.error = excinfo.value

    @pytest.hookimpl(tryfirst=True)
    def pytest_configure(self, config: pytest.Config) -> None:
        config.stash[KEY] = self._state

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self._broken.append(str(report.longrepr))

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        counts: dict[str, int] = {}
        for item in items:
            counts[_function_of(item)] = counts.get(_function_of(item), 0) + 1
        for item in items:
            spec = _spec(item)
            self._shares[item.nodeid] = spec.points / counts[_function_of(item)]
        items[:] = _dependencies_first(items)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Serve what most checks ask for, our fixtures and plain parameters, at once: pytest looks every one of them up
        for every check of every submission, which costs more than the work of a small check.
        """
        assert isinstance(item, pytest.Function)
        params = item.callspec.params if hasattr(item, "callspec") else {}
        homes = {name: found[-1].func.__module__ for name, found in item._fixtureinfo.name2fixturedefs.items()}
        ours = {name for name, home in homes.items() if home == PLUGIN}
        if any(name not in params or not homes[name].startswith("_pytest.") for name in homes.keys() - ours):
            return  # a fixture of the author's, which may share ours
        state = self._state
        state.enter(item)
        item.funcargs |= {name: getattr(state, name)() if name in ours else params[name] for name in homes}

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        if self._broken:
            raise GraderError("the checks cannot be imported:\n" + "\n".join(self._broken))
        checks = [self._check(item) for item in session.items]
        if self._stub is not None:
            checks = [check for check in checks if check.spec.stub == self._stub]
        if not checks:
            raise UsageError(f"no check of {self._assignment.id} matches this selection; `-k` and `--stub` choose some")
        self._body(checks)
        return True

    def _check(self, item: pytest.Item) -> Check:
        assert isinstance(item, pytest.Function)
        params = dict(item.callspec.params) if hasattr(item, "callspec") else {}
        spec = _spec(item)
        suite: Suite = "hidden" if item.path == self._assignment.hidden_checks else "public"
        name = item.name.removeprefix("test_")
        return Check(item, spec.for_case(params), name, suite, self._shares[item.nodeid], spec.name)


def _spec(item: pytest.Item) -> Spec:
    spec = spec_of(getattr(item, "function", len))
    if spec is None:
        raise GraderError(f"{item.nodeid} is no check: declare it with @check(...)")
    return spec


def _function_of(item: pytest.Item) -> str:
    return item.nodeid.partition("[")[0]


def _dependencies_first(items: list[pytest.Item]) -> list[pytest.Item]:
    """Items in their order, but each after everything it depends on."""
    groups: dict[str, list[pytest.Item]] = {}
    for item in items:
        groups.setdefault(_spec(item).name, []).append(item)
    done: dict[str, None] = {}

    def visit(name: str, path: tuple[str, ...]) -> None:
        if name in done or name not in groups:
            return
        if name in path:
            raise GraderError(f"checks depend on each other in a circle: {' -> '.join((*path, name))}")
        for other in _spec(groups[name][0]).depends:
            visit(other, (*path, name))
        done[name] = None

    for name in groups:
        visit(name, ())
    return [item for name in done for item in groups[name]]


_UNUSED = ["cacheprovider", "logging", "doctest", "unittest", "junitxml", "pastebin", "faulthandler", "legacypath",
           "stepwise", "setuponly", "setupplan", "warnings", "unraisableexception", "threadexception"]  # fmt: skip


def arguments(root: Path, paths: Sequence[Path], expression: str | None, *, quiet: bool = True) -> list[str]:
    """Command line of a pytest that reads nothing but these files: no configuration, conftest or foreign plugin."""
    off = [*_UNUSED, "terminal"] if quiet else _UNUSED
    return [
        *(str(path) for path in paths),
        f"--rootdir={root}",
        f"--config-file={os.devnull}",
        "--import-mode=importlib",
        "--noconftest",
        "--disable-plugin-autoload",
        "--capture=no",
        "--assert=plain",
        *(argument for name in off for argument in ("-p", f"no:{name}")),
        "-p",
        "autograder.pytest_plugin",
        *(("-k", expression) if expression else ()),
    ]
