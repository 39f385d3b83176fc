"""Landlock: the kernel refuses every file outside an allow-list, even to root. Source: landlock(7).

A ruleset is built while its paths are still visible and enforced later; it binds the calling thread and whatever that
thread starts, so it is applied right after fork while there is one thread. It covers neither stat nor chmod nor UDP.
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct
from collections.abc import Iterable

from autograder.isolation import _kernel

_CREATE_RULESET = 444
_ADD_RULE = 445
_RESTRICT_SELF = 446
_VERSION = 1
_PATH_BENEATH = 1

_WRITE_FILE = 1 << 1
_READ_FILE = 1 << 2
_READ_DIR = 1 << 3
_REMOVE_DIR = 1 << 4
_REMOVE_FILE = 1 << 5
_MAKE_DIR = 1 << 7
_MAKE_REG = 1 << 8
_MAKE_SYM = 1 << 12
_REFER = 1 << 13
_TRUNCATE = 1 << 14

_READ = _READ_FILE | _READ_DIR
_SCRATCH = _READ | _WRITE_FILE | _REMOVE_DIR | _REMOVE_FILE | _MAKE_DIR | _MAKE_REG | _MAKE_SYM | _REFER | _TRUNCATE
_FILE_RIGHTS = _WRITE_FILE | _READ_FILE | _TRUNCATE


def abi() -> int:
    """The kernel's Landlock version, 0 where there is none."""
    return max(0, _kernel.syscall(_CREATE_RULESET, 0, 0, _VERSION))


def _handled_files(version: int) -> int:
    # Rights known per version: 13 at first, REFER in 2, TRUNCATE in 3, IOCTL_DEV in 5.
    count = 13 if version < 2 else 14 if version < 3 else 15 if version < 5 else 16
    return (1 << count) - 1


def prepare(readable: Iterable[str], scratch: str | None, writable_devices: Iterable[str] = ()) -> int:
    """Build a ruleset and return its descriptor: read below `readable`, everything but exec and nodes in `scratch`."""
    version = abi()
    if version < 1:
        raise OSError(errno.ENOSYS, "Landlock is not available in this kernel")
    files = _handled_files(version)
    network = 3 if version >= 4 else 0  # bind and connect of TCP
    scope = 3 if version >= 6 else 0  # abstract sockets and signals outside
    size = 8 if version < 4 else 16 if version < 6 else 24
    attributes = ctypes.create_string_buffer(struct.pack("=QQQ", files, network, scope), 24)
    ruleset = _kernel.checked(_kernel.syscall(_CREATE_RULESET, attributes, size, 0), "landlock_create_ruleset")
    for path in readable:
        _allow(ruleset, path, _READ)
    for path in writable_devices:
        _allow(ruleset, path, _READ_FILE | _WRITE_FILE)
    if scratch is not None:
        _allow(ruleset, scratch, _SCRATCH & files)
    return ruleset


def _allow(ruleset: int, path: str, rights: int) -> None:
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    try:
        rights = rights if os.path.isdir(path) else rights & _FILE_RIGHTS
        rule = ctypes.create_string_buffer(struct.pack("=Qi", rights, place), 12)
        _kernel.checked(_kernel.syscall(_ADD_RULE, ruleset, _PATH_BENEATH, rule, 0), f"landlock_add_rule for {path}")
    finally:
        os.close(place)


def enforce(ruleset: int) -> None:
    """Bind this thread to the ruleset for good; needs no_new_privileges()."""
    _kernel.checked(_kernel.syscall(_RESTRICT_SELF, ruleset, 0), "landlock_restrict_self")
    os.close(ruleset)
