"""The report in a terminal: progress while it runs, a table per stub, the first failure in full, what to do next."""

from __future__ import annotations

from rich.console import Console, Group
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from autograder.record import CheckResult, Record
from autograder.render.prose import GLYPHS, WORDS, explain, one_line, printable

COLOURS = {
    "passed": "green",
    "failed": "red",
    "crashed": "red",
    "timed_out": "yellow",
    "over_limit": "yellow",
    "forbidden": "red",
    "skipped": "dim",
    "not_implemented": "cyan",
    "not_runnable": "dim",
    "grader_error": "magenta",
}
OUTPUT_LINES = 30


class Progress:
    """Prints checks as they end: cases of one check that came out alike share a line."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._held: list[CheckResult] = []

    def add(self, result: CheckResult) -> None:
        if self._held and _alike(self._held[0]) != _alike(result):
            self.finish()
        self._held.append(result)

    def finish(self) -> None:
        """Print what is still held back."""
        if self._held:
            first, count = self._held[0], len(self._held)
            name = f"{_function(first)}  ({count} cases)" if count > 1 else first.id
            self._console.print(_progress_line(first, name), no_wrap=True, overflow="ellipsis")
            self._held = []


def _alike(result: CheckResult) -> tuple[str, str, str]:
    return _function(result), result.status, "" if result.status == "passed" else one_line(result)


def _function(result: CheckResult) -> str:
    return result.id.partition("[")[0]


def _progress_line(result: CheckResult, name: str) -> Text:
    colour = COLOURS[result.status]
    line = Text.assemble((GLYPHS[result.status], colour), " ", (f"{WORDS[result.status]:<16}", colour), name)
    cause = one_line(result)
    if result.status not in ("passed", "not_implemented") and cause:
        line.append(f"  {cause}", style="dim")
    return line


def print_report(console: Console, record: Record, *, next_step: str) -> None:
    """Everything after the progress lines."""
    console.print()
    console.print(_table(record))
    console.print(_score(record))
    first = first_failure(record)
    if first is not None:
        console.print(_failure(first, record))
    console.print(Text.assemble(("next: ", "bold"), next_step))


def print_header(console: Console, title: str, files: dict[str, str], place: str) -> None:
    console.print(Text(title, style="bold"))
    for name, digest in files.items():
        console.print(Text.assemble("graded file ", (place or name, "bold"), f"  sha256 {digest}"), soft_wrap=True)
    console.print()


def first_failure(record: Record) -> CheckResult | None:
    """The failure to look at first: a wrong result before a stub that is not written, visible before hidden."""
    order = {"grader_error": 0, "not_implemented": 3, "skipped": 4, "not_runnable": 5}
    open_checks = [check for check in record.checks if check.status != "passed"]
    return min(open_checks, key=lambda c: (order.get(c.status, 1), c.visibility != "visible"), default=None)


def _table(record: Record) -> Table:
    table = Table(box=None, pad_edge=False, show_footer=False)
    for heading, side in (("function", "left"), ("checks", "right"), ("points", "right"), ("", "left")):
        table.add_column(heading, justify=side, header_style="bold", no_wrap=heading != "")  # type: ignore[arg-type]
    for group in record.totals.by_stub:
        tally: dict[str, int] = {}
        for check in record.checks:
            if check.stub == group.name and check.status != "passed":
                tally[check.status] = tally.get(check.status, 0) + 1
        notes = Text(", ").join(
            Text(f"{GLYPHS[status]} {count} {WORDS[status]}", style=COLOURS[status]) for status, count in tally.items()
        )
        table.add_row(
            group.name,
            f"{group.passed}/{group.checks}",
            f"{number(group.points)}/{number(group.max)}",
            notes if tally else Text(f"{GLYPHS['passed']} all passed", style="green"),
        )
    return table


def number(value: float) -> str:
    """Points without needless zeros."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def score_line(record: Record) -> str:
    """The score in words that never promise more than was judged."""
    if record.score is None:
        return "no score: the grader itself failed, this is not a grade"
    points = f"{number(record.score)}/{number(record.max_score)}"
    if record.selection:
        return f"score of the selected checks ({record.selection}): {points}"
    if "hidden" in record.suites:
        return f"score: {points}"
    if all(check.status == "passed" for check in record.checks):
        return f"all public checks pass ({points} points); hidden checks run when your submission is graded"
    return f"score so far, public checks only: {points}; hidden checks run when your submission is graded"


def _score(record: Record) -> Text:
    return Text(f"\n{score_line(record)}", style="bold")


def _failure(result: CheckResult, record: Record) -> Group:
    colour = COLOURS[result.status]
    lines: list[Text] = [
        Text.assemble((f"{GLYPHS[result.status]} {WORDS[result.status]}", colour), f"  {result.stub}: {result.title}"),
        Text(explain(result.failure)),
    ]
    if result.case:
        lines.insert(1, Text(f"case class: {result.case}", style="dim"))
    known = [check.misconception for check in record.checks if check.stub == result.stub and check.misconception]
    if known:
        lines.append(Text.assemble(("it behaves like this: ", "bold"), result.misconception or known[0]))
    if result.hint:
        lines.append(Text.assemble(("hint: ", "bold"), result.hint))
    if result.output and result.output.text:
        lines.append(Text("printed:", style="dim"))
        lines.append(Text(_shortened(printable(result.output.text)), style="dim"))
    return Group(
        Rule(style="dim"),
        Text(f"first to look at: {result.id}", style="bold"),
        Padding(Group(*lines), (0, 2), expand=False),
        Rule(style="dim"),
    )


def _shortened(text: str) -> str:
    lines = text.splitlines()
    if len(lines) <= OUTPUT_LINES:
        return text.rstrip("\n")
    half = OUTPUT_LINES // 2
    return "\n".join([*lines[:half], f"... {len(lines) - 2 * half:,} lines ...", *lines[-half:]])
