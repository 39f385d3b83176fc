"""One session, many submissions: the checks of an assignment are collected once and run for each submission in turn.

pytest owns the loop, so the work is given as a function: `run_session(assignment, body)` collects the checks and calls
`body(session)`, which calls `session.grade(...)` as often as it likes.
"""

from __future__ import annotations

import ctypes
import datetime as dt
import hashlib
import importlib.util
import os
import platform
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

import msgspec
import numpy as np
import pytest

from autograder import record as rec
from autograder.checks.declare import Spec, spec_of
from autograder.errors import GraderError, Outcome, UsageError
from autograder.isolation import IsolationError, WarmParent
from autograder.kit_version import kit_version
from autograder.manifest import Assignment
from autograder.misconceptions import Misconceptions
from autograder.pytest_plugin import KEY
from autograder.pytest_plugin import __name__ as PLUGIN
from autograder.state import GradingState, source_of
from autograder.submission import Context, Output

Suite = Literal["public", "hidden"]
MESSAGE_OF_HIDDEN = 160
"""Characters of an exception's message shown for a hidden check: enough to recognise it, too few for its data."""
NAME_OF_HIDDEN = 40
FRAMES_OF_HIDDEN = 3
"""Names can be made up at run time, so a traceback of a hidden check is short too."""
STUB_TIMEOUTS = 2
"""After so many checks of one stub ran out of time, its other checks are not run."""


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
            run = _Run(self, Context(self._parent, source_of(self.assignment, data), cpu), on_result)
            run.explain = explain_misconceptions
            results = run.results()
        files = {self.assignment.module: hashlib.sha256(data).hexdigest()}
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

    def execute(self, check: Check, context: Context) -> BaseException | None:
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
            self.execute(check, context)
            return context.transcript
        finally:
            context.close()


class _Run:
    """Grading one submission: results so far, and what follows from them."""

    def __init__(self, session: Session, context: Context, on_result: Callable[[rec.CheckResult], None] | None) -> None:
        self._session, self._context, self._on_result = session, context, on_result
        self._by_function: dict[str, list[rec.CheckResult]] = {}
        self._timeouts: dict[str, int] = {}
        self._explained: set[str] = set()
        self._waited = 0.0
        self.explain = True

    def results(self) -> list[rec.CheckResult]:
        results = []
        try:
            for check in self._session.checks:
                result = self._one(check)
                results.append(result)
                self._by_function.setdefault(check.function, []).append(result)
                if self._on_result is not None:
                    self._on_result(result)
        finally:
            self._context.close()
        return _all_or_nothing(self._session.checks, results)

    def _one(self, check: Check) -> rec.CheckResult:
        for missing in check.spec.requires:
            if importlib.util.find_spec(missing) is None:
                return _result(check, "not_runnable", rec.Message(f"{missing} is not installed here"))
        unmet = self._unmet(check)
        if unmet is not None:
            return _result(check, "skipped", unmet)
        limits = self._session.assignment.limits
        if self._timeouts.get(check.spec.stub, 0) >= STUB_TIMEOUTS:
            doing = f"not run: {STUB_TIMEOUTS} checks of {check.spec.stub} have reached their time limit already"
            return _result(check, "timed_out", rec.Limit("time", limits.check_seconds, "s", doing))
        if self._waited > limits.total_seconds:
            doing = "not run: the time of all checks together is used up"
            return _result(check, "timed_out", rec.Limit("total time", limits.total_seconds, "s", doing))
        return self._run(check)

    def _unmet(self, check: Check) -> rec.Unmet | None:
        for name in check.spec.depends:
            for earlier in self._by_function.get(name, []):
                if earlier.status != "passed":
                    if earlier.status == "not_implemented":  # say what is wrong, not what follows from it
                        continue
                    return rec.Unmet(earlier.id, earlier.status)
        return None

    def _run(self, check: Check) -> rec.CheckResult:
        context = self._context
        begun = time.monotonic()
        error = self._session.execute(check, context)
        duration = time.monotonic() - begun
        if isinstance(error, IsolationError):  # nothing can be graded on this machine
            raise GraderError(f"a submission's process could not be started: {error}")
        self._waited += context.budget.spent
        status, failure = _verdict(error)
        if status == "timed_out":
            self._timeouts[check.spec.stub] = self._timeouts.get(check.spec.stub, 0) + 1
        output = _output(context.output, check.visible)
        misconception = self._misconception(check, status, context)
        shown = failure if check.visible else _without_data(failure)
        result = _result(check, status, shown, output=output, misconception=misconception, duration=duration)
        # a hint about the algorithm misleads when the file could not be imported at all
        return msgspec.structs.replace(result, hint=None) if context.import_failed else result

    def _misconception(self, check: Check, status: str, context: Context) -> str | None:
        """The sentence of the known wrong variant that does the same; asked for once per stub."""
        if status != "failed" or not self.explain or check.spec.stub in self._explained:
            return None
        self._explained.add(check.spec.stub)
        return self._session._misconceptions.explain(
            check.id, check.spec.name, context.transcript, counted=check.spec.kind != "values"
        )


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


