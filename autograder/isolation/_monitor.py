"""The trusted parent of one child: builds its namespaces, watches its limits, ends all of it, reports how it ended.

It holds no descriptor that a child could reach, and it ends the child when the grader or the warm parent is gone.
"""

from __future__ import annotations

import contextlib
import os
import resource
import select
import signal
import socket
import sys
import time
from typing import NoReturn

import msgspec

from autograder.isolation import _child, _frames, _kernel, _limits, _namespaces, _scratch
from autograder.isolation._types import Exit, Isolation, Limits

_POLL_SECONDS = 0.05
_DISK_SECONDS = 0.2


def run(
    cell: _child.Cell, request: _frames.Spawn, fds: tuple[int, int, int], entry: _child.Entry, proc: int | None
) -> NoReturn:
    """Serve one request in this freshly forked process: channel, output and report descriptors. Never returns."""
    channel, output, report_fd = fds
    report = socket.socket(fileno=report_fd)
    try:
        _Monitor(cell, request, report, entry, proc).serve(channel, output)
    except (BrokenPipeError, ConnectionResetError):
        pass  # the grader is gone
    except BaseException as problem:
        with contextlib.suppress(OSError):
            _frames.send(report, _frames.Report(error=f"{type(problem).__name__}: {problem}"))
    os._exit(0)


