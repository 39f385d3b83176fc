"""One session, many submissions: the checks of an assignment are collected once and run for each submission in turn.

pytest owns the loop, so the work is given as a function: `run_session(assignment, body)` collects the checks and calls
`body(session)`, which calls `session.grade(...)` as often as it likes.
"""

from __future__ import annotations

import ctypes
import datetime as dt
import hashlib
import os
import platform
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from autograder import record as rec
from autograder.checks.collected import Check, Collector, arguments
from autograder.errors import GraderError, UsageError
from autograder.grading import Grading, result_of
from autograder.isolation import WarmParent
from autograder.kit_version import kit_version
from autograder.manifest import Assignment
from autograder.misconceptions import Misconceptions
from autograder.state import GradingState, source_of
from autograder.submission import Context


class Session:
    """The collected checks of one assignment, ready to grade submissions one after the other."""

    def __init__(self, assignment: Assignment, state: GradingState, checks: list[Check], selection: str | None) -> None:
        self.assignment, self.checks = assignment, checks
        self._state, self._selection = state, selection
        self._parent = state.parent
        self._kit = kit_version(assignment)
        self._misconceptions = Misconceptions(assignment, self._transcript_of)

    @property
    def max_score(self) -> float:
        return round(float(sum(check.max for check in self.checks)), 4)

    def grade(
        self,
        name: str,
        data: bytes,
        *,
        on_result: Callable[[rec.CheckResult], None] | None = None,
        explain_misconceptions: bool = True,
    ) -> rec.Record:
        """Run every check on the submission `name` whose module has the bytes `data`."""
        self._parent.ready()
        started = _now()
        with _one_processor() as cpu:
            context = Context(self._parent, source_of(self.assignment, data), cpu)
            grading = Grading(
                self.checks,
                self.assignment.limits,
                context,
                execute=self._execute,
                misconceptions=self._misconceptions if explain_misconceptions else None,
                on_result=on_result,
            )
            results = grading.results()
        return self._record(name, hashlib.sha256(data).hexdigest(), started, results)

    def blank(self) -> rec.Record:
        """What is recorded for a submission that could not be graded, but for its name, its hash and the cause."""
        return self._record("", "", "", [result_of(check, "grader_error", None) for check in self.checks])

    def _record(self, name: str, digest: str, started: str, results: list[rec.CheckResult]) -> rec.Record:
        files = {self.assignment.module: digest}
        faulty = any(result.status == "grader_error" for result in results)
        return rec.Record(
            format=rec.FORMAT,
            assignment=self.assignment.id,
            kit_version=self._kit,
            submission=rec.Submission(name, files),
            started=started,
            finished=_now(),
            environment=self._environment(),
            suites=list(dict.fromkeys(check.suite for check in self.checks)),
            checks=results,
            totals=rec.totals(results),
            score=None if faulty else round(sum(result.points for result in results), 4),
            max_score=self.max_score,
            receipt=rec.receipt(self.assignment.id, self._kit, files, results),
            selection=self._selection,
        )

    def _environment(self) -> rec.Environment:
        return rec.Environment(
            python=platform.python_version(),
            torch=_torch_version(),
            numpy=np.__version__,
            threads=1,
            isolation=self._parent.mode,
            layers=[layer.name for layer in self._parent.layers if layer.active],
            secret="public" if self.assignment.course.secret() is None else "course",
        )

    def _execute(self, check: Check, context: Context) -> BaseException | None:
        """Run one check on a submission through pytest; what ended it, None when it passed."""
        state = self._state
        state.start(context)
        with np.errstate(all="ignore"):  # what a submission computed may be anything; a check says what is wrong
            return _run_item(check.item)

    def _transcript_of(self, check_id: str, source: bytes) -> list[Any]:
        """What a known wrong variant does in a check."""
        check = next(check for check in self.checks if check.id == check_id)
        context = Context(self._parent, source_of(self.assignment, source))
        try:
            self._execute(check, context)
            return context.transcript
        finally:
            context.close()


def _run_item(item: pytest.Function) -> BaseException | None:
    """Set-up, call and teardown through pytest's hooks, without the reports that it makes of them; what was raised."""
    item._initrequest()
    hooks, error = item.ihook, None
    try:
        hooks.pytest_runtest_setup(item=item)
        hooks.pytest_runtest_call(item=item)
    except KeyboardInterrupt:
        raise
    except BaseException as raised:  # pytest's own outcomes are no Exceptions
        error = raised
    finally:
        try:
            hooks.pytest_runtest_teardown(item=item, nextitem=None)  # whichever comes next finds everything torn down
        except Exception as raised:
            error = error or raised
    return error


def run_session(
    assignment: Assignment,
    body: Callable[[Session], None],
    *,
    parent: WarmParent,
    hidden: bool = True,
    expression: str | None = None,
    stub: str | None = None,
) -> None:
    """Collect the assignment's checks (hidden ones too, if they are here and wanted) and give them to `body`."""
    _one_thread()
    paths = [assignment.public_checks]
    if hidden and assignment.hidden_checks is not None:
        paths.append(assignment.hidden_checks)
    assignment.course.secret()  # one that cannot be read is said now, not by every check
    missing = next((path for path in paths if not path.is_file()), None)
    if missing is not None:
        raise UsageError(f"{missing} is missing: take it from the kit again")
    selection = " and ".join(part for part in (expression and f"-k {expression}", stub and f"--stub {stub}") if part)
    state = GradingState(parent, assignment)
    plugin = Collector(state, lambda checks: body(Session(assignment, state, checks, selection or None)), stub)
    code = pytest.main(arguments(assignment.course.root, paths, expression), plugins=[plugin])
    if plugin.error is not None:
        raise plugin.error
    if code is pytest.ExitCode.USAGE_ERROR and expression:
        raise UsageError(f"-k {expression!r} is no expression: names with and, or, not and parentheses, as in pytest")
    if code not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.NO_TESTS_COLLECTED):
        raise GraderError(f"pytest ended with {code!r} while it collected the checks of {assignment.id}")


def _one_thread() -> None:
    """Reference values are computed by one thread: this process keeps to one processor while it grades."""
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ[name] = "1"
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.set_num_threads(1)


@contextmanager
def _one_processor() -> Iterator[int | None]:
    """Keep this thread on the processor it runs on, and tell it: grader and submission take turns, and a wake-up on
    the same processor costs a fraction of one across processors."""
    if not hasattr(os, "sched_setaffinity"):
        yield None
        return
    before = os.sched_getaffinity(0)
    cpu = ctypes.CDLL(None).sched_getcpu()
    if cpu not in before:
        yield None
        return
    os.sched_setaffinity(0, {cpu})
    try:
        yield cpu
    finally:
        os.sched_setaffinity(0, before)


def _now() -> str:
    return dt.datetime.now(dt.UTC).isoformat(timespec="milliseconds")


def _torch_version() -> str | None:
    torch = sys.modules.get("torch")
    if torch is not None:
        return str(torch.__version__)
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("torch")
    except PackageNotFoundError:
        return None
