"""Grading one submission: its checks one after the other, and what follows from their results."""

from __future__ import annotations

import importlib
import time
import traceback
from collections.abc import Callable, Sequence
from functools import cache

import msgspec

from autograder import record as rec
from autograder.budget import Output
from autograder.checks.collected import Check
from autograder.errors import GraderError, Outcome
from autograder.isolation import IsolationError
from autograder.manifest import Limits
from autograder.misconceptions import Misconceptions
from autograder.submission import Context

MESSAGE_OF_HIDDEN = 160
"""Characters of an exception's message shown for a hidden check: enough to recognise it, too few for its data."""
NAME_OF_HIDDEN = 40
FRAMES_OF_HIDDEN = 3
"""Names can be made up at run time, so a traceback of a hidden check is short too."""
STUB_TIMEOUTS = 2
"""After so many checks of one stub ran out of time, its other checks are not run."""


class Grading:
    """One submission: results so far, and what follows from them."""

    def __init__(
        self,
        checks: Sequence[Check],
        limits: Limits,
        context: Context,
        *,
        execute: Callable[[Check, Context], BaseException | None],
        misconceptions: Misconceptions | None,
        on_result: Callable[[rec.CheckResult], None] | None,
    ) -> None:
        self._checks, self._limits, self._context = checks, limits, context
        self._execute, self._misconceptions, self._on_result = execute, misconceptions, on_result
        self._by_function: dict[str, list[rec.CheckResult]] = {}
        self._timeouts: dict[str, int] = {}
        self._explained: set[str] = set()
        self._waited = 0.0

    def results(self) -> list[rec.CheckResult]:
        results = []
        try:
            for check in self._checks:
                result = self._one(check)
                results.append(result)
                self._by_function.setdefault(check.function, []).append(result)
                if self._on_result is not None:
                    self._on_result(result)
        finally:
            self._context.close()
        return _all_or_nothing(self._checks, results)

    def _one(self, check: Check) -> rec.CheckResult:
        for name in check.spec.requires:
            problem = _missing(name)
            if problem is not None:
                return result_of(check, "not_runnable", rec.Message(problem))
        unmet = self._unmet(check)
        if unmet is not None:
            return result_of(check, "skipped", unmet)
        limits = self._limits
        if self._timeouts.get(check.spec.stub, 0) >= STUB_TIMEOUTS:
            doing = f"not run: {STUB_TIMEOUTS} checks of {check.spec.stub} have reached their time limit already"
            return result_of(check, "timed_out", rec.Limit("time", limits.check_seconds, "s", doing))
        if self._waited > limits.total_seconds:
            doing = "not run: the time of all checks together is used up"
            return result_of(check, "timed_out", rec.Limit("total time", limits.total_seconds, "s", doing))
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
        error = self._execute(check, context)
        duration = time.monotonic() - begun
        if isinstance(error, IsolationError):  # nothing can be graded on this machine
            raise GraderError(f"a submission's process could not be started: {error}")
        self._waited += context.budget.spent + context.budget.importing
        status, failure = _verdict(error)
        if status == "timed_out":
            self._timeouts[check.spec.stub] = self._timeouts.get(check.spec.stub, 0) + 1
        output = _output(context.output, check.visible)
        misconception = self._misconception(check, status, context)
        shown = failure if check.visible else _without_data(failure)
        result = result_of(check, status, shown, output=output, misconception=misconception, duration=duration)
        # a hint about the algorithm misleads when the file could not be imported at all
        return msgspec.structs.replace(result, hint=None) if context.import_failed else result

    def _misconception(self, check: Check, status: str, context: Context) -> str | None:
        """The sentence of the known wrong variant that does the same; asked for once per stub."""
        if status != "failed" or self._misconceptions is None or check.spec.stub in self._explained:
            return None
        self._explained.add(check.spec.stub)
        return self._misconceptions.explain(
            check.id, check.spec.name, context.transcript, counted=check.spec.kind != "values"
        )


@cache
def _missing(name: str) -> str | None:
    """Why a library that a check needs cannot be used here: absent, or made for another version of its neighbours."""
    try:
        importlib.import_module(name)
    except ModuleNotFoundError:
        return f"{name} is not installed here"
    except Exception as error:
        return f"{name} cannot be imported here: {type(error).__name__}: {error}"
    return None


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


def result_of(
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
