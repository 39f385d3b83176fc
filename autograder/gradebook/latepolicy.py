"""The late policy: how late a hand-in is and what that costs. The only place where a penalty is computed.

Lateness is counted in units that have begun: hours as they elapse, days by the clock on the wall of the course's zone,
so that a day late ends at the same time of day also when the clocks change in between.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Context, Decimal, localcontext
from typing import Literal
from zoneinfo import ZoneInfo

Unit = Literal["day", "hour"]
Base = Literal["max", "score"]
Counting = Literal["last", "best", "last_on_time"]

_UTC = ZoneInfo("UTC")
_HOUR = timedelta(hours=1)
_EXACT = Context(prec=80)


@dataclass(frozen=True)
class LatePolicy:
    """What an assignment's staff agreed on. Percentages are 0 to 100."""

    due: datetime | None = None
    """Aware; None: nothing is ever late."""
    zone: ZoneInfo = _UTC
    per: Unit = "day"
    percent: Decimal = Decimal(0)
    """Deducted per unit, of the maximum or of the score."""
    of: Base = "max"
    grace: timedelta = timedelta(0)
    """Up to here a hand-in is on time; after it, lateness counts from the due time."""
    cap: Decimal = Decimal(100)
    """Percentage beyond which nothing more is deducted."""
    floor: Decimal = Decimal(0)
    """Percentage of the maximum below which lateness alone never brings a grade."""
    counts: Counting = "last"


def due_for(policy: LatePolicy, extension: datetime | None) -> datetime | None:
    """The student's own due time: an extension never makes it earlier."""
    if policy.due is None or extension is None:
        return policy.due
    return max(policy.due, extension, key=lambda time: time.astimezone(UTC))


def units_late(policy: LatePolicy, submitted: datetime, extension: datetime | None = None) -> int:
    """Units that had begun when it was handed in; 0 is on time. Both times must be aware."""
    if submitted.utcoffset() is None:
        raise ValueError("the time of a hand-in must have an offset")
    own = due_for(policy, extension)
    if own is None:
        return 0
    due, at = own.astimezone(UTC), submitted.astimezone(UTC)
    if at <= due + policy.grace:
        return 0
    if policy.per == "hour":
        return -((due - at) // _HOUR)
    days = max(0, (at - due).days - 1)  # the clocks move by less than a day
    while _after_days(policy, due, days) < at:
        days += 1
    return days


def _after_days(policy: LatePolicy, due: datetime, days: int) -> datetime:
    """The same time of day that many days later, in UTC; the later one where the clocks make it two."""
    if days == 0:
        return due
    wall = due.astimezone(policy.zone).replace(tzinfo=None) + timedelta(days=days)
    return max(wall.replace(tzinfo=policy.zone, fold=fold).astimezone(UTC) for fold in (0, 1))


def penalty(policy: LatePolicy, score: Decimal, maximum: Decimal, units: int) -> Decimal:
    """Points to deduct: at least 0, at most the score, never less for later."""
    with localcontext(_EXACT):
        base = maximum if policy.of == "max" else score
        wanted = base * min(policy.percent * units, policy.cap) / 100
        kept = min(score, maximum * policy.floor / 100)
        return max(Decimal(0), min(wanted, score - kept))
