"""The system calls a child may make: an allow-list by name, compiled by libseccomp. Source: seccomp(2).

libseccomp knows the numbers of every architecture and the foreign ones to refuse (32-bit and x32 calls on x86-64), so
this file holds names only. What is not named answers EPERM, and a foreign ABI kills the process.
"""

from __future__ import annotations

import errno
import importlib
import os
from typing import Any

from autograder.isolation import _kernel

_FILES = """
    access chdir close close_range copy_file_range creat dup dup2 dup3 epoll_create epoll_create1 epoll_ctl epoll_pwait
    epoll_wait eventfd2 faccessat faccessat2 fadvise64 fallocate fchdir fdatasync flock fstat fstatat64 fstatfs fsync
    ftruncate getcwd getdents getdents64 lseek lstat mkdir mkdirat newfstatat open openat pipe pipe2 poll ppoll pread64
    preadv preadv2 pselect6 pwrite64 pwritev pwritev2 read readlink readlinkat readv rename renameat renameat2 rmdir
    select sendfile stat statfs statx symlink symlinkat sync_file_range truncate umask unlink unlinkat write writev
    link linkat
"""
_MEMORY = "brk get_mempolicy madvise membarrier mincore mmap mprotect mremap msync munmap"
_THREADS = """
    arch_prctl exit exit_group futex futex_waitv get_robust_list getcpu gettid rseq sched_get_priority_max
    sched_get_priority_min sched_getaffinity sched_getparam sched_getscheduler sched_yield set_robust_list
    set_tid_address
"""
_SELF = """
    capget getegid geteuid getgid getgroups getpgid getpgrp getpid getppid getpriority getresgid getresuid getrlimit
    getrusage getsid getuid setrlimit sysinfo times uname wait4 waitid
"""
_SIGNALS_AND_TIME = """
    alarm clock_getres clock_gettime clock_nanosleep getitimer gettimeofday nanosleep pause restart_syscall
    rt_sigaction rt_sigpending rt_sigprocmask rt_sigreturn rt_sigsuspend rt_sigtimedwait setitimer sigaltstack time
    timer_create timer_delete timer_getoverrun timer_gettime timer_settime
"""
# On the channel that the child already holds; no call that makes, binds or connects a socket is here.
_CHANNEL = "getpeername getsockname getsockopt recvfrom recvmsg sendmsg sendto setsockopt shutdown"
_RANDOM = "getrandom"

_ALLOWED = " ".join((_FILES, _MEMORY, _THREADS, _SELF, _SIGNALS_AND_TIME, _CHANNEL, _RANDOM)).split()

# The C library tries these first and falls back on ENOSYS only.
_ABSENT = ("clone3", "openat2", "fchmodat2", "epoll_pwait2")

_CLONE_THREAD = 0x00010000
_CLONE_NEW_ANY = 0x7E020000  # every CLONE_NEW* namespace flag

# By first argument: names and memory labels of the own process, nothing that loosens PDEATHSIG or dumpability.
_PRCTL = {"set_name": 15, "get_name": 16, "set_vma": 0x53564D41, "get_dumpable": 3, "get_pdeathsig": 2}
# By second argument: duplicate, flags, locks, sizes; not F_SETOWN, F_SETSIG (signals), F_SETPIPE_SZ, F_NOTIFY.
_FCNTL = (0, 1, 2, 3, 4, 5, 6, 7, 36, 37, 38, 1030, 1032, 1034)
# TCGETS and TIOCGWINSZ (is it a terminal?), FIONREAD, FIONBIO, FIONCLEX, FIOCLEX.
_IOCTL = (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)


def missing() -> str:
    """Why system calls cannot be filtered here; empty when they can."""
    try:
        _library()
    except ImportError:
        return "the Python package pyseccomp is not installed (pip install 'ml-systems-autograder[sandbox]')"
    except RuntimeError as problem:
        return f"libseccomp is not installed: {problem} (apt install libseccomp2)"
    return ""


def _library() -> Any:
    # Imported late, for it is optional and looks for libseccomp with the help of other programs.
    return importlib.import_module("pyseccomp")


def compile_filter() -> bytes:
    """The BPF program for the calling process, which may signal only itself; takes about half a millisecond."""
    sc = _library()
    rules = sc.SyscallFilter(sc.ERRNO(errno.EPERM))
    rules.set_attr(sc.Attr.ACT_BADARCH, sc.KILL_PROCESS)

    def add(action: int, name: str, *conditions: Any) -> None:
        # -1: a name that this libseccomp is too old to know; the default action covers it.
        if sc.resolve_syscall(sc.Arch.NATIVE, name) != -1:
            rules.add_rule(action, name, *conditions)

    for name in _ALLOWED:
        add(sc.ALLOW, name)
    for name in _ABSENT:
        add(sc.ERRNO(errno.ENOSYS), name)
    add(sc.ALLOW, "clone", sc.Arg(0, sc.MASKED_EQ, _CLONE_THREAD | _CLONE_NEW_ANY, _CLONE_THREAD))
    for option in _PRCTL.values():
        add(sc.ALLOW, "prctl", sc.Arg(0, sc.EQ, option))
    for command in _FCNTL:
        add(sc.ALLOW, "fcntl", sc.Arg(1, sc.EQ, command))
    for request in _IOCTL:
        add(sc.ALLOW, "ioctl", sc.Arg(1, sc.EQ, request))
    for name in ("kill", "tgkill"):
        add(sc.ALLOW, name, sc.Arg(0, sc.EQ, os.getpid()))
    # Pid 0 is the caller: its own limits, which the hard limits bound, and its own processors.
    for name in ("prlimit64", "sched_setaffinity"):
        add(sc.ALLOW, name, sc.Arg(0, sc.EQ, 0))
    return _exported(rules)


def _exported(rules: Any) -> bytes:
    reader, writer = os.pipe()
    # A program is at most 4096 instructions of 8 bytes: it always fits the pipe.
    with os.fdopen(reader, "rb") as source:
        with os.fdopen(writer, "wb") as target:
            rules.export_bpf(target)
        return source.read()


def enforce() -> None:
    """Filter the system calls of this thread from here on; needs no_new_privileges()."""
    _kernel.load_seccomp(compile_filter())