class _Monitor:
    def __init__(
        self,
        cell: _child.Cell,
        request: _frames.Spawn,
        report: socket.socket,
        entry: _child.Entry,
        proc: int | None,
    ) -> None:
        self._cell = cell
        self._slot = request.slot
        self._limits: Limits = request.limits
        self._keep_files = request.keep_files
        self._report = report
        self._entry = entry
        self._proc = proc
        self._warm_parent = os.getppid()
        self._baseline = 0
        self._disk_due = 0.0

    def serve(self, channel: int, output: int) -> None:
        scratch = self._prepare_scratch()
        try:
            wake = _wake_on_child_exit()
            pid, error = self._fork(scratch, channel, output)
            os.close(channel)
            os.close(output)
            if error:
                self._end(pid)
                raise ChildProcessError(error)
            _frames.send(self._report, _frames.Report(pid=pid))
            ending = self._watch(pid, wake, scratch)
            if self._keep_files:
                files, dropped = _scratch.collect(scratch)
                ending = msgspec.structs.replace(ending, files=files, dropped_files=dropped)
        finally:
            if self._cell.mode is not Isolation.NAMESPACES:
                _scratch.remove(scratch)
        _frames.send(self._report, _frames.Report(exit=ending))

    def _prepare_scratch(self) -> str:
        if self._cell.mode is Isolation.NAMESPACES:
            _namespaces.leave_siblings(self._proc_or_fail(), self._cell.needs_user)
            _namespaces.mount_scratch(self._limits.disk_bytes, self._limits.disk_files, self._owner())
            return _namespaces.SCRATCH
        if sys.platform == "linux":
            _kernel.adopt_orphans()
        scratch = os.path.join(self._cell.scratch, str(os.getpid()))
        os.mkdir(scratch, 0o700)
        os.chown(scratch, self._owner(), -1)
        return scratch

    def _owner(self) -> int:
        return self._cell.first_user + self._slot if self._cell.first_user else os.getuid()

    def _proc_or_fail(self) -> int:
        if self._proc is None:
            raise OSError("/proc is needed to build namespaces")
        return self._proc

    def _fork(self, scratch: str, channel: int, output: int) -> tuple[int, str]:
        """(pid, error) of a child that stands behind all its layers; the error is empty when it does."""
        reader, writer = os.pipe()
        pid = os.fork()
        if pid == 0:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            job = _child.Job(self._slot, self._limits, scratch, channel, output, writer)
            _child.run(self._cell, job, self._entry, self._proc)
        os.close(writer)
        with open(reader, "rb") as source:
            answer = source.read()
        if answer == _child.READY:
            return pid, ""
        return pid, answer.decode("utf-8", "replace") or "the child ended while it was being confined"

    def _watch(self, pid: int, wake: int, scratch: str) -> Exit:
        """Wait for the end of the child or for the first limit that it exceeds; everything of it is gone afterwards."""
        first = _limits.usage(self._proc, pid)
        self._baseline = first.resident if first else 0
        end = time.monotonic() + self._limits.wall_seconds
        poller = select.poll()
        poller.register(wake, select.POLLIN)
        poller.register(self._report, select.POLLIN)
        limit: tuple[str, float] | None = None
        while True:
            ended, status, used = os.wait4(pid, os.WNOHANG)
            if ended:
                break
            left = end - time.monotonic()
            limit = ("wall", self._limits.wall_seconds) if left <= 0 else self._excess(pid, scratch)
            if limit or self._unwanted():
                os.kill(pid, signal.SIGKILL)
                _, status, used = os.wait4(pid, 0)
                break
            poller.poll(min(left, _POLL_SECONDS) * 1000 + 1)
            with contextlib.suppress(BlockingIOError):
                os.read(wake, 512)  # a child that stops or continues wakes as well
        self._end_rest(pid)
        return self._exit(status, used, limit, scratch)

    def _excess(self, pid: int, scratch: str) -> tuple[str, float] | None:
        now = _limits.usage(self._proc, pid)
        if now and now.resident - self._baseline > self._limits.memory_bytes:
            return "memory", self._limits.memory_bytes
        if now and now.threads > self._limits.threads:
            return "threads", self._limits.threads
        if self._cell.mode is not Isolation.NAMESPACES and time.monotonic() >= self._disk_due:
            self._disk_due = time.monotonic() + _DISK_SECONDS
            return self._disk_excess(scratch)
        return None

    def _disk_excess(self, scratch: str) -> tuple[str, float] | None:
        size, files = _scratch.used(scratch, self._limits.disk_files)
        if files > self._limits.disk_files:
            return "disk", self._limits.disk_files
        return ("disk", self._limits.disk_bytes) if size > self._limits.disk_bytes else None

    def _unwanted(self) -> bool:
        """Whether the grader shut its side of the report socket (to kill, or by dying) or the warm parent died."""
        if os.getppid() != self._warm_parent:
            return True
        poller = select.poll()
        poller.register(self._report, select.POLLIN)
        return bool(poller.poll(0))

    def _end(self, pid: int) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(pid, 0)
        self._end_rest(pid)

    def _end_rest(self, pid: int) -> None:
        """End descendants; in a process namespace the kernel has done so, behind seccomp there are none."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if self._cell.mode is Isolation.PROCESS:
                os.killpg(pid, signal.SIGKILL)
        while self._cell.mode is not Isolation.NAMESPACES:
            for orphan in _children(self._proc):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(orphan, signal.SIGKILL)
            try:
                os.waitpid(-1, 0)
            except ChildProcessError:
                return

    def _exit(self, status: int, used: resource.struct_rusage, limit: tuple[str, float] | None, scratch: str) -> Exit:
        number = os.waitstatus_to_exitcode(status)
        seconds = used.ru_utime + used.ru_stime
        if limit is None and number < 0 and seconds >= self._limits.cpu_seconds:
            limit = "cpu", self._limits.cpu_seconds
        if limit is None and number != 0:
            limit = self._full(scratch)
        return Exit(
            code=number if number >= 0 else None,
            signal=-number if number < 0 else None,
            limit=limit[0] if limit else None,
            limit_value=limit[1] if limit else None,
            cpu_seconds=seconds,
            max_rss_bytes=used.ru_maxrss * (1 if sys.platform == "darwin" else 1024),
        )

    def _full(self, scratch: str) -> tuple[str, float] | None:
        """A child that failed beside a full scratch directory failed for that reason, as far as anyone can tell."""
        if self._cell.mode is not Isolation.NAMESPACES:
            return self._disk_excess(scratch)
        state = os.statvfs(scratch)
        if state.f_favail == 0:
            return "disk", self._limits.disk_files
        return ("disk", self._limits.disk_bytes) if state.f_bavail == 0 else None


def _wake_on_child_exit() -> int:
    """A descriptor that becomes readable when a child ends; portable, unlike pidfd_open."""
    reader, writer = os.pipe()
    os.set_blocking(reader, False)
    os.set_blocking(writer, False)
    signal.signal(signal.SIGCHLD, lambda number, frame: None)
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    return reader


def _children(proc: int | None) -> list[int]:
    if proc is None:
        return []
    pid = os.getpid()
    try:
        source = os.open(f"{pid}/task/{pid}/children", os.O_RDONLY | os.O_CLOEXEC, dir_fd=proc)
    except OSError:
        return []
    with open(source, "rb") as file:
        return [int(word) for word in file.read().split()]
