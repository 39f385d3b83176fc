"""A record as Markdown, for a job summary or a comment."""

from __future__ import annotations

import re

from autograder.record import CheckResult, Record
from autograder.render import feedback
from autograder.render.prose import GLYPHS, WORDS, one_line
from autograder.render.terminal import number, score_line

_MOST_DETAILS = 20
_MOST_TEXT = 4000
_MOST_CAUSE = 300
"""Characters, so that a page stays far below the 1 MiB beyond which GitHub drops a job's summary: "Workflow commands",
https://docs.github.com/en/actions/using-workflows/workflow-commands-for-github-actions."""
_MARKUP = re.compile(r"([\\`*_{}\[\]<>#|~&$@])")


def summary(record: Record) -> str:
    """The table per function, then what did not pass, the first failures in full."""
    lines = [f"## {_plain(record.assignment)}", "", f"**{_plain(score_line(record))}**", ""]
    lines += ["| function | checks | points | |", "|---|---:|---:|---|", *_rows(record), ""]
    failures = [check for check in record.checks if check.status != "passed"]
    for check in failures[:_MOST_DETAILS]:
        lines += _details(check)
    lines += [f"- {_headline(check)}" for check in failures[_MOST_DETAILS:]]
    lines += ["", f"<sub>{_plain(feedback.identity(record))}</sub>", ""]
    return "\n".join(lines)


def _rows(record: Record) -> list[str]:
    rows = []
    for group in record.totals.by_stub:
        tally: dict[str, int] = {}
        for check in record.checks:
            if check.stub == group.name:
                tally[check.status] = tally.get(check.status, 0) + 1
        notes = ", ".join(f"{GLYPHS[status]} {count} {WORDS[status]}" for status, count in tally.items())
        points = f"{number(group.points)}/{number(group.max)}"
        rows.append(f"| {_plain(group.name)} | {group.passed}/{group.checks} | {points} | {notes} |")
    return rows


def _headline(check: CheckResult) -> str:
    cause = one_line(check)[:_MOST_CAUSE]
    return f"{GLYPHS[check.status]} {_plain(feedback.name(check))}" + (f": {_plain(cause)}" if cause else "")


def _details(check: CheckResult) -> list[str]:
    body = feedback.text(check, most=_MOST_TEXT)
    fence = "`" * (1 + max((len(ticks) for ticks in re.findall("`+", body)), default=2))
    summary = f"<summary>{_plain(GLYPHS[check.status] + ' ' + feedback.name(check))}</summary>"
    return ["<details>", summary, "", f"{fence}text", body, fence, "", "</details>"]


def _plain(text: str) -> str:
    """Text that Markdown and HTML take as it is: no link, mention, table cell or tag can begin in it."""
    return _MARKUP.sub(lambda found: f"&#{ord(found[0])};", " ".join(text.split()))
