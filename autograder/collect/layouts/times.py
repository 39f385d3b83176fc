"""Points in time as platforms write them, to ISO 8601 and to something that compares."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

Order = tuple[int, ...]

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_BRIGHTSPACE = re.compile(
    r"(?P<month>[A-Za-z]{3})[a-z]*\.? (?P<day>\d{1,2}), (?P<year>\d{4}) (?P<time>\d{3,4}) ?(?P<half>[AP]M)?"
)
_STAMP = re.compile(
    r"(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?)\s*(Z|UTC|[+-]\d\d:?\d\d|[A-Za-z]+(?:/[A-Za-z_+-]+)*)?"
)


def order_of(time: datetime) -> Order:
    """Comparable with others of the same platform; times with an offset are taken to UTC."""
    time = time.astimezone(UTC) if time.tzinfo else time
    return (time.year, time.month, time.day, time.hour, time.minute, time.second, time.microsecond)


def blackboard_time(text: str) -> datetime | None:
    """`2026-01-31-23-59-01`, in the server's own time."""
    try:
        return datetime(*map(int, text.split("-")))  # type: ignore[arg-type]
    except (ValueError, TypeError):
        return None


def brightspace_time(text: str) -> datetime | None:
    """`Jan 31, 2026 1159 PM`: the colon is gone because a folder may not have one."""
    match = _BRIGHTSPACE.fullmatch(text.strip())
    if match is None or match["month"].casefold() not in _MONTHS:
        return None
    hour, minute = int(match["time"][:-2]), int(match["time"][-2:])
    if match["half"]:
        hour = hour % 12 + (12 if match["half"] == "PM" else 0)
    try:
        return datetime(
            int(match["year"]), _MONTHS.index(match["month"].casefold()) + 1, int(match["day"]), hour, minute
        )
    except ValueError:
        return None


def stamp_time(text: str) -> datetime | None:
    """`2026-01-31 23:59:01.25 Europe/Berlin`, with `Z`, `UTC`, an offset, the name of a zone, or nothing at the end."""
    match = _STAMP.fullmatch(text.strip().strip("'\""))
    if match is None:
        return None
    date, clock, zone = match.groups()
    clock, dot, fraction = clock.partition(".")
    try:
        time = datetime.fromisoformat(f"{date}T{clock}{dot}{fraction[:6].ljust(6, '0') if dot else ''}")
        if zone in (None, ""):
            return time
        if zone in ("Z", "UTC"):
            return time.replace(tzinfo=UTC)
        if zone[0] in "+-":
            return datetime.fromisoformat(time.isoformat() + zone[:3] + ":" + zone[-2:])
        return time.replace(tzinfo=ZoneInfo(zone))
    except (ValueError, ZoneInfoNotFoundError, OSError):
        return None
