"""A push from start to end: what would change, consent, sending, and what the LMS holds afterwards."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from autograder.errors import UsageError
from autograder.lms.numbers import spelled
from autograder.lms.options import Options
from autograder.lms.push.deliver import Delivery, Target, deliver
from autograder.lms.push.plan import Plan, make_plan
from autograder.lms.reconciliation import Entry, Outcome, shown
from autograder.lms.records import Collected
from autograder.lms.report import print_reconciliation

if TYPE_CHECKING:
    from rich.console import Console


@dataclass(frozen=True)
class Order:
    """A push as it was asked for. `agree` is asked before anything is sent; None: consent was given before."""

    target: str
    collected: Collected
    options: Options
    agree: Callable[[], bool] | None
    dry_run: bool = False


@dataclass(frozen=True)
class Pushed:
    """`plan` and `delivery` are None where nothing was sent."""

    ok: bool
    plan: Plan | None = None
    delivery: Delivery | None = None


def push(order: Order, target: Target, console: Console) -> Pushed:
    """`ok` is False when something was in doubt, refused by you, or not confirmed by the LMS."""
    plan = make_plan(order.target, target.read(), order.collected, order.options)
    print_reconciliation(console, Outcome(None, plan.report))
    if plan.report.blocked:
        return Pushed(False)
    if not plan.sends:
        say(console, "nothing to send: the LMS has all of it")
        return Pushed(True)
    if order.dry_run:
        say(console, f"dry run: nothing was sent; {_many(len(plan.sends))} would be")
        return Pushed(True)
    if order.agree is not None:
        if not order.agree():
            say(console, "nothing was sent")
            return Pushed(False)
        _require_same(plan, make_plan(order.target, target.read(), order.collected, order.options))
    delivery = deliver(target, plan)
    print_delivery(console, delivery)
    return Pushed(not delivery.failures, plan, delivery)


def _require_same(seen: Plan, now: Plan) -> None:
    """Consent was to what was shown."""
    if now.report.blocked or now.sends != seen.sends or _changes(now) != _changes(seen):
        raise UsageError("nothing was sent: the LMS changed while you looked; run the same command again")


def _changes(plan: Plan) -> list[Entry]:
    return [entry for entry in plan.report.entries if entry.status == "written"]


def print_delivery(console: Console, delivery: Delivery) -> None:
    from rich.table import Table
    from rich.text import Text

    if delivery.failures:
        table = Table(box=None, pad_edge=False, header_style="bold")
        for title in ("not confirmed", "sent", "LMS holds", "why"):
            table.add_column(title, overflow="fold")
        for one in delivery.failures:
            table.add_row(*(Text(shown(cell)) for cell in (one.student, one.sent, one.holds, one.why)))
        console.print(table)
    done, failed = len(delivery.confirmed), len(delivery.failures)
    say(console, f"sent and read back: {_many(done)}" + (f"; not confirmed: {failed}" if failed else ""))
    if failed:
        say(console, "run the same command again: what is there already is not sent twice")


def _many(count: int) -> str:
    return f"{count} student{'' if count == 1 else 's'}"


def say(console: Console, text: str) -> None:
    console.print(shown(text), markup=False, soft_wrap=True)


def digest(plan: Plan) -> str:
    """SHA-256 of what went out, in the order of the roster, for the gradebook's log."""
    said = [(s.key, s.value if s.value is None or s.value == "excused" else spelled(s.value), s.comment)
            for s in plan.sends]  # fmt: skip
    return hashlib.sha256(msgspec.json.encode(said)).hexdigest()
