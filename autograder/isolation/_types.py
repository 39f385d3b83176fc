"""The plain records of the isolation package: what goes in, what comes out, what can go wrong."""

from __future__ import annotations

from enum import StrEnum

import msgspec

MIB = 1 << 20


class IsolationError(Exception):
    """Isolation could not be set up as asked; the text says what is missing, where, and what repairs it."""


class Isolation(StrEnum):
    """How a submission is confined; AUTO takes the strongest mode of the host."""

    AUTO = "auto"
    NAMESPACES = "namespaces"
    LANDLOCK = "landlock"
    PROCESS = "process"


class Limits(msgspec.Struct, frozen=True):
    """What one child may use during its whole life.

    Memory counts from the state of the warm parent: the libraries it shares with every child are free.
    """

    wall_seconds: float = 600.0
    cpu_seconds: int = 600
    memory_bytes: int = 2048 * MIB
    threads: int = 64
    file_bytes: int = 256 * MIB
    disk_bytes: int = 256 * MIB
    disk_files: int = 4096
    open_files: int = 128


class Layer(msgspec.Struct, frozen=True):
    """One wall of the confinement: whether it stands here, what it is for, and what is lost without it."""

    name: str
    active: bool
    detail: str
    purpose: str = ""
    lost: str = ""


class Exit(msgspec.Struct, frozen=True):
    """How a child ended.

    `limit` is "wall", "cpu", "memory", "threads" or "disk" when that limit ended it, with its value in
    `limit_value` (seconds, bytes or a count). `files` holds the regular files of the scratch directory by relative
    path when `keep_files` was asked for; `dropped_files` counts those that were not kept (size cap, depth, unreadable).
    """

    code: int | None = None
    signal: int | None = None
    limit: str | None = None
    limit_value: float | None = None
    cpu_seconds: float = 0.0
    max_rss_bytes: int = 0
    files: dict[str, bytes] = {}
    dropped_files: int = 0
