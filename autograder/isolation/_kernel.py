"""The few Linux calls that Python does not offer, through the C library: mounts, namespaces, prctl, capabilities.

Only two calls go by number (`mount_setattr` here, Landlock in its own module): they are younger than the unification
of system-call numbers, hence equal on every architecture. Sources: mount(2), mount_setattr(2), pivot_root(2),
prctl(2), capabilities(7).
"""

from __future__ import annotations

import ctypes
import os
import struct

CLONE_NEWNS = 0x00020000
CLONE_NEWCGROUP = 0x02000000
CLONE_NEWUTS = 0x04000000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000

MS_RDONLY = 1
MS_NOSUID = 2
MS_NODEV = 4
MS_NOEXEC = 8
MS_REMOUNT = 32
MS_BIND = 4096
MS_REC = 16384
MS_PRIVATE = 1 << 18

_MNT_DETACH = 2
_AT_FDCWD = -100
_AT_RECURSIVE = 0x8000
_MOUNT_SETATTR = 442

_PR_SET_PDEATHSIG = 1
_PR_CAPBSET_READ = 23
_PR_CAPBSET_DROP = 24
_PR_SET_SECCOMP = 22
_PR_SET_CHILD_SUBREAPER = 36
_PR_SET_NO_NEW_PRIVS = 38
_PR_CAP_AMBIENT = 47
_PR_CAP_AMBIENT_CLEAR_ALL = 4
_SECCOMP_MODE_FILTER = 2
_CAPABILITY_VERSION_3 = 0x20080522

_libc = ctypes.CDLL(None, use_errno=True)


def checked(result: int, what: str) -> int:
    """The result of a C call, or OSError naming the call."""
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def syscall(number: int, *arguments: int | bytes | ctypes.Array[ctypes.c_char] | None) -> int:
    """A raw system call; integers travel as C longs."""
    _libc.syscall.restype = ctypes.c_long
    words = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    return int(_libc.syscall(ctypes.c_long(number), *words))


def unshare(flags: int) -> None:
    """Leave the namespaces named by flags for new ones."""
    checked(_libc.unshare(ctypes.c_int(flags)), "unshare")


def mount(source: str | None, target: str, kind: str | None, flags: int, data: str | None = None) -> None:
    """mount(2); all names are file-system encoded."""
    words = [None if w is None else os.fsencode(w) for w in (source, target, kind, data)]
    result = _libc.mount(words[0], words[1], words[2], ctypes.c_ulong(flags), words[3])
    checked(result, f"mount {kind or source or 'flags'} on {target}")


def restrict_mount(target: str, attributes: int) -> None:
    """Add MS_RDONLY, MS_NOSUID, MS_NODEV to a mount and all below it, leaving flags that are locked as they are."""
    # The MOUNT_ATTR_* bits of these three equal the MS_* bits.
    request = ctypes.create_string_buffer(struct.pack("=QQQQ", attributes, 0, 0, 0), 32)
    result = syscall(_MOUNT_SETATTR, _AT_FDCWD, os.fsencode(target), _AT_RECURSIVE, request, 32)
    checked(result, f"mount_setattr on {target} (Linux 5.12 or newer)")


def pivot_into(directory: str) -> None:
    """Make a mounted directory the root and let go of the old one."""
    os.chdir(directory)
    # Both arguments "." stacks the old root on the new one, so that no place for it is needed: pivot_root(2), NOTES.
    checked(_libc.pivot_root(b".", b"."), "pivot_root")
    checked(_libc.umount2(b".", ctypes.c_int(_MNT_DETACH)), "umount of the old root")
    os.chdir("/")


def prctl(option: int, value: int = 0, extra: int = 0) -> int:
    """prctl(2) with up to two arguments; -1 on failure."""
    words = [ctypes.c_ulong(w) for w in (value, extra, 0, 0)]
    return int(_libc.prctl(ctypes.c_int(option), *words))


def die_with_parent(signal: int) -> None:
    """Receive a signal when the parent ends. Any later change of user or capabilities clears it."""
    checked(prctl(_PR_SET_PDEATHSIG, signal), "prctl(PR_SET_PDEATHSIG)")


def adopt_orphans() -> None:
    """Become the parent of descendants whose own parent ended."""
    checked(prctl(_PR_SET_CHILD_SUBREAPER, 1), "prctl(PR_SET_CHILD_SUBREAPER)")


def no_new_privileges() -> None:
    """Never gain rights again, also not through exec; Landlock and seccomp ask for it."""
    checked(prctl(_PR_SET_NO_NEW_PRIVS, 1), "prctl(PR_SET_NO_NEW_PRIVS)")


def drop_bounding_set() -> None:
    """Remove every capability from the bounding and ambient sets, as far as this process may."""
    prctl(_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL)
    for capability in range(64):
        if prctl(_PR_CAPBSET_READ, capability) == 1:
            prctl(_PR_CAPBSET_DROP, capability)


def drop_capabilities() -> None:
    """Give up all effective, permitted and inheritable capabilities."""
    header = ctypes.create_string_buffer(struct.pack("=Ii", _CAPABILITY_VERSION_3, 0), 8)
    checked(_libc.capset(header, ctypes.create_string_buffer(24)), "capset")


def load_seccomp(program: bytes) -> None:
    """Install a BPF program (8 bytes per instruction) as the system-call filter of this thread."""
    code = ctypes.create_string_buffer(program, len(program))
    # struct sock_fprog: a 16-bit count, then (aligned) a pointer.
    fprog = ctypes.create_string_buffer(struct.pack("@HP", len(program) // 8, ctypes.addressof(code)))
    checked(prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.addressof(fprog)), "prctl(PR_SET_SECCOMP)")
