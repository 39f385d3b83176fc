"""What a child uses and may use: readings from /proc and the resource limits of setrlimit(2)."""

from __future__ import annotations

import os
import resource
import sys

import msgspec

from autograder.isolation._types import MIB, Limits

# Address space that is reserved, not used: thread stacks and the C library's arenas (MALLOC_ARENA_MAX=4).
_RESERVED = 1024 * MIB
_STACK = 8 * MIB
# Threads above the limit that the kernel still grants, so that the monitor can see and name the excess.
_THREAD_SLACK = 16


class Usage(msgspec.Struct, frozen=True):
    """One reading of /proc/PID/status: private resident bytes, address space, private writable bytes, threads."""

    resident: int
    address_space: int
    data: int
    threads: int


def open_proc() -> int | None:
    """A descriptor of /proc that outlives a change of root; None where there is none."""
    if sys.platform != "linux":
        return None
    try:
        return os.open("/proc", os.O_PATH | os.O_CLOEXEC | os.O_DIRECTORY)
    except OSError:
        return None


def usage(proc: int | None, pid: int | str) -> Usage | None:
    """What process `pid` ("self") uses now, or None when it is gone or cannot be read."""
    if proc is None:
        return None
    try:
        source = os.open(f"{pid}/status", os.O_RDONLY | os.O_CLOEXEC, dir_fd=proc)
    except OSError:
        return None
    try:
        text = os.read(source, 1 << 14).decode("ascii", "replace")
    except OSError:
        return None
    finally:
        os.close(source)
    fields = {key: int(rest.split()[0]) for key, _, rest in map(_split, text.splitlines()) if key in _WANTED}
    if "VmSize" not in fields:
        return None  # a zombie has no memory any more
    # Pages of libraries (RssFile) are shared with every other process and not counted.
    resident = (fields.get("RssAnon", 0) + fields.get("RssShmem", 0)) * 1024
    return Usage(resident, fields["VmSize"] * 1024, fields["VmData"] * 1024, fields["Threads"])


_WANTED = frozenset(("RssAnon", "RssShmem", "VmSize", "VmData", "Threads"))


def _split(line: str) -> tuple[str, str, str]:
    return line.partition(":")


def threads_of_host(proc: int | None) -> int:
    """Number of threads on this machine, an upper bound of what one user has running."""
    if proc is None:
        return 1024
    source = os.open("loadavg", os.O_RDONLY | os.O_CLOEXEC, dir_fd=proc)
    try:
        return int(os.read(source, 256).split()[3].split(b"/")[1])
    finally:
        os.close(source)


def apply(limits: Limits, base: Usage | None, threads_running: int) -> None:
    """Set the limits of this process; memory counts from `base`, threads from those its user already runs."""
    fixed = {
        "CORE": 0,
        "FSIZE": min(limits.file_bytes, limits.disk_bytes),
        "NOFILE": limits.open_files,
        "NPROC": threads_running + limits.threads + _THREAD_SLACK,
        "MEMLOCK": 0,
        "MSGQUEUE": 0,
        "SIGPENDING": 64,
    }
    if sys.platform == "linux":
        fixed["STACK"] = _STACK
    if base is not None:
        fixed["DATA"] = base.data + limits.memory_bytes
        fixed["AS"] = base.address_space + limits.memory_bytes + _RESERVED
    for name, value in fixed.items():
        _lower(name, value, value)
    # The soft limit sends SIGXCPU, which a child may catch or, as process 1, never sees; the hard one kills.
    _lower("CPU", limits.cpu_seconds, limits.cpu_seconds + 1)


def _lower(name: str, soft: int, hard: int) -> None:
    kind = getattr(resource, f"RLIMIT_{name}", None)
    if kind is None:
        return
    ceiling = resource.getrlimit(kind)[1]
    if ceiling != resource.RLIM_INFINITY:
        soft, hard = min(soft, ceiling), min(hard, ceiling)
    resource.setrlimit(kind, (soft, hard))
