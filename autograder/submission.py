"""What a check calls `submission`: the student's module in a process that is started again when it is gone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import msgspec

from autograder.budget import Budget, Output, Source
from autograder.child import FOLDER
from autograder.errors import ImportFailed, Outcome, SubmissionRaised
from autograder.isolation import Limits, WarmParent
from autograder.worker import Worker
from course_lib._device import Device


class Namespace:
    """`submission.driver`: the functions of driver.py."""

    def __init__(self, owner: SubmissionProxy, target: str) -> None:
        self._owner, self._target = owner, target

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *args, **kwargs: self._owner._call(self._target, name, args, kwargs)


class SubmissionProxy:
    """What a check calls `submission`: each attribute is a function of the student's module."""

    def __init__(self, context: Context, worker: Worker | None = None) -> None:
        self._context, self._worker = context, worker
        self.driver = Namespace(self, "driver")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *args, **kwargs: self._call("student", name, args, kwargs)

    def _call(self, target: str, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        worker = self._worker or self._context.worker()
        value = worker.call(target, name, args, kwargs, shown=name)
        self._context.transcript.append(
            (name, value, [arg for arg in (*args, *kwargs.values()) if isinstance(arg, Device)])
        )
        return value

    @contextmanager
    def fresh(self, files: Mapping[str, bytes] | None = None, disk_bytes: int | None = None) -> Iterator[FreshProxy]:
        """Another process of the same submission, with these files in its scratch directory."""
        worker = self._context.open(files=files, disk_bytes=disk_bytes, keep_files=True)
        try:
            yield FreshProxy(self._context, worker)
        finally:
            worker.close()


class FreshProxy(SubmissionProxy):
    """A submission in a process of its own, which a check may kill and whose files it may read afterwards."""

    def kill(self) -> None:
        """SIGKILL, at once."""
        assert self._worker is not None
        self._worker.stop()

    def files(self) -> dict[str, bytes]:
        """The regular files of the scratch directory, by relative name; ends the process if it still runs."""
        assert self._worker is not None
        self._worker.stop()
        exit = self._worker.exit
        own = f"{FOLDER}/"
        return {} if exit is None else {name: data for name, data in exit.files.items() if not name.startswith(own)}


class Context:
    """One submission being graded: its source, its current process, and the running check's budget."""

    def __init__(self, parent: WarmParent, source: Source, cpu: int | None = None) -> None:
        self.parent, self.source, self.cpu = parent, source, cpu
        self.output = Output()
        self.transcript: list[tuple[str, Any, list[Device]]] = []
        self.budget = Budget(10.0, 4 << 20)
        self._current: Worker | None = None
        self._import_failure: Outcome | None = None
        self.proxy = SubmissionProxy(self)

    @property
    def import_failed(self) -> bool:
        return self._import_failure is not None

    def begin(self, budget: Budget, *, fresh: bool) -> None:
        """Start a check."""
        self.budget = budget
        self.output.clear()
        self.transcript = []
        if fresh and self._current is not None:
            self._current.close()
            self._current = None
        if self._current is not None:
            self._current.budget = budget
            self._current.recall()

    def worker(self) -> Worker:
        """The current process, started again if the last one is gone."""
        if self._current is None or not self._current.alive:
            if self._current is not None:
                self._current.close()
            self._current = None
            self._current = self.open()
        return self._current

    def open(
        self, *, files: Mapping[str, bytes] | None = None, disk_bytes: int | None = None, keep_files: bool = False
    ) -> Worker:
        if self._import_failure is not None:  # a module that cannot be imported is not tried again for every check
            raise self._import_failure.with_traceback(None)
        budget = self.budget
        if disk_bytes is not None:
            budget = Budget(budget.seconds, budget.output_bytes, _with_disk(budget.limits, disk_bytes), budget.spent)
        try:
            return Worker(
                self.parent, self.source, budget, self.output, files=files, cpu=self.cpu, keep_files=keep_files
            )
        except SubmissionRaised as raised:  # `raises` must not take it for the error it waits for
            self._import_failure = ImportFailed(raised.failure)
            raise self._import_failure from None
        except Outcome as failure:
            if not files:
                self._import_failure = failure
            raise

    def close(self) -> None:
        if self._current is not None:
            self._current.close()
            self._current = None


def _with_disk(limits: Limits, disk_bytes: int) -> Limits:
    return msgspec.structs.replace(limits, disk_bytes=disk_bytes)
