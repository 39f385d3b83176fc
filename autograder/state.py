"""What the fixtures of a check stand on: the assignment, the submission being graded, the randomness of a case.

Fixtures
├── GradingState        the grader's own session: one submission after the other
├── StandaloneState     `pytest assignments/hw1`: the module beside the checks
└── debug.LocalState    `run --debug`: the module imported in this process
"""

from __future__ import annotations

import hashlib
import importlib.util
import sys
import types
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from autograder.budget import Budget, Source
from autograder.checks.declare import Spec, spec_of
from autograder.errors import Outcome, UsageError
from autograder.isolation import Limits, WarmParent
from autograder.manifest import Assignment, find_course
from autograder.submission import Context

PUBLIC_SEED = b"public"
"""What inputs derive from where there is no course secret: a student's kit."""


class Fixtures(ABC):
    """One check at a time: `enter` it, then serve its fixtures."""

    def __init__(self) -> None:
        self.assignment: Assignment | None = None
        self._item: pytest.Item | None = None
        self._secret: bytes | None = None
        self._spec: Spec | None = None
        self._solutions: dict[Path, types.ModuleType] = {}

    def enter(self, item: pytest.Item) -> None:
        """`item` is about to use a fixture: the first one starts its check."""
        if item is self._item:
            return
        function = getattr(item, "function", None)
        self._spec = spec_of(function) if function else None
        if self._spec is None:
            raise UsageError(f"{item.name} is no check: declare it with @check(...)")
        self._item = item
        self._begin(item, self._spec)

    def _begin(self, item: pytest.Item, spec: Spec) -> None:  # noqa: B027 - most need no preparation
        """Prepare for this check."""

    @abstractmethod
    def submission(self) -> Any: ...

    def solution(self) -> types.ModuleType:
        assert self.assignment is not None
        path = self.assignment.solution_path
        if path is None:
            raise UsageError(f"the solution of {self.assignment.id} is not here: hidden checks need it")
        if path not in self._solutions:
            self._solutions[path] = import_file(f"solution_{self.assignment.id}", path)
        return self._solutions[path]

    def seed(self) -> bytes:
        """32 bytes that depend on the course secret, the assignment, the check and its parameters only."""
        assert self.assignment is not None
        assert self._item is not None
        if self._secret is None:
            self._secret = self.assignment.course.secret() or PUBLIC_SEED
        name = self._item.name.encode()
        return hashlib.sha256(b"\0".join([self._secret, self.assignment.id.encode(), name])).digest()

    def rng(self) -> np.random.Generator:
        return np.random.default_rng(int.from_bytes(self.seed()[:16], "big"))

    def torch_rng(self) -> Any:
        import torch

        return torch.Generator().manual_seed(int.from_bytes(self.seed()[16:23], "big"))

    def note(self, item: pytest.Item, excinfo: pytest.ExceptionInfo[BaseException]) -> str | None:
        """A check has ended with an exception: the student's words for it, None to leave it to pytest."""
        outcome = excinfo.value
        if not isinstance(outcome, Outcome):
            return None
        from autograder.render.prose import explain

        spec = spec_of(item.function)  # type: ignore[attr-defined]
        hint = f"\nhint: {spec.hint}" if spec and outcome.status == "failed" else ""
        return f"{spec.title if spec else item.name}\n{explain(outcome.failure)}{hint}"

    @abstractmethod
    def close(self) -> None: ...


class _WithProcess(Fixtures):
    """Fixtures whose submission lives in a process of its own."""

    def __init__(self, parent: WarmParent) -> None:
        super().__init__()
        self.parent = parent
        self.context: Context | None = None
        self._begun = False

    def _begin(self, item: pytest.Item, spec: Spec) -> None:
        self._begun = False

    def submission(self) -> Any:
        assert self.context is not None
        assert self._spec is not None
        if not self._begun:
            self._begun = True
            self.context.begin(self._budget(self._spec), fresh=self._spec.fresh)
        return self.context.proxy

    def _budget(self, spec: Spec) -> Budget:
        assert self.assignment is not None
        limits = self.assignment.limits
        return Budget(
            seconds=spec.time_limit or limits.check_seconds,
            output_bytes=limits.output_mib << 20,
            limits=Limits(
                memory_bytes=limits.memory_mib << 20,
                disk_bytes=limits.disk_mib << 20,
                threads=limits.processes,
                open_files=limits.open_files,
            ),
        )

    def _close_context(self) -> None:
        if self.context is not None:
            self.context.close()
            self.context = None


class GradingState(_WithProcess):
    """The grader's session: `start` one check on one submission."""

    def __init__(self, parent: WarmParent, assignment: Assignment) -> None:
        super().__init__(parent)
        self.assignment = assignment

    def start(self, context: Context) -> None:
        self.context = context
        self._item = None

    def close(self) -> None:
        """The session's owner closes the parent and the contexts."""


class StandaloneState(_WithProcess):
    """A bare pytest run on a student's machine: the strongest isolation that it offers."""

    def __init__(self) -> None:
        super().__init__(WarmParent(allow_process=True))

    def _begin(self, item: pytest.Item, spec: Spec) -> None:
        super()._begin(item, spec)
        folder = item.path.parent
        assignment = find_course(folder).assignment(folder.name)
        if self.assignment is None or self.assignment.id != assignment.id:
            self._close_context()
            self.assignment = assignment
            self.parent.ready()
            self.context = Context(self.parent, source_of(assignment, (folder / assignment.module).read_bytes()))

    def close(self) -> None:
        self._close_context()
        self.parent.close()


def source_of(assignment: Assignment, data: bytes) -> Source:
    """A submission's module with the assignment's driver."""
    driver = assignment.driver_path
    return Source(assignment.module, data, driver.read_bytes() if driver is not None else None)


def import_file(name: str, path: Path) -> types.ModuleType:
    """The module in the file `path`, under `name`."""
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module
