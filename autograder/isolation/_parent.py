"""The grader's side: starts the warm parent, asks it for children, and ends them."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from types import TracebackType
from typing import BinaryIO

import msgspec

from autograder.isolation import _frames, _host, _launch, _places
from autograder.isolation._types import Exit, Isolation, IsolationError, Layer, Limits

_SETUP_SECONDS = 120.0
_SPAWN_SECONDS = 30.0
_KILL_SECONDS = 30.0
_CLOSE_SECONDS = 5.0
_ALWAYS = ("autograder", "msgspec", "numpy", "course_lib")


class Process:
    """One confined child.

    `channel` is the grader's end of a private stream socket, `output` the non-blocking read end of the pipe that holds
    what the child prints. Read it while waiting: a child whose pipe is full waits (and is still killed by kill()).
    """

    def __init__(self, owner: WarmParent, slot: int, channel: socket.socket, output: int, report: socket.socket):
        self.channel = channel
        self.output = output
        self.pid = 0
        self._owner = owner
        self._slot = slot
        self._report = report
        self._reader = _frames.Reader(report)
        self._exit: Exit | None = None
        self._closed = False

    def _start(self) -> None:
        try:
            report = self._next(time.monotonic() + _SPAWN_SECONDS)
        except EOFError:
            report = _frames.Report(error="its monitor ended before it started")
        if report is None:
            report = _frames.Report(error=f"no answer within {_SPAWN_SECONDS:.0f} s")
        if report.error:
            raise IsolationError(f"a child could not be confined ({self._owner.mode}): {report.error}")
        self.pid = report.pid

    def _next(self, deadline: float | None) -> _frames.Report | None:
        try:
            body = self._reader.frame(deadline)
        except OSError as problem:
            raise EOFError from problem
        return None if body is None else msgspec.msgpack.decode(body, type=_frames.Report)

    def wait(self, timeout: float | None = None) -> Exit | None:
        """How the child ended, once nothing of it is left; None when `timeout` seconds pass first."""
        if self._exit is None and not self._closed:
            try:
                report = self._next(None if timeout is None else time.monotonic() + timeout)
            except EOFError:
                report = _frames.Report(error="it was killed")
            if report is None:
                return None
            # Without an exit the monitor failed or was killed; the kernel has ended its child with it.
            self._exit = report.exit or Exit(signal=int(signal.SIGKILL))
            self._owner._release(self, self._slot)
        return self._exit

    def kill(self) -> None:
        """End everything of the child; returns when it is gone."""
        if self._exit is not None or self._closed:
            return
        with contextlib.suppress(OSError):
            self._report.shutdown(socket.SHUT_WR)
        if self.wait(_KILL_SECONDS) is None:
            raise IsolationError(f"process {self.pid} did not end within {_KILL_SECONDS:.0f} s of being killed")

    def close(self) -> None:
        """Kill the child if it lives and free its descriptors; safe to call twice."""
        if self._closed:
            return
        try:
            if self.pid:
                self.kill()
        finally:
            self._closed = True
            self._owner._release(self, self._slot)
            self.channel.close()
            self._report.close()
            os.close(self.output)

    def __enter__(self) -> Process:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class WarmParent:
    """A helper process that has imported everything and forks confined children on request.

    Starting it returns at once; ready() waits for it. `preload` modules are imported in it; "torch" is also used once,
    and its optimizers only if "torch.optim" is named, for they take as long to load as the rest of torch.
    `entry` ("module:function") is what children call as function(channel, scratch). `python_paths` are folders that
    are importable and readable in children, so they must not hold anything secret. spawn() may be called from several
    threads.
    """

    mode: str = ""
    layers: list[Layer]

    def __init__(
        self,
        *,
        isolation: str = "auto",
        allow_process: bool = False,
        preload: Sequence[str] = ("torch", "torch.optim"),
        entry: str = "autograder.child:main",
        python_paths: Sequence[str] = (),
    ) -> None:
        self.layers = []
        self._lock = threading.RLock()  # spawn closes what it could not start
        self._live: dict[int, Process] = {}
        self._ready: _frames.Ready | None = None
        config = _config(Isolation(isolation), allow_process, preload, entry, python_paths)
        self._errors: BinaryIO = tempfile.TemporaryFile()  # noqa: SIM115
        self._control, theirs = socket.socketpair()
        with theirs:
            self._helper = self._launch(theirs)
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            _frames.send(self._control, config)  # a helper that ended already is reported by ready()

    def _launch(self, theirs: socket.socket) -> subprocess.Popen[bytes]:
        imports, _ = _places.package_places(("autograder", "course_lib", "msgspec"))
        command = _launch.command("autograder.isolation.warm", imports, [str(theirs.fileno())])
        try:
            return subprocess.Popen(
                command,
                env=_launch.environment(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=self._errors,
                pass_fds=(theirs.fileno(),),
                cwd="/",
                start_new_session=True,  # Ctrl-C reaches the grader only, which ends the rest in order
            )
        except OSError as problem:
            self._control.close()
            self._errors.close()
            raise IsolationError(f"{sys.executable} cannot be started: {problem}") from problem

    def ready(self) -> None:
        """Wait until children can be spawned; IsolationError when the set-up failed."""
        with self._lock:
            if self._ready is None:
                self._ready = self._handshake()
                self.mode = self._ready.mode
                self.layers = self._ready.layers
            if self._ready.error:
                raise IsolationError(self._ready.error)

    def _handshake(self) -> _frames.Ready:
        self._control.settimeout(_SETUP_SECONDS)
        try:
            body, _ = _frames.receive(self._control)
        except TimeoutError:
            return _frames.Ready(error=f"the warm parent was not ready after {_SETUP_SECONDS:.0f} s")
        except OSError:
            body = None
        finally:
            self._control.settimeout(None)
        if body is None:
            return _frames.Ready(error=f"the warm parent {self._obituary()}")
        return msgspec.msgpack.decode(body, type=_frames.Ready)

    def _obituary(self) -> str:
        try:
            code = self._helper.wait(5)
        except subprocess.TimeoutExpired:
            return "closed its socket but runs on"
        self._errors.seek(0)
        words = self._errors.read()[-2000:].decode("utf-8", "replace").strip()
        end = f"was killed by signal {-code}" if code < 0 else f"ended with status {code}"
        return f"{end}{': ' + words if words else ''}"

    def spawn(self, limits: Limits | None = None, *, keep_files: bool = False) -> Process:
        """A new child, which stands behind all its layers and runs the entry when this returns."""
        self.ready()
        limits = limits or Limits()
        channel, their_channel = socket.socketpair()
        report, their_report = socket.socketpair()
        output, their_output = os.pipe()
        os.set_blocking(output, False)
        with self._lock:
            slot = next((n for n in range(_host.SLOTS) if n not in self._live), None)
            process = Process(self, slot or 0, channel, output, report)
            try:
                if slot is None:
                    raise IsolationError(f"{_host.SLOTS} children are alive; close() those that ended")
                self._ask(slot, limits, keep_files, (their_channel.fileno(), their_output, their_report.fileno()))
                self._live[slot] = process
            except BaseException:
                process.close()
                raise
            finally:
                their_channel.close()
                their_report.close()
                os.close(their_output)
        try:
            process._start()
        except BaseException:
            process.close()
            raise
        return process

    def _ask(self, slot: int, limits: Limits, keep_files: bool, fds: tuple[int, int, int]) -> None:
        try:
            _frames.send(self._control, _frames.Spawn(slot, limits, keep_files), fds)
        except OSError as problem:
            raise IsolationError(f"the warm parent {self._obituary()}; start a new one") from problem

    def _release(self, process: Process, slot: int) -> None:
        with self._lock:
            if self._live.get(slot) is process:
                del self._live[slot]

    def close(self) -> None:
        """End the warm parent and all its children; safe to call twice."""
        for process in list(self._live.values()):
            process.close()
        self._control.close()
        if self._ready is None:
            self._helper.kill()  # it imports and does not listen yet
        try:
            self._helper.wait(_CLOSE_SECONDS)
        except subprocess.TimeoutExpired:
            self._helper.kill()
            self._helper.wait()
        self._errors.close()
        if self._ready and self._ready.scratch:
            shutil.rmtree(self._ready.scratch, ignore_errors=True)  # when the helper was killed

    def __enter__(self) -> WarmParent:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _config(
    isolation: Isolation, allow_process: bool, preload: Sequence[str], entry: str, python_paths: Sequence[str]
) -> _frames.Config:
    own = [os.path.abspath(path) for path in python_paths]
    tops = [name.partition(".")[0] for name in (*_ALWAYS, *preload, entry.partition(":")[0])]
    imports, shown = _places.package_places(dict.fromkeys(tops))
    return _frames.Config(
        isolation=isolation,
        allow_process=allow_process,
        preload=["numpy", *(["course_lib"] if _places.package_places(["course_lib"])[0] else []), *preload],
        entry=entry,
        temporary=tempfile.gettempdir(),
        import_paths=[*imports, *own],
        visible_paths=[*shown, *own],
    )
