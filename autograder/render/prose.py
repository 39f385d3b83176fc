"""Typed failures in a student's words; the one place where prose is made."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from functools import singledispatch

from autograder.record import (
    CheckResult,
    Died,
    Divergence,
    Exception_,
    Failure,
    Frame,
    GraderFault,
    Limit,
    Message,
    NoError,
    TooMuch,
    Unmet,
    WrongType,
    WrongValue,
)

GLYPHS: dict[str, str] = {
    "passed": "✓",
    "failed": "✗",
    "crashed": "!",
    "timed_out": "⧖",
    "over_limit": "▲",
    "forbidden": "⊘",
    "skipped": "·",
    "not_implemented": "○",
    "not_runnable": "?",
    "grader_error": "⚠",
}
WORDS: dict[str, str] = {status: status.replace("_", " ") for status in GLYPHS}


def printable(text: str) -> str:
    """Text of a student made safe for a terminal: control and bidirectional characters are shown, not obeyed."""
    return "".join(char if char in "\n\t" or _harmless(char) else f"\\x{ord(char):02x}" for char in text)


def _harmless(char: str) -> bool:
    return unicodedata.category(char) not in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")


def explain(failure: Failure | None) -> str:
    """What went wrong, in one to a few lines, safe to print."""
    return "" if failure is None else printable(_explain(failure))


def one_line(result: CheckResult) -> str:
    """The first line of the explanation, for tables."""
    return explain(result.failure).partition("\n")[0]


@singledispatch
def _explain(failure: Failure) -> str:
    raise TypeError(type(failure).__name__)


_on: Callable[[type], Callable[[Callable[..., str]], Callable[..., str]]] = _explain.register


@_on(WrongValue)
def _wrong_value(failure: WrongValue) -> str:
    where = "" if failure.where in (None, []) else f" at index {_index(failure.where or [])}"
    share = f"{failure.wrong} of {failure.size} elements" if failure.size > 1 else "the value"
    if failure.problem == "nan":
        text = f"{failure.name}: NaN in the wrong places, {share}"
    elif failure.problem == "infinity":
        text = f"{failure.name}: infinities in the wrong places, {share}"
    elif failure.budget == 0.0:
        text = f"{failure.name}: {share} not identical, bit for bit"
    else:
        worst = "" if failure.error is None else f"worst error {failure.error:.3g}{where}, "
        text = f"{failure.name}: {share} off, {worst}budget {failure.budget or 0:.3g}"
        where = ""
    if failure.expected is not None and failure.got is not None:
        text += f"{where}: expected {failure.expected:.8g}, got {failure.got:.8g}"
    return text


def _index(where: list[int]) -> str:
    return str(where[0]) if len(where) == 1 else str(tuple(where))


@_on(WrongType)
def _wrong_type(failure: WrongType) -> str:
    return f"{failure.name}: expected {failure.expected}, got {failure.got}"


@_on(TooMuch)
def _too_much(failure: TooMuch) -> str:
    measured = f"{failure.measured:,} {failure.what}".rstrip()
    text = f"{failure.name}: {measured}, the contract allows {failure.contract:,}"
    return f"{text}; {failure.event}" if failure.event else text


@_on(Divergence)
def _divergence(failure: Divergence) -> str:
    place = ", ".join(
        part
        for part in (
            f"first difference at step {failure.step}" if failure.step is not None else "",
            f"in {failure.key}" if failure.key else "",
        )
        if part
    )
    return f"{failure.message}: {place}" if place else failure.message


@_on(Message)
def _message(failure: Message) -> str:
    return "\n".join([failure.message, *(f"  {key}: {value}" for key, value in failure.details.items())])


@_on(Exception_)
def _exception(failure: Exception_) -> str:
    head = f"{failure.exception}: {failure.message}" if failure.message else failure.exception
    if failure.expected:
        head = f"expected {failure.expected}, but it raised {head}"
    return "\n".join([head, *(_frame(frame) for frame in failure.frames)])


def _frame(frame: Frame) -> str:
    return f"  line {frame.line}, in {frame.function}:  {frame.code}"


@_on(NoError)
def _no_error(failure: NoError) -> str:
    match = f" with a message about {failure.match!r}" if failure.match else ""
    return f"expected {failure.expected}{match}, but no error was raised"


@_on(Died)
def _died(failure: Died) -> str:
    return failure.message


@_on(Limit)
def _limit(failure: Limit) -> str:
    if failure.doing.startswith("not run"):
        return failure.doing
    value = f"{failure.value:g} {failure.unit}".strip()
    text = f"{failure.limit} limit of {value}" if failure.value else f"{failure.limit} limit"
    return f"{text} reached: {failure.doing}" if failure.doing else f"{text} reached"


@_on(Unmet)
def _unmet(failure: Unmet) -> str:
    return f"not run, because {failure.check} {_past(failure.status)}"


def _past(status: str) -> str:
    verbs = {"failed": "failed", "crashed": "crashed", "skipped": "was skipped", "timed_out": "ran out of time"}
    return verbs.get(status, f"is {WORDS.get(status, status)}")


@_on(GraderFault)
def _grader_fault(failure: GraderFault) -> str:
    return f"a fault of the grader, not of the submission: {failure.message}"
