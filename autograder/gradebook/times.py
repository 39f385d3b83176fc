"""Times as people and platforms write them, to aware times and back."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from autograder.errors import UsageError


def zone(name: str) -> ZoneInfo:
    """Raises UsageError for a name that is not in the time zone data."""
    try:
        return ZoneInfo(name)
    except (OSError, ValueError, KeyError):  # ZoneInfoNotFoundError is a KeyError; a folder's name an OSError
        raise UsageError(f"{name!r} is no time zone; write it as in Europe/Berlin or UTC") from None


def moment(text: str, where: ZoneInfo | None, place: str) -> datetime:
    """The time that `text` names, in UTC. Without an offset it is read in the zone `where`.

    A time that occurs twice, when the clocks go back, is the first of the two.

    Raises:
        UsageError: it is no date with a time, or it has no offset and there is no zone; `place` says where it stands.
    """
    try:
        time = datetime.fromisoformat(text.strip())
        is_dated = len(text.strip()) > len("2026-10-02")
        if not is_dated:
            raise ValueError
        if time.utcoffset() is None:
            if where is None:
                raise UsageError(
                    f"{place}: {text!r} has no offset and the assignment no zone yet; "
                    "say where its clock hangs with --zone, for example --zone Europe/Berlin"
                )
            time = time.replace(tzinfo=where)
        return time.astimezone(UTC)
    except (ValueError, OverflowError):
        raise UsageError(
            f"{place}: {text!r} is no date with a time; write 2026-10-02 23:59, or 2026-10-02T23:59+02:00"
        ) from None


def shown_time(time: datetime | None, where: ZoneInfo | None = None) -> str:
    """As a person reads it, with the zone's short name; seconds only where they are not 0."""
    if time is None:
        return ""
    local = time.astimezone(where or UTC)
    clock = "%H:%M:%S" if local.second else "%H:%M"
    return local.strftime(f"%Y-%m-%d {clock} %Z")
