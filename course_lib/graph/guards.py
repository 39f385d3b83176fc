"""What a compiled graph assumes of its inputs: printable, checked at every run.

GuardError
"""

from __future__ import annotations

import operator
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from course_lib.graph.shapes import SYMBOL_MINIMUM, Shape, Size, minimum, size_text, symbols, value

_RELATIONS = {"==": operator.eq, ">=": operator.ge, "<": operator.lt}


class GuardError(RuntimeError):
    """An executable was given what it was not compiled for: `dimension` has `value` and breaks `guard`.

    Everything is read off the message, because an error that comes from another process consists of nothing else.
    """

    def __init__(self, message: str) -> None:
        super().__init__(message)
        found = _BROKEN.fullmatch(message)
        self.dimension: str | None = found["dimension"] if found else None
        self.value: int | None = int(found["value"]) if found else None
        self.guard: str | None = found["guard"] if found else None


_BROKEN = re.compile(
    r"(?P<dimension>.+) is (?P<value>-?\d+), but the graph was compiled under the guard "
    r"(?P<guard>.+?)( \(here -?\d+\))?"
)


@dataclass(frozen=True)
class Guard:
    """`subject relation bound`, for example `k_cache.shape[1] == 128`, `S >= 2`, `P < S`."""

    subject: Size
    relation: str
    bound: Size

    def __str__(self) -> str:
        return f"{size_text(self.subject)} {self.relation} {size_text(self.bound)}"

    def check(self, found: Mapping[str, int], bind: Mapping[str, int]) -> None:
        """Raise GuardError unless the guard holds. `found` maps subjects (dimensions and symbols) to their values."""
        got = value(self.subject, found)
        wanted = value(self.bound, bind)
        if _RELATIONS[self.relation](got, wanted):
            return
        where = "" if isinstance(self.bound, int) else f" (here {wanted})"
        subject = size_text(self.subject)
        raise GuardError(f"{subject} is {got}, but the graph was compiled under the guard {self}{where}")


def input_guards(name: str, shape: Shape) -> list[Guard]:
    """The guards that the shape of one input puts on what is passed for it."""
    rank = Guard(f"{name}.ndim", "==", len(shape))
    sizes = [Guard(f"{name}.shape[{axis}]", "==", size) for axis, size in enumerate(shape)]
    lowest = [
        Guard(symbol, ">=", SYMBOL_MINIMUM)
        for symbol in sorted(set().union(*(symbols(size) for size in shape)) if shape else ())
    ]
    return [rank, *sizes, *lowest]


def position_guards(position: Size, length: Size) -> list[Guard]:
    """0 <= position < length, without what is already proven; `position` is an int or one symbol."""
    if isinstance(position, int):
        lowest = minimum(length)
        proven = lowest is not None and position < lowest
        return [] if proven else [Guard(length, ">=", position + 1)]
    return [Guard(position, ">=", 0), Guard(position, "<", length)]


def unique(guards: Sequence[Guard]) -> tuple[Guard, ...]:
    """`guards` without repetitions, ranks first, then in the order of their discovery."""
    ordered = list(dict.fromkeys(guards))
    return tuple(sorted(ordered, key=lambda guard: not size_text(guard.subject).endswith(".ndim")))


def check_guards(
    guards: Sequence[Guard],
    inputs: Mapping[str, np.ndarray[tuple[int, ...], np.dtype[np.float64]]],
    bind: Mapping[str, int],
) -> None:
    """Check every guard against the arrays and the bound symbols; the first that does not hold raises GuardError."""
    found = dict(bind)
    for name, array in inputs.items():
        found[f"{name}.ndim"] = array.ndim
        found.update((f"{name}.shape[{axis}]", size) for axis, size in enumerate(array.shape))
    for guard in guards:
        guard.check(found, bind)
