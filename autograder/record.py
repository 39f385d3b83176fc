"""The result of grading one submission: one versioned record from which every report is rendered.

The JSON Schema of `Record` is published as docs/schemas/result.schema.json.
"""

from __future__ import annotations

import hashlib
from typing import Any, Final, Literal

import msgspec

FORMAT: Final = 1

Status = Literal[
    "passed",
    "failed",
    "crashed",
    "timed_out",
    "over_limit",
    "forbidden",
    "skipped",
    "not_implemented",
    "not_runnable",
    "grader_error",
]
Kind = Literal["values", "counts", "flops", "memory", "exactness", "errors", "robustness"]
Visibility = Literal["visible", "hidden", "after_due_date"]


class _Failure(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="type", omit_defaults=True):
    """Base of the typed failures; prose is made from them by `autograder.render.prose`."""


class WrongValue(_Failure, frozen=True, tag="wrong_value"):
    """An array or number differs from the reference by more than its budget."""

    name: str
    problem: Literal["error", "nan", "infinity"]
    wrong: int
    size: int
    where: list[int] | None = None
    """Index of the worst element; visible checks only, as `expected` and `got`."""
    expected: float | None = None
    got: float | None = None
    error: float | None = None
    budget: float | None = None


class WrongType(_Failure, frozen=True, tag="wrong_type"):
    """A return value is of another type, dtype, shape or length than asked for."""

    name: str
    expected: str
    got: str


class TooMuch(_Failure, frozen=True, tag="too_much"):
    """A measured count exceeds its contract. `event` is the first event that exceeds it."""

    name: str
    what: str
    contract: int
    measured: int
    event: str | None = None


class Divergence(_Failure, frozen=True, tag="divergence"):
    """Two runs that must be identical are not: the first step and state key that differ."""

    message: str
    step: int | None = None
    key: str | None = None


class Message(_Failure, frozen=True, tag="message"):
    """Any other fact; `details` only for visible checks."""

    message: str
    details: dict[str, str] = {}


class Frame(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One line of the student's own code in a traceback."""

    line: int
    function: str
    code: str


class Exception_(_Failure, frozen=True, tag="exception"):
    """The student's code raised. `expected` names the error that was asked for instead, if one was."""

    exception: str
    message: str
    frames: list[Frame] = []
    expected: str | None = None


class NoError(_Failure, frozen=True, tag="no_error"):
    """An error was asked for and none (or another one) came."""

    expected: str
    match: str | None = None


class Died(_Failure, frozen=True, tag="died"):
    """The submission's process ended by itself, or sent what is no answer."""

    message: str


class Limit(_Failure, frozen=True, tag="limit"):
    """A limit was hit."""

    limit: str
    value: float
    unit: str
    doing: str = ""


class Unmet(_Failure, frozen=True, tag="unmet"):
    """Skipped: a check this one depends on did not pass."""

    check: str
    status: str


class GraderFault(_Failure, frozen=True, tag="grader_fault"):
    """The grader itself failed; the submission is not to blame and gets no grade."""

    message: str
    traceback: str = ""


Failure = (
    WrongValue | WrongType | TooMuch | Divergence | Message | Exception_ | NoError | Died | Limit | Unmet | GraderFault
)


class Output(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the submission printed during a check. `text` is withheld (None) for hidden checks."""

    size: int
    text: str | None
    cut: bool


class CheckResult(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    id: str
    stub: str
    title: str
    kind: Kind
    case: str | None
    suite: Literal["public", "hidden"]
    visibility: Visibility
    points: float
    max: float
    status: Status
    failure: Failure | None = None
    hint: str | None = None
    misconception: str | None = None
    output: Output | None = None
    duration: float = 0.0
    """Seconds; never enters a score."""


class Submission(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    id: str
    files: dict[str, str]
    """File name to SHA-256 of its bytes."""


class Environment(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    python: str
    torch: str | None
    numpy: str
    threads: int
    isolation: str
    layers: list[str]
    secret: Literal["course", "public"]
    """Whether hidden inputs derive from the course secret or from the public fallback."""


class Group(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    passed: int
    checks: int
    points: float
    max: float


class Totals(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    by_stub: list[Group]
    by_kind: list[Group]


class Record(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    format: int
    assignment: str
    kit_version: str
    submission: Submission
    started: str
    finished: str
    environment: Environment
    suites: list[str]
    """Which suites ran: "public", or "public" and "hidden"."""
    checks: list[CheckResult]
    totals: Totals
    score: float | None
    """None when a grader error occurred: such a record is never a grade."""
    max_score: float
    receipt: str
    selection: str | None = None
    """The -k / --stub filter, if only some checks ran: such a record is never a grade either."""


def encode(record: Record, *, indent: int = 2) -> bytes:
    return msgspec.json.format(msgspec.json.encode(record), indent=indent) + b"\n"


def decode(data: bytes) -> Record:
    return msgspec.json.decode(data, type=Record)


def schema() -> dict[str, Any]:
    """JSON Schema (2020-12) of a record."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **msgspec.json.schema(Record)}


def totals(checks: list[CheckResult]) -> Totals:
    return Totals(_groups(checks, "stub"), _groups(checks, "kind"))


def _groups(checks: list[CheckResult], attribute: str) -> list[Group]:
    names = list(dict.fromkeys(getattr(check, attribute) for check in checks))
    return [_group(name, [check for check in checks if getattr(check, attribute) == name]) for name in names]


def _group(name: str, checks: list[CheckResult]) -> Group:
    return Group(
        name,
        sum(check.status == "passed" for check in checks),
        len(checks),
        round(sum(check.points for check in checks), 4),
        round(sum(check.max for check in checks), 4),
    )


def receipt(assignment: str, kit_version: str, files: dict[str, str], checks: list[CheckResult]) -> str:
    """Hash over what was graded and what came out, the same for the same files, kit and outcome."""
    facts = [assignment, kit_version, sorted(files.items()), [[c.id, c.status, c.points] for c in checks]]
    return hashlib.sha256(msgspec.json.encode(facts)).hexdigest()
