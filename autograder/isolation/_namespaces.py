"""A minimal read-only file system in private namespaces: what is not bound in it does not exist for a child.

Sources: namespaces(7), user_namespaces(7), mount_namespaces(7), pivot_root(2).
"""

from __future__ import annotations

import os
from collections.abc import Iterable

from autograder.isolation import _kernel
from autograder.isolation._kernel import MS_BIND, MS_NODEV, MS_NOEXEC, MS_NOSUID, MS_PRIVATE, MS_RDONLY, MS_REC
from autograder.isolation._places import DEVICES, Plan
from autograder.isolation._types import IsolationError

# Not /tmp: a file system mounted there would hide a virtual environment that lives in it.
SCRATCH = "/scratch"

_PARENT = (
    _kernel.CLONE_NEWNS | _kernel.CLONE_NEWNET | _kernel.CLONE_NEWIPC | _kernel.CLONE_NEWUTS | _kernel.CLONE_NEWCGROUP
)
_CHILD = _kernel.CLONE_NEWNS | _kernel.CLONE_NEWPID | _kernel.CLONE_NEWIPC
_MOUNT_POINTS = ("/mnt", "/media", "/srv", "/opt", "/run", "/home", "/var", "/tmp")


def leave_host(proc: int, needs_user: bool) -> None:
    """Warm parent, while single-threaded: new mount, network, IPC, host-name and cgroup namespaces.

    An ordinary user (`needs_user`) enters a user namespace first. `proc` is a descriptor of /proc.
    """
    _enter(_PARENT, proc, needs_user)
    _kernel.mount(None, "/", None, MS_REC | MS_PRIVATE)


def leave_siblings(proc: int, needs_user: bool) -> None:
    """Monitor, before it forks the child: new process, IPC and mount namespaces.

    A user namespace per child also gives it a private count of threads, for RLIMIT_NPROC counts per namespace and user.
    """
    _enter(_CHILD, proc, needs_user)


def _enter(flags: int, proc: int, needs_user: bool) -> None:
    uid, gid = os.getuid(), os.getgid()
    _kernel.unshare(flags | (_kernel.CLONE_NEWUSER if needs_user else 0))
    if needs_user:
        # setgroups must be refused before an ordinary user may map its group: user_namespaces(7).
        _write(proc, "self/setgroups", "deny")
        _write(proc, "self/uid_map", f"0 {uid} 1")
        _write(proc, "self/gid_map", f"0 {gid} 1")


def _write(proc: int, name: str, text: str) -> None:
    target = os.open(name, os.O_WRONLY, dir_fd=proc)
    try:
        os.write(target, text.encode())
    finally:
        os.close(target)


def enter_minimal_root(shown: Plan) -> None:
    """Replace the root by one that holds the planned places read-only, four devices and a scratch directory."""
    root = _mount_point(shown.places)
    _kernel.mount("tmpfs", root, "tmpfs", MS_NOSUID | MS_NODEV, "size=1m,nr_inodes=1024,mode=755")
    for link, target in shown.links.items():
        os.makedirs(root + os.path.dirname(link), exist_ok=True)
        os.symlink(target, root + link)
    for place in shown.places:
        _bind(place, root + place)
        _kernel.restrict_mount(root + place, MS_RDONLY | MS_NOSUID | MS_NODEV)
    for device in DEVICES:
        _bind(device, root + device)
    os.makedirs(root + SCRATCH)
    _kernel.pivot_into(root)
    # Only the skeleton: its mounts below keep their own flags.
    _kernel.mount(None, "/", None, _kernel.MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV)


def _mount_point(places: Iterable[str]) -> str:
    for candidate in _MOUNT_POINTS:
        taken = any((place + "/").startswith(candidate + "/") for place in places)
        if os.path.isdir(candidate) and not os.path.islink(candidate) and not taken:
            return candidate
    raise IsolationError(
        f"no directory of {', '.join(_MOUNT_POINTS)} is free of Python's own files, so no root can be mounted; "
        "create an empty /mnt"
    )


def _bind(source: str, target: str) -> None:
    if os.path.isdir(source):
        os.makedirs(target, exist_ok=True)
    else:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        os.close(os.open(target, os.O_CREAT | os.O_WRONLY, 0o444))
    _kernel.mount(source, target, None, MS_BIND | MS_REC)


def mount_scratch(size: int, files: int, uid: int) -> None:
    """An empty private file system of at most `size` bytes and `files` files; it ends with its namespace."""
    # One more for its root directory.
    options = f"size={size},nr_inodes={files + 1},mode=700,uid={uid},gid={uid}"
    _kernel.mount("tmpfs", SCRATCH, "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, options)