def _verdict(error: BaseException | None) -> tuple[rec.Status, rec.Failure | None]:
    if error is None:
        return "passed", None
    if isinstance(error, Outcome):
        return error.status, error.failure
    if isinstance(error, AssertionError):
        return "failed", rec.Message(str(error).splitlines()[0] if str(error) else "the property does not hold")
    if isinstance(error, KeyboardInterrupt):
        raise error
    text = "".join(traceback.format_exception(error))
    return "grader_error", rec.GraderFault(f"{type(error).__name__}: {error}", text[-6000:])


def _without_data(failure: rec.Failure | None) -> rec.Failure | None:
    """A failure of a hidden check, without anything from which its inputs could be learnt."""
    if isinstance(failure, rec.WrongValue):
        return rec.WrongValue(
            failure.name, failure.problem, failure.wrong, failure.size, error=failure.error, budget=failure.budget
        )
    if isinstance(failure, rec.Message):
        return rec.Message(failure.message)
    if isinstance(failure, rec.Exception_):
        message = failure.message
        if len(message) > MESSAGE_OF_HIDDEN:
            message = message[:MESSAGE_OF_HIDDEN] + " ..."
        frames = [rec.Frame(f.line, f.function[:NAME_OF_HIDDEN], f.code) for f in failure.frames[-FRAMES_OF_HIDDEN:]]
        return rec.Exception_(failure.exception[:NAME_OF_HIDDEN], message, frames, failure.expected)
    return failure


def _output(output: Output, visible: bool) -> rec.Output | None:
    return rec.Output(output.size, output.text() if visible else None, output.cut) if output.size else None


def _result(
    check: Check,
    status: rec.Status,
    failure: rec.Failure | None,
    *,
    output: rec.Output | None = None,
    misconception: str | None = None,
    duration: float = 0.0,
) -> rec.CheckResult:
    passed = status == "passed"
    return rec.CheckResult(
        id=check.id,
        stub=check.spec.stub,
        title=check.spec.title,
        kind=check.spec.kind,
        case=check.spec.case,
        suite=check.suite,
        visibility=check.visibility,
        points=round(float(check.max), 6) if passed else 0.0,
        max=round(float(check.max), 6),
        status=status,
        failure=failure,
        hint=None if passed or status in ("skipped", "not_runnable", "grader_error") else check.spec.hint,
        misconception=misconception,
        output=output,
        duration=round(duration, 6),
    )


def _all_or_nothing(checks: Sequence[Check], results: list[rec.CheckResult]) -> list[rec.CheckResult]:
    lost = {
        check.function
        for check, result in zip(checks, results)
        if check.spec.all_or_nothing and result.status != "passed"
    }
    return [
        msgspec.structs.replace(result, points=0.0) if check.function in lost else result
        for check, result in zip(checks, results)
    ]


# -------------------------------------------------------------------------------------------------------- collecting
class _Plugin:
    """Hands the collected checks to the body instead of running them once."""

    def __init__(
        self,
        assignment: Assignment,
        state: GradingState,
        body: Callable[[Session], None],
        stub: str | None,
        selection: str | None,
    ) -> None:
        self._assignment, self._state, self._body = assignment, state, body
        self._stub, self._selection = stub, selection
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
            raise UsageError(f"no check of {self._assignment.id} matches {self._selection or 'this selection'}")
        self._body(Session(self._assignment, self._state, checks, self._selection))
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
    selection = " and ".join(part for part in (expression and f"-k {expression}", stub and f"--stub {stub}") if part)
    plugin = _Plugin(assignment, GradingState(parent, assignment), body, stub, selection or None)
    code = pytest.main(arguments(assignment.course.root, paths, expression), plugins=[plugin])
    if plugin.error is not None:
        raise plugin.error
    if code not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.NO_TESTS_COLLECTED):
        raise GraderError(f"pytest ended with {code!r} while it collected the checks of {assignment.id}")


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


# -------------------------------------------------------------------------------------------------------- small parts
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
