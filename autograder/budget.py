"""What is graded and what it may use: the source, a check's budget, and the output so far."""

from __future__ import annotations

from dataclasses import dataclass, field

from autograder.isolation import Limits

KEEP = 32 << 10
"""Bytes kept of the beginning and of the end of what a check printed."""


@dataclass(frozen=True)
class Source:
    """What is graded: the module's bytes under the name the assignment gives it, and the trusted driver."""

    module: str
    data: bytes
    driver: bytes | None = None

    def line(self, number: int) -> str:
        lines = self.data.decode("utf-8", "replace").splitlines()
        return lines[number - 1].strip()[:200] if 0 < number <= len(lines) else ""


@dataclass
class Budget:
    """What one check may use; shared by every process it opens."""

    seconds: float
    output_bytes: int
    limits: Limits = field(default_factory=Limits)
    spent: float = 0.0
    importing: float = 0.0
    """Seconds of imports, which are not charged to the check that happens to come first, only to all together."""
    doing: str = ""

    @property
    def left(self) -> float:
        return self.seconds - self.spent


class Output:
    """What was printed since `clear`: its size, its first and last KEEP bytes."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        self.size, self.head, self.tail = 0, bytearray(), bytearray()

    def add(self, data: bytes) -> None:
        self.size += len(data)
        room = KEEP - len(self.head)
        self.head += data[: max(room, 0)]
        self.tail += data[max(room, 0) :]
        if len(self.tail) > 2 * KEEP:
            del self.tail[:-KEEP]

    @property
    def cut(self) -> bool:
        return self.size > 2 * KEEP

    def text(self) -> str:
        head, tail = (bytes(part).decode("utf-8", "replace") for part in (self.head, self.tail[-KEEP:]))
        gap = f"\n... {self.size - 2 * KEEP:,} bytes left out ...\n" if self.cut else ""
        return head + gap + tail
