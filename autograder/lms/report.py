"""The reconciliation on the terminal: counts, every student for whom something is not simply as before, notes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from autograder.lms.reconciliation import MEANING, STATUSES, Entry, Outcome, Reconciliation, shown

if TYPE_CHECKING:
    from rich.console import Console

_QUIET = {"unchanged"}


def print_reconciliation(console: Console, outcome: Outcome) -> None:
    """Plain text without a terminal; names cannot carry markup or control characters into it."""
    from rich.markup import escape

    report = outcome.reconciliation
    console.print(f"{report.target}: column {escape(shown(report.column))}", soft_wrap=True)
    written = outcome.data is not None
    entries = [e for status in STATUSES if status not in _QUIET for e in report.entries if e.status == status]
    if entries:
        _print_students(console, entries, written=written)
    _print_counts(console, report, written=written)
    for note in report.notes:
        console.print(f"note: {escape(shown(note))}", soft_wrap=True)
    for reason in report.blocked:
        console.print(f"nothing written: {escape(shown(reason))}", style="red", soft_wrap=True)


def _label(status: str, *, written: bool) -> str:
    return "to write" if status == "written" and not written else status.replace("_", " ")


def _print_students(console: Console, entries: list[Entry], *, written: bool) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("status", "student", "row", "line", "was", "becomes", "why"):
        table.add_column(title, overflow="fold")
    for entry in entries:
        cells = (
            _label(entry.status, written=written),
            entry.student,
            entry.row,
            str(entry.line or ""),
            entry.was,
            entry.becomes + (" (rounded)" if entry.rounded else ""),
            entry.reason,
        )
        table.add_row(*(Text(shown(cell)) for cell in cells))
    console.print(table)


def _print_counts(console: Console, report: Reconciliation, *, written: bool) -> None:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, show_header=False)
    for status, count in report.counts.items():
        table.add_row(_label(status, written=written), str(count), MEANING[status])
    console.print(table)
