"""`autograder run --debug`: the checks call the student's module in this very process, so that breakpoint() works.

No isolation, no limits and no score: a tool for one's own code.
"""

from __future__ import annotations

import types
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from autograder.checks.collected import arguments
from autograder.child import metered
from autograder.errors import NotWritten, SubmissionRaised, UsageError
from autograder.manifest import Assignment
from autograder.outcomes import NOT_WRITTEN
from autograder.pytest_plugin import KEY
from autograder.record import Frame
from autograder.running import Request, find_module
from autograder.state import Fixtures, import_file

if TYPE_CHECKING:
    from collections.abc import Iterator


class LocalSubmission:
    """What a check calls `submission`, answered by a module imported here."""

    def __init__(self, module: types.ModuleType, driver: types.ModuleType | None, path: Path) -> None:
        self._module, self._path = module, path
        self.driver: Any = None if driver is None else _Calls(driver, path)

    def __getattr__(self, name: str) -> Any:
        return _translated(getattr(self._module, name), self._path)

    @contextmanager
    def fresh(self, files: Any = None, disk_bytes: int | None = None) -> Iterator[Any]:
        pytest.skip("this check kills and restarts processes, which --debug cannot do")
        yield


class _Calls:
    def __init__(self, module: types.ModuleType, path: Path) -> None:
        self._module, self._path = module, path

    def __getattr__(self, name: str) -> Any:
        return _translated(getattr(self._module, name), self._path)


def _translated(target: Any, path: Path) -> Any:
    """`target` with its exceptions as a submission's process would report them."""
    if not callable(target):
        return target

    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            device = metered([*args, *kwargs.values()])
            return target(*args, **kwargs) if device is None else device._meter(target, *args, **kwargs)[0]
        except NotImplementedError as error:
            if str(error).endswith(NOT_WRITTEN) or not str(error):
                raise NotWritten(str(error)) from error
            raise _raised(error, path) from error
        except Exception as error:
            raise _raised(error, path) from error

    return call


def _raised(error: Exception, path: Path) -> SubmissionRaised:
    frames, traceback = [], error.__traceback__
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    while traceback is not None:
        if traceback.tb_frame.f_code.co_filename == str(path):
            frames.append(
                Frame(traceback.tb_lineno, traceback.tb_frame.f_code.co_name, lines[traceback.tb_lineno - 1].strip())
            )
        traceback = traceback.tb_next
    return SubmissionRaised(type(error).__name__, [base.__name__ for base in type(error).__mro__], str(error), frames)


class LocalState(Fixtures):
    """The fixtures' state without a process."""

    def __init__(self, assignment: Assignment, submission: LocalSubmission) -> None:
        super().__init__()
        self.assignment, self._submission = assignment, submission

    def submission(self) -> Any:
        return self._submission

    def close(self) -> None:
        """Nothing to end."""


class LocalPlugin:
    def __init__(self, state: LocalState, stub: str | None) -> None:
        self._state, self._stub = state, stub

    @pytest.hookimpl(tryfirst=True)
    def pytest_configure(self, config: pytest.Config) -> None:
        config.stash[KEY] = self._state

    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        from autograder.checks.declare import spec_of

        if self._stub is not None:
            items[:] = [item for item in items if spec_of(item.function).for_case(_params(item)).stub == self._stub]  # type: ignore[attr-defined,union-attr]


def _params(item: pytest.Item) -> dict[str, Any]:
    return dict(item.callspec.params) if hasattr(item, "callspec") else {}


def run_here(request: Request) -> int:
    """Run the checks with pytest in this process; the exit status is 0 when all pass, else 1."""
    assignment = request.assignment
    path = find_module(assignment, request.submission).resolve()
    driver = None if assignment.driver_path is None else import_file("_driver", assignment.driver_path)
    try:
        module = import_file(path.stem, path)
    except SyntaxError as error:
        raise UsageError(f"{path}:{error.lineno}: {error.msg}; correct the syntax first") from None
    if driver is not None:
        driver.student = module  # type: ignore[attr-defined]
    paths = [assignment.public_checks]
    if request.hidden and assignment.hidden_checks is not None:
        paths.append(assignment.hidden_checks)
    state = LocalState(assignment, LocalSubmission(module, driver, path))
    options = arguments(assignment.course.root, paths, request.expression, quiet=False)
    return 0 if pytest.main(options, plugins=[LocalPlugin(state, request.stub)]) == pytest.ExitCode.OK else 1
