"""PrairieLearn's results.json for external grading.

Source: PrairieLearn, "External Grading", https://docs.prairielearn.com/externalGrading/: a score from 0 to 1, or
`gradable` false (no attempt is lost); at most 1 MB. Everything in it is shown to the student at once, so hidden checks
appear as a sum per function.
"""

from __future__ import annotations

from typing import Any

from autograder.record import CheckResult, Record
from autograder.render import feedback
from autograder.render.terminal import score_line

_BUDGET = 200_000
"""Characters of text of all tests together: at most four bytes each, so that a result stays below 1 MB."""
FAULT = "The grader itself failed. This is not your fault and costs no attempt; tell the course staff."


def results(record: Record) -> dict[str, Any]:
    """The record for PrairieLearn; a file that is not Python, or a fault of the grader, is not gradable."""
    if record.score is None:
        return not_gradable(FAULT)
    problem = feedback.syntax_error(record)
    if problem is not None:
        return not_gradable(f"The file is not valid Python, so nothing was graded. {problem}")
    shown = [check for check in record.checks if check.visibility == "visible"]
    most = max(200, min(feedback.MAX_TEXT, _BUDGET // max(1, len(shown))))
    return {
        "gradable": True,
        "score": round(min(1.0, max(0.0, record.score / record.max_score)), 6) if record.max_score else 0.0,
        "message": score_line(record),
        "output": feedback.identity(record),
        "tests": [*(_test(check, most) for check in shown), *_sums(record)],
    }


def not_gradable(why: str) -> dict[str, Any]:
    return {"gradable": False, "message": why, "format_errors": [why]}


def _test(check: CheckResult, most: int) -> dict[str, Any]:
    head, _, rest = feedback.text(check, most=most).partition("\n")
    return {
        "name": feedback.name(check),
        "points": check.points,
        "max_points": check.max,
        "message": head or "passed",
        "output": rest,
    }


def _sums(record: Record) -> list[dict[str, Any]]:
    """One row per function for the checks whose own rows must not be shown."""
    held = [check for check in record.checks if check.visibility != "visible"]
    groups = {stub: [check for check in held if check.stub == stub] for stub in dict.fromkeys(c.stub for c in held)}
    return [
        {
            "name": f"{stub}: hidden checks",
            "points": round(sum(check.points for check in checks), 4),
            "max_points": round(sum(check.max for check in checks), 4),
            "message": f"{sum(check.status == 'passed' for check in checks)} of {len(checks)} pass",
            "output": "",
        }
        for stub, checks in groups.items()
    ]
