"""One check and one record as plain text, for platforms that show text and nothing else."""

from __future__ import annotations

from datetime import datetime

from autograder.record import CheckResult, Exception_, Record
from autograder.render.prose import WORDS, explain, printable

MAX_TEXT = 6000
"""Characters of one check's text: a page, whatever a submission prints or raises."""
_SYNTAX = frozenset({"SyntaxError", "IndentationError", "TabError"})


def name(check: CheckResult) -> str:
    """The line by which a student recognises the check: function, behaviour, parameters."""
    parameters = check.id.partition("[")[2].removesuffix("]")
    shown = f" [{parameters}]" if parameters not in ("", check.stub) else ""
    return printable(f"{check.stub}: {check.title}{shown}")


def text(check: CheckResult, *, most: int = MAX_TEXT) -> str:
    """Why the check did not pass, what helps, and what the submission printed; "" when there is nothing to say."""
    if check.status == "passed":
        return ""
    printed = printable(check.output.text).rstrip("\n") if check.output and check.output.text else ""
    lines = [
        f"{WORDS[check.status]}: {explain(check.failure)}".removesuffix(": "),
        check.misconception and f"it behaves like this: {check.misconception}",
        check.hint and f"hint: {check.hint}",
        printed and f"printed:\n{printed}",
    ]
    return shortened("\n".join(line for line in lines if line), most)


def shortened(whole: str, most: int) -> str:
    """The beginning and the end of a text that is too long."""
    if len(whole) <= most:
        return whole
    half = most // 2
    return f"{whole[:half]}\n... {len(whole) - 2 * half:,} characters ...\n{whole[-half:]}"


def identity(record: Record) -> str:
    """What was graded, by what: the facts that a second run has to repeat."""
    files = ", ".join(f"{file} (sha256 {digest})" for file, digest in record.submission.files.items())
    return f"graded {files}, assignment {record.assignment}, kit {record.kit_version}"


def syntax_error(record: Record) -> str | None:
    """The explanation when the file is not valid Python, so that no check could run at all; else None."""
    found = [check.failure for check in record.checks if check.status != "skipped"]
    broken = [failure for failure in found if isinstance(failure, Exception_) and failure.exception in _SYNTAX]
    return explain(broken[0]) if broken and len(broken) == len(found) else None


def seconds(record: Record) -> float:
    """Wall seconds from the start of the first check to the end of the last."""
    begun, ended = (datetime.fromisoformat(moment) for moment in (record.started, record.finished))
    return round(max(0.0, (ended - begun).total_seconds()), 3)
