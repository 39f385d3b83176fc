"""The confined process: drops into its layers one after the other, then calls the entry. The order matters."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import socket
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterable
from typing import NoReturn, TextIO

import msgspec

from autograder.isolation import _host, _kernel, _landlock, _limits, _seccomp
from autograder.isolation._types import Isolation, Limits

Entry = Callable[[socket.socket, str], object]
READY = b"+"


class Cell(msgspec.Struct, frozen=True):
    """How children of this warm parent are confined; equal for all of them.

    `first_user` is the user id of slot 0, or 0 when children keep the user they have. `scratch` holds their scratch
    directories in modes without a private file system.
    """

    mode: Isolation
    scratch: str
    landlock: bool
    seccomp: bool
    first_user: int
    needs_user: bool
    readable: list[str]
    devices: list[str]


class Job(msgspec.Struct, frozen=True):
    """One child: its limits, its scratch directory and its descriptors."""

    slot: int
    limits: Limits
    scratch: str
    channel: int
    output: int
    setup: int


def run(cell: Cell, job: Job, entry: Entry, proc: int | None) -> NoReturn:
    """Confine this freshly forked process and run the entry; never returns."""
    try:
        _confine(cell, job, proc)
        os.write(job.setup, READY)  # fails, and ends this process, when the monitor is gone
        os.close(job.setup)
    except BaseException as problem:
        with contextlib.suppress(OSError):
            os.write(job.setup, f"{type(problem).__name__}: {problem}".encode("utf-8", "replace")[:4000])
        os._exit(1)
    status = 1
    try:
        with socket.socket(fileno=job.channel) as channel:
            entry(channel, job.scratch)
        status = 0
    except BaseException:
        traceback.print_exc()
    _flush()
    os._exit(status)


def _confine(cell: Cell, job: Job, proc: int | None) -> None:
    os.setsid()
    if sys.platform == "linux":
        _kernel.die_with_parent(signal.SIGKILL)
    base = _limits.usage(proc, "self")
    running = _threads_running(cell, proc)
    _standard_streams(job.output)
    _close_others((job.channel, job.setup))
    os.chdir(job.scratch)
    os.umask(0o077)
    # Built while the paths can still be opened, enforced below.
    ruleset = _landlock.prepare(cell.readable, job.scratch, cell.devices) if cell.landlock else None
    if cell.mode is not Isolation.PROCESS:
        _kernel.drop_bounding_set()  # before the change of user, which takes the right to do so
    if cell.first_user:
        _host.become(cell.first_user + job.slot)
        _kernel.die_with_parent(signal.SIGKILL)  # cleared by the change of user
    _limits.apply(job.limits, base, running)
    _personal_state(job.scratch)
    if cell.mode is not Isolation.PROCESS:
        _kernel.drop_capabilities()
        _kernel.no_new_privileges()
    if ruleset is not None:
        _landlock.enforce(ruleset)
    if cell.seccomp:
        _seccomp.enforce()  # last: it forbids everything above


def _threads_running(cell: Cell, proc: int | None) -> int:
    """Threads that RLIMIT_NPROC counts besides ours: those of the same user in the same user namespace."""
    if cell.first_user:
        return 0
    if cell.needs_user:
        return 1  # the monitor
    return _limits.threads_of_host(proc)


def _standard_streams(output: int) -> None:
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(output, 1)
    os.dup2(output, 2)
    # Line by line: what was printed before a kill is not lost, and the two streams keep their order.
    # New objects: those of the parent remember whether their file could seek.
    sys.stdout, sys.stderr = _text_stream(1), _text_stream(2)


def _text_stream(descriptor: int) -> TextIO:
    return open(descriptor, "w", buffering=1, encoding="utf-8", errors="backslashreplace", closefd=False)


def _close_others(kept: Iterable[int]) -> None:
    low = 3
    for keep in sorted(kept):
        os.closerange(low, keep)
        low = keep + 1
    os.closerange(low, 1 << 16)


def _personal_state(scratch: str) -> None:
    os.environ.clear()
    os.environ.update(
        {
            "HOME": scratch,
            "TMPDIR": scratch,
            "PATH": "/usr/bin:/bin",
            "LANG": "C.UTF-8",
            "USER": "submission",
            "LOGNAME": "submission",
            "OMP_NUM_THREADS": "1",
        }
    )
    tempfile.tempdir = scratch  # the parent's value would be inherited
    sys.argv = ["submission"]
    random.seed(0)  # fork reseeds it from the system; children shall behave alike


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError, AttributeError):
            continue  # closed or replaced by the submission
