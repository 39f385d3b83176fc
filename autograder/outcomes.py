"""How what happened in a submission's process is told: an exception, a limit, an end."""

from __future__ import annotations

import errno
import re

from autograder import wire
from autograder.budget import Budget, Source
from autograder.diagnosis import LIBRARIES, what_it_is
from autograder.errors import Forbidden, NotWritten, Outcome, OverLimit, SubmissionDied, SubmissionRaised
from autograder.isolation import Exit
from autograder.record import Frame

NOT_WRITTEN = "is not written yet"
MAX_NOT_WRITTEN = 120
MAX_MESSAGE = 4000
MAX_FRAMES = 12
MAX_VIOLATION = 120
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]{4,}")
"""Of an object, in its default repr: another one in every run, and of no use to anyone."""
FORBIDDEN = "graded code computes: it starts no programs, opens no connections and writes only where it is started"


def of_exception(raised: wire.Raised, source: Source, budget: Budget) -> Outcome:
    """The submission's code raised."""
    frames = [
        Frame(where.line, where.function[: wire.MAX_NAME], source.line(where.line))
        for where in raised.frames[-MAX_FRAMES:]
    ]
    if raised.syntax_line is not None and "SyntaxError" in raised.bases:
        frames = [*frames, Frame(raised.syntax_line, "<module>", source.line(raised.syntax_line))]
    if "NotImplementedError" in raised.bases and (not raised.message or raised.message.endswith(NOT_WRITTEN)):
        return NotWritten(raised.message[:MAX_NOT_WRITTEN] or "not written yet")
    limit = _limit_behind(raised)
    if limit is not None:
        return OverLimit(limit, *_limit_value(limit, budget), budget.doing)
    kind = Forbidden if "PermissionError" in raised.bases else SubmissionRaised
    message = _ADDRESS.sub(" at 0x...", raised.message[:MAX_MESSAGE])
    note = FORBIDDEN if kind is Forbidden else _behind(raised, source)
    return kind(raised.type[: wire.MAX_NAME], raised.bases, f"{message} ({note})" if note else message, frames)


def _behind(raised: wire.Raised, source: Source) -> str | None:
    """The likely cause of an error that says little about a file that is no module, or of a missing library."""
    if "ModuleNotFoundError" in raised.bases:
        return LIBRARIES
    unread = not raised.frames and not {"AttributeError", "UnicodeDecodeError"}.isdisjoint(raised.bases)
    return what_it_is(source.data) if unread or not {"SyntaxError", "NameError"}.isdisjoint(raised.bases) else None


def of_end(exit: Exit | None, budget: Budget) -> Outcome:
    """The process ended where an answer was due."""
    doing = budget.doing
    if exit is None:
        return SubmissionDied(f"the process closed its connection during {doing}")
    if exit.limit is not None:
        value, unit = _limit_value(exit.limit, budget)
        return OverLimit(exit.limit, value, unit, doing)
    if exit.signal is not None:
        return SubmissionDied(f"the process was killed by signal {exit.signal} during {doing}")
    return SubmissionDied(f"the process ended with exit code {exit.code} during {doing}, without an answer")


def of_violation(violation: Exception, budget: Budget) -> Outcome:
    """The process sent what an unmodified harness cannot send."""
    return SubmissionDied(
        f"the process sent what is no answer ({str(violation)[:MAX_VIOLATION]}) during {budget.doing}"
    )


def _limit_behind(raised: wire.Raised) -> str | None:
    """The limit that showed itself as an ordinary exception in the submission's process."""
    if "MemoryError" in raised.bases or "can't allocate memory" in raised.message:
        return "memory"
    if "OSError" in raised.bases:
        for number, limit in ((errno.ENOSPC, "disk"), (errno.EFBIG, "file"), (errno.EMFILE, "open files")):
            if raised.message.startswith(f"[Errno {number}]"):
                return limit
    return None


def _limit_value(limit: str, budget: Budget) -> tuple[float, str]:
    limits = budget.limits
    return {
        "wall": (limits.wall_seconds, "s"),
        "cpu": (float(limits.cpu_seconds), "s"),
        "memory": (limits.memory_bytes / (1 << 20), "MiB"),
        "disk": (limits.disk_bytes / (1 << 20), "MiB"),
        "file": (limits.file_bytes / (1 << 20), "MiB"),
        "open files": (float(limits.open_files), ""),
        "threads": (float(limits.threads), ""),
    }.get(limit, (0.0, ""))
