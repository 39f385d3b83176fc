"""What GitHub Actions and GitHub Classroom read: annotations, the Classroom result and its notices.

Sources: GitHub, "Workflow commands for GitHub Actions",
https://docs.github.com/en/actions/using-workflows/workflow-commands-for-github-actions (commands and their escapes);
"Annotation limitation", https://github.com/orgs/community/discussions/26680 (ten per kind and step); "GitHub Classroom
Autograding Reporter", https://github.com/classroom-resources/autograding-grading-reporter (the result's fields, and the
two notices from which Classroom takes the points).
"""

from __future__ import annotations

import ast
import base64
import json
from collections.abc import Mapping
from typing import Any

from autograder.errors import GraderError
from autograder.record import CheckResult, Exception_, Record
from autograder.render import feedback
from autograder.render.prose import one_line

MAX_ANNOTATIONS = 10


def classroom(record: Record) -> dict[str, Any]:
    """The result that a Classroom grader hands to the reporter. Raises GraderError for a record without a score."""
    if record.score is None:
        raise GraderError("the record has no score, so there is no result to report: the grader itself failed")
    passed = all(check.status == "passed" for check in record.checks)
    return {
        "version": 1,
        "status": "pass" if passed else "fail",
        "max_score": record.max_score,
        "tests": [
            {
                "name": feedback.name(check),
                "status": "pass" if check.status == "passed" else "fail",
                "score": check.points,
                "message": feedback.text(check, most=500),
                "test_code": "",
                "filename": "",
                "line_no": 0,
                "duration": round(check.duration * 1000),
            }
            for check in record.checks
        ],
    }


def encoded(result: Mapping[str, Any]) -> str:
    """The result as a step's output carries it: base64 of its JSON."""
    return base64.b64encode(json.dumps(result).encode()).decode()


def commands(record: Record, path: str, source: str | None) -> list[str]:
    """An error per function, at the line that raised or where the function begins, then the points as notices.

    `path` is the module's place in the repository, `source` its text, if that is at hand. What fails all functions
    alike, such as a file that is not Python, is one error.
    """
    begins = _definitions(source) if source is not None else {}
    errors: dict[tuple[int, str], str] = {}
    stubs: set[str] = set()
    for check in record.checks:
        if check.status not in ("passed", "skipped") and check.stub not in stubs:
            stubs.add(check.stub)
            line, cause = _line(check, begins), one_line(check)
            named = {"file": path, "line": line, "title": feedback.name(check)}
            errors.setdefault((line, cause), _command("error", named, cause))
    lines = list(errors.values())[:MAX_ANNOTATIONS]
    if record.score is None or record.selection:  # no grade, so no points to report
        return lines
    total = {"totalPoints": record.score, "maxPoints": record.max_score}
    return [
        *lines,
        _command("notice", {"title": "Autograding complete"}, f"Points {record.score:g}/{record.max_score:g}"),
        _command("notice", {"title": "Autograding report"}, json.dumps(total)),
    ]


def _line(check: CheckResult, begins: Mapping[str, int]) -> int:
    frames = check.failure.frames if isinstance(check.failure, Exception_) else []
    return frames[-1].line if frames else begins.get(check.stub, 1)


def _definitions(source: str) -> dict[str, int]:
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {}
    kinds = (ast.FunctionDef, ast.ClassDef)
    return {node.name: node.lineno for node in ast.walk(tree) if isinstance(node, kinds)}


def _command(kind: str, properties: Mapping[str, object], message: str) -> str:
    """A workflow command on one line, whatever the texts contain."""
    written = ",".join(f"{key}={_property(str(value))}" for key, value in properties.items())
    return f"::{kind} {written}::{_data(message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
