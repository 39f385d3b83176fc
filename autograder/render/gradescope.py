"""Gradescope's results.json.

Source: Gradescope, "Autograder Specifications", https://gradescope-autograders.readthedocs.io/en/latest/specs/.
A hidden test hides the total from the student. A total that is given overrides the sum of the tests. What is printed is
for the staff alone unless `stdout_visibility` says otherwise.
"""

from __future__ import annotations

from typing import Any, Literal, get_args

from autograder.errors import GraderError
from autograder.record import CheckResult, Record
from autograder.render import feedback
from autograder.render.terminal import score_line

HiddenAs = Literal["hidden", "after_due_date", "after_published", "visible"]
HIDDEN_AS: tuple[str, ...] = get_args(HiddenAs)
_TEXT = "text"
"""Said outright wherever text of a submission appears: another default would let it write HTML."""


def results(record: Record, *, hidden_as: str = "hidden") -> dict[str, Any]:
    """The record for Gradescope; hidden checks get the visibility `hidden_as`.

    Raises GraderError for a record without a score: Gradescope has no word for that but a missing results.json.
    """
    if record.score is None:
        raise GraderError("the record has no score, so there is no result to show: the grader itself failed")
    numbers: dict[str, int] = {}
    tests = []
    for check in record.checks:
        numbers[check.stub] = numbers.get(check.stub, 0) + 1
        tests.append(_test(check, f"{list(numbers).index(check.stub) + 1}.{numbers[check.stub]}", hidden_as))
    return _document(record.score, _summary(record, tests), tests) | {
        "execution_time": feedback.seconds(record),
        "extra_data": {
            "kit_version": record.kit_version,
            "receipt": record.receipt,
            "isolation": record.environment.isolation,
            "layers": record.environment.layers,
            "secret": record.environment.secret,
        },
    }


def refused(module: str, why: str) -> dict[str, Any]:
    """Nothing could be graded, and the student can repair that: no points, and the reason as the only test."""
    test = {"name": f"{module} was handed in", "name_format": _TEXT, "status": "failed", "score": 0.0, "output": why,
            "output_format": _TEXT, "visibility": "visible"}  # fmt: skip
    return _document(0.0, why, [test])


def _document(score: float, output: str, tests: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "score": score,
        "output": output,
        "output_format": _TEXT,
        "visibility": "visible",
        "stdout_visibility": "hidden",
        "tests": tests,
    }


def _test(check: CheckResult, number: str, hidden_as: str) -> dict[str, Any]:
    return {
        "name": feedback.name(check),
        "name_format": _TEXT,
        "number": number,
        "status": "passed" if check.status == "passed" else "failed",
        "score": check.points,
        "max_score": check.max,
        "output": feedback.text(check),
        "output_format": _TEXT,
        "visibility": hidden_as if check.visibility == "hidden" else check.visibility,
        "tags": [check.kind, check.suite, check.status],
    }


def _summary(record: Record, tests: list[dict[str, Any]]) -> str:
    """The head of the page, which everybody sees: it never adds up what is not shown yet."""
    if all(test["visibility"] == "visible" for test in tests):
        verdict = score_line(record)
    else:
        shown = [test for test in tests if test["visibility"] == "visible"]
        passed = sum(test["status"] == "passed" for test in shown)
        verdict = f"{passed} of {len(shown)} visible checks pass; {len(tests) - len(shown)} more are not shown"
    return f"{feedback.identity(record)}\n{verdict}"
