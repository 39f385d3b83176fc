"""A record as nbgrader shows it: points and text per check's cell, one comment per function.

The text is what a student may read; `autograder.session` has taken out of a record what is to stay hidden.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass

from autograder.lms.feedback import for_cell
from autograder.nbgrader_bridge.cells import POINTS_DIGITS, function_of, grade_id, remarks_id, section_of
from autograder.record import CheckResult, Record
from autograder.render.prose import GLYPHS, WORDS, explain, one_line, printable
from autograder.render.terminal import number

MAX_CASES = 6
"""Failing cases of one check that are explained; the others are counted."""
MAX_TEXT = 4000
"""Characters below one cell or in one comment, whatever a submission raises."""


@dataclass(frozen=True)
class Marks:
    """What one record says, by the ids of nbgrader's cells."""

    points: dict[str, float]
    maximum: dict[str, float]
    outputs: dict[str, str]
    comments: dict[str, str]


def marks_of(record: Record) -> Marks:
    checks: dict[str, list[CheckResult]] = defaultdict(list)
    for result in record.checks:
        checks[function_of(result.id)].append(result)
    marks = Marks({}, {}, {}, {})
    sections: dict[str, list[CheckResult]] = defaultdict(list)
    for function, results in checks.items():
        stubs = {result.stub for result in results}
        name = grade_id(function, stubs)
        marks.points[name] = round(sum(result.points for result in results), POINTS_DIGITS)
        marks.maximum[name] = round(sum(result.max for result in results), POINTS_DIGITS)
        marks.outputs[name] = _output(results)
        sections[section_of(stubs)] += results
    for section, results in sections.items():
        marks.comments[remarks_id(section)] = _comment(section, results)
    return marks


def _output(results: list[CheckResult]) -> str:
    """What stands below a check's cell."""
    failed = [result for result in results if result.status != "passed"]
    head = f"{results[0].title}\n{_score(results)}: {len(results) - len(failed)} of {_cases(results)}"
    lines = [line for result in failed[:MAX_CASES] for line in _told(result)]
    lines += [f"and {len(failed) - MAX_CASES} more"] if len(failed) > MAX_CASES else []
    lines += [f"Hint: {failed[0].hint}"] if failed and failed[0].hint else []
    return _clean([head, *lines]) + "\n"


def _told(result: CheckResult) -> list[str]:
    """The explanation of a case that did not pass, and what is known about such a mistake."""
    text = explain(result.failure) or WORDS[result.status]
    lines = f"{GLYPHS[result.status]} {_case(result)}{WORDS[result.status]}: {text}".split("\n")
    return lines + ([f"  {result.misconception}"] if result.misconception else [])


def _case(result: CheckResult) -> str:
    case = result.id[len(function_of(result.id)) :]
    return f"{case} " if case else ""


def _comment(section: str, results: list[CheckResult]) -> str:
    """One comment about a function. In a fence, since nbgrader reads Markdown and HTML, and students write messages."""
    passed = sum(result.status == "passed" for result in results)
    lines = [f"{section}: {_score(results)}, {passed} of {_cases(results)}"]
    reported: set[tuple[str, str]] = set()
    for result in results:
        key = (result.title, one_line(result))
        if result.status != "passed" and key not in reported:
            reported.add(key)
            lines.append(f"- {result.title}: {one_line(result) or WORDS[result.status]}")
            lines += [f"  {text}" for text in (result.misconception, result.hint) if text]
    return f"```\n{re.sub('`{3,}|~{3,}', '...', _clean(lines))}\n```"


def _clean(lines: list[str]) -> str:
    """Without control characters, and no longer than a page."""
    text = for_cell(printable("\n".join(lines)), php=False, formulas=False)
    return text if len(text) <= MAX_TEXT else f"{text[:MAX_TEXT]} ..."


def _score(results: list[CheckResult]) -> str:
    points, full = (sum(getattr(result, name) for result in results) for name in ("points", "max"))
    return f"{number(points)}/{number(full)} points"


def _cases(results: list[CheckResult]) -> str:
    return f"{len(results)} cases pass" if len(results) > 1 else "1 passes"
