"""The grader's side of the wire: a submission's process, calls into it, and the devices lent to it."""

from __future__ import annotations

import errno
import os
import select
import socket
import time
import weakref
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import msgspec

from autograder import wire
from autograder.child import FOLDER
from autograder.errors import ImportFailed, NotWritten, Outcome, OverLimit, SubmissionDied, SubmissionRaised, TimedOut
from autograder.isolation import Exit, Limits, Process, WarmParent
from autograder.record import Frame
from course_lib._device import Device, ProtocolViolation

KEEP = 32 << 10
"""Bytes kept of the beginning and of the end of what a check printed."""
NOT_WRITTEN = "is not written yet"
MAX_NOT_WRITTEN = 120
MAX_MESSAGE = 4000
MAX_FRAMES = 12
MAX_VIOLATION = 120
_UNDECODABLE = (ProtocolViolation, ValueError, TypeError, RuntimeError, OverflowError, MemoryError)
"""Whatever goes wrong while a submission's bytes are turned into values is the submission's doing."""
MAX_REFERENCES = 10_000
"""Objects of one process that the grader may hold at a time."""
PATIENCE = 3
"""A check may wait this many times its limit in wall time, as long as the submission got less processor time."""
_CPUCLOCK_SCHED = 2
"""Low bits of a clock id that, with a process id, name that process's processor time (clock_getcpuclockid(3))."""


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


class Reference:
    """An object that lives in the submission's process: call it, or read its attributes."""

    def __init__(self, worker: Worker, number: int, type_name: str) -> None:
        self._worker, self._number, self._type = worker, number, type_name
        weakref.finalize(self, worker.forget, number)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._worker.call(self._number, "", args, kwargs, shown=self._type)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self._worker.call(self._number, name, (), {}, kind="get", shown=f"{self._type}.{name}")

    def __repr__(self) -> str:
        return f"<{self._type} object of the submission>"


class Worker:
    """One process of a submission: started, loaded, called, and gone after a crash, a timeout or a limit."""

    def __init__(
        self,
        parent: WarmParent,
        source: Source,
        budget: Budget,
        output: Output,
        *,
        files: Mapping[str, bytes] | None = None,
        cpu: int | None = None,
        keep_files: bool = False,
    ) -> None:
        self._process: Process = parent.spawn(budget.limits, keep_files=keep_files)
        self._source, self.budget, self._output = source, budget, output
        self._codec = wire.Codec(wire.ToGrader, wire.MAX_RECEIVED)
        self._devices: dict[int, Device] = {}
        self._lent: dict[int, int] = {}
        self._next_device = 1
        self._dropped: list[int] = []
        self._encode = wire.Encoder(self._lend, self._reference_of)
        self._decode = wire.Decoder(self._device_of, self._refer)
        self._live_references = 0
        self.alive = True
        self.exit: Exit | None = None
        self._processor_before = 0.0
        self._poll = select.poll()
        self._poll.register(self._process.channel, select.POLLIN)
        self._poll.register(self._process.output, select.POLLIN)
        try:
            self._load(files or {}, cpu)
        except BaseException:
            self.close()
            raise

    def _load(self, files: Mapping[str, bytes], cpu: int | None) -> None:
        source, spent = self._source, self.budget.spent
        frame = wire.Load(source.module, source.data, source.driver, dict(files), cpu)
        self._exchange(frame, f"import {source.module}")
        self.budget.spent = spent  # importing is not charged to the check that happens to come first

    # ---------------------------------------------------------------------------------------------------- calls
    def call(
        self,
        target: str | int,
        name: str,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        *,
        kind: str = "call",
        shown: str,
    ) -> Any:
        """Call into the process; returns the decoded value or raises an `Outcome`."""
        if not self.alive:
            raise SubmissionDied(f"the process is gone, {shown} cannot be called")
        dropped, self._dropped = self._dropped, []
        frame = wire.Call(
            target,
            name,
            [self._encode(arg) for arg in args],
            {key: self._encode(value) for key, value in kwargs.items()},
            kind,
            dropped,
        )
        reply = self._exchange(frame, shown)
        try:
            _record_measurement(reply.measured, [*args, *kwargs.values()])
            return self._decode(reply.value)
        except _UNDECODABLE as violation:
            raise self._violated(violation) from None

    def _exchange(self, frame: Any, doing: str) -> wire.Return:
        """Send a frame, serve device requests until its Return arrives."""
        self.budget.doing = doing
        begun, self._processor_before = time.monotonic(), self._processor_seconds()
        try:
            self._send(frame)
            while True:
                received = self._codec.next()
                if received is None:
                    self._wait(begun, doing)
                elif type(received) is wire.Request:
                    self._serve(received)
                else:
                    self._drain()
                    if isinstance(received, wire.Return):
                        return received
                    raise self._raised(received)
        except ProtocolViolation as violation:
            raise self._violated(violation) from None
        except Outcome:
            raise
        except BaseException:  # a fault of the grader in mid-conversation: the next check needs another process
            self.stop()
            raise
        finally:
            self.budget.spent += time.monotonic() - begun

    def _send(self, frame: Any) -> None:
        self._send_bytes(self._codec.pack(frame))

    def _send_bytes(self, data: bytes) -> None:
        channel = self._process.channel
        try:
            sent = channel.send(data, socket.MSG_DONTWAIT)
        except BlockingIOError:
            sent = 0
        except OSError:
            raise self._died() from None
        if sent == len(data):  # all but the largest frames fit into the socket's buffer
            return
        channel.settimeout(max(PATIENCE * self.budget.left, 1.0))
        try:
            channel.sendall(memoryview(data)[sent:])
            channel.settimeout(None)
        except TimeoutError:  # a process that does not read
            self.stop()
            raise TimedOut(self.budget.seconds, self.budget.doing) from None
        except OSError:
            raise self._died() from None

    def _wait(self, begun: float, doing: str) -> None:
        """Until more of the process has arrived, or its time is over."""
        budget = self.budget
        while True:
            elapsed, left = time.monotonic() - begun, budget.seconds - budget.spent
            if elapsed > left and self._out_of_time(elapsed):
                self._drain()
                self.stop()
                raise TimedOut(budget.seconds, doing)
            took = False
            for descriptor, _ in self._poll.poll(max(left - elapsed, 0.1) * 1000):
                if descriptor == self._process.output:
                    self._drain()
                else:
                    self._take()
                    took = True
            if took:
                return

    def _out_of_time(self, elapsed: float) -> bool:
        """Whether the limit is reached in processor time, or several times over in wall time.

        A machine that is busy with other work slows a right submission down; that must not cost it a check.
        """
        if elapsed > PATIENCE * self.budget.left:
            return True
        return self._processor_seconds() - self._processor_before > self.budget.left

    def _processor_seconds(self) -> float:
        """Processor time of the submission's process so far, all threads; infinite where it cannot be read."""
        try:
            return time.clock_gettime((~self._process.pid << 3) | _CPUCLOCK_SCHED)
        except (OSError, AttributeError, ValueError):
            return float("inf")

    def _take(self) -> None:
        try:
            data = self._process.channel.recv(wire.CHUNK)
        except OSError:
            data = b""
        if not data:
            raise self._died()
        self._codec.feed(data)

    def _drain(self) -> None:
        """Read what was printed, without waiting for more."""
        while True:
            try:
                data = os.read(self._process.output, 1 << 16)
            except BlockingIOError:
                return
            if not data:
                self._poll.unregister(self._process.output)
                return
            self._output.add(data)
            if self._output.size > self.budget.output_bytes:
                self.stop()
                raise OverLimit("output", self.budget.output_bytes / (1 << 20), "MiB", self.budget.doing)
            if len(data) < 1 << 16:
                return

    # ---------------------------------------------------------------------------------------------------- devices
    def _serve(self, request: wire.Request) -> None:
        device = self._devices.get(request.device)
        if device is None:
            return self._refuse_stale(request)
        try:
            answer = device._serve(
                request.op, tuple([arg if type(arg) in wire.PLAIN else self._decode(arg) for arg in request.args])
            )
            if not request.reply:
                return None
            value = answer if type(answer) in wire.PLAIN else self._encode(answer)
            packed = self._codec.pack(wire.Answer(value))
        except (IndexError, TypeError, ValueError, RuntimeError, MemoryError) as error:
            if not request.reply:
                raise ProtocolViolation(f"{request.op}: {error}") from None
            packed = self._codec.pack(wire.Refusal(type(error).__name__, str(error)))
        return self._send_bytes(packed)

    def _refuse_stale(self, request: wire.Request) -> None:
        """A device kept from an earlier check no longer exists; using it is an error of the student, not an attack."""
        if not 0 < request.device < self._next_device:
            raise ProtocolViolation(f"device {request.device} was never lent")
        if request.reply:
            self._send(wire.Refusal("RuntimeError", "this device belongs to an earlier call and is gone"))

    def recall(self) -> None:
        """End the loan of every device: a new check begins."""
        self._devices.clear()
        self._lent.clear()

    def _lend(self, device: Device) -> wire.Handle:
        number = self._lent.get(id(device))
        if number is None:
            number, self._next_device = self._next_device, self._next_device + 1
            self._lent[id(device)], self._devices[number] = number, device
        description = self._encode(device._describe())
        assert isinstance(description, wire.Mapping)
        return wire.Handle(number, device.kind, description)

    def _device_of(self, handle: wire.Handle) -> Device:
        device = self._devices.get(handle.id)
        if device is None:
            raise ProtocolViolation(f"device {handle.id} is not lent")
        return device

    def _reference_of(self, value: Any) -> wire.Value:
        if isinstance(value, Reference) and value._worker is self:
            return wire.Ref(value._number)
        raise TypeError(f"a {type(value).__name__} cannot travel to a submission")

    def _refer(self, ref: wire.Ref) -> Reference:
        self._live_references += 1
        if self._live_references > MAX_REFERENCES:
            raise ProtocolViolation(f"more than {MAX_REFERENCES:,} live references")
        return Reference(self, ref.id, ref.type[: wire.MAX_NAME])

    def forget(self, number: int) -> None:
        self._live_references -= 1
        if self.alive:
            self._dropped.append(number)

    # ---------------------------------------------------------------------------------------------------- endings
    def _raised(self, raised: wire.Raised) -> Exception:
        frames = [
            Frame(where.line, where.function[: wire.MAX_NAME], self._source.line(where.line))
            for where in raised.frames[-MAX_FRAMES:]
        ]
        if raised.syntax_line is not None and "SyntaxError" in raised.bases:
            frames = [*frames, Frame(raised.syntax_line, "<module>", self._source.line(raised.syntax_line))]
        if "NotImplementedError" in raised.bases and (not raised.message or raised.message.endswith(NOT_WRITTEN)):
            return NotWritten(raised.message[:MAX_NOT_WRITTEN] or "not written yet")
        limit = _limit_behind(raised)
        if limit is not None:
            return OverLimit(limit, *_limit_value(limit, self.budget), self.budget.doing)
        return SubmissionRaised(raised.type[: wire.MAX_NAME], raised.bases, raised.message[:MAX_MESSAGE], frames)

    def _died(self) -> Exception:
        self._reap()
        exit = self.exit
        doing = self.budget.doing
        if exit is None:
            return SubmissionDied(f"the process closed its connection during {doing}")
        if exit.limit is not None:
            value, unit = _limit_value(exit.limit, self.budget)
            return OverLimit(exit.limit, value, unit, doing)
        if exit.signal is not None:
            return SubmissionDied(f"the process was killed by signal {exit.signal} during {doing}")
        return SubmissionDied(f"the process ended with exit code {exit.code} during {doing}, without an answer")

    def _violated(self, violation: Exception) -> Exception:
        self.stop()
        what = str(violation)[:MAX_VIOLATION]
        return SubmissionDied(f"the process sent what is no answer ({what}) during {self.budget.doing}")

    def _reap(self) -> None:
        if self.exit is None:
            with suppress(OverLimit):
                self._drain()
            self.alive = False
            self.exit = self._process.wait(2.0)
            if self.exit is None:
                self._process.kill()
                self.exit = self._process.wait(2.0)

    def stop(self) -> None:
        """Kill the process and everything of it."""
        if self.alive:
            self.alive = False
            self._process.kill()
            self.exit = self._process.wait(5.0)

    def close(self) -> None:
        self.stop()
        self._process.close()

    @property
    def pid(self) -> int:
        return self._process.pid


def _limit_behind(raised: wire.Raised) -> str | None:
    """The limit that showed itself as an ordinary exception in the submission's process."""
    if "MemoryError" in raised.bases or "can't allocate memory" in raised.message:
        return "memory"
    if "OSError" in raised.bases:
        for number, limit in ((errno.ENOSPC, "disk"), (errno.EFBIG, "file"), (errno.EMFILE, "open files")):
            if raised.message.startswith(f"[Errno {number}]"):
                return limit
    return None


def _limit_value(limit: str, budget: Budget) -> tuple[float, str]:
    limits = budget.limits
    return {
        "wall": (limits.wall_seconds, "s"),
        "cpu": (float(limits.cpu_seconds), "s"),
        "memory": (limits.memory_bytes / (1 << 20), "MiB"),
        "disk": (limits.disk_bytes / (1 << 20), "MiB"),
        "file": (limits.file_bytes / (1 << 20), "MiB"),
        "open files": (float(limits.open_files), ""),
        "threads": (float(limits.threads), ""),
    }.get(limit, (0.0, ""))


def _record_measurement(measured: dict[str, int] | None, args: list[Any]) -> None:
    if measured is not None:
        for device in args:
            if isinstance(device, Device) and hasattr(device, "_record"):
                device._record(*(measured.get(name, 0) for name in wire.MEASURED))


# --------------------------------------------------------------------------------------------------- the checks' view
class Namespace:
    """`submission.driver`: the functions of driver.py."""

    def __init__(self, owner: SubmissionProxy, target: str) -> None:
        self._owner, self._target = owner, target

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *args, **kwargs: self._owner._call(self._target, name, args, kwargs)


class SubmissionProxy:
    """What a check calls `submission`: each attribute is a function of the student's module."""

    def __init__(self, context: Context, worker: Worker | None = None) -> None:
        self._context, self._worker = context, worker
        self.driver = Namespace(self, "driver")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *args, **kwargs: self._call("student", name, args, kwargs)

    def _call(self, target: str, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        worker = self._worker or self._context.worker()
        value = worker.call(target, name, args, kwargs, shown=name)
        self._context.transcript.append(
            (name, value, [arg for arg in (*args, *kwargs.values()) if isinstance(arg, Device)])
        )
        return value

    @contextmanager
    def fresh(self, files: Mapping[str, bytes] | None = None, disk_bytes: int | None = None) -> Iterator[FreshProxy]:
        """Another process of the same submission, with these files in its scratch directory."""
        worker = self._context.open(files=files, disk_bytes=disk_bytes, keep_files=True)
        try:
            yield FreshProxy(self._context, worker)
        finally:
            worker.close()


class FreshProxy(SubmissionProxy):
    """A submission in a process of its own, which a check may kill and whose files it may read afterwards."""

    def kill(self) -> None:
        """SIGKILL, at once."""
        assert self._worker is not None
        self._worker.stop()

    def files(self) -> dict[str, bytes]:
        """The regular files of the scratch directory, by relative name; ends the process if it still runs."""
        assert self._worker is not None
        self._worker.stop()
        exit = self._worker.exit
        own = f"{FOLDER}/"
        return {} if exit is None else {name: data for name, data in exit.files.items() if not name.startswith(own)}


class Context:
    """One submission being graded: its source, its current process, and the running check's budget."""

    def __init__(self, parent: WarmParent, source: Source, cpu: int | None = None) -> None:
        self.parent, self.source, self.cpu = parent, source, cpu
        self.output = Output()
        self.transcript: list[tuple[str, Any, list[Device]]] = []
        self.budget = Budget(10.0, 4 << 20)
        self._current: Worker | None = None
        self._import_failure: Outcome | None = None
        self.proxy = SubmissionProxy(self)

    @property
    def import_failed(self) -> bool:
        return self._import_failure is not None

    def begin(self, budget: Budget, *, fresh: bool) -> None:
        """Start a check."""
        self.budget = budget
        self.output.clear()
        self.transcript = []
        if fresh and self._current is not None:
            self._current.close()
            self._current = None
        if self._current is not None:
            self._current.budget = budget
            self._current.recall()

    def worker(self) -> Worker:
        """The current process, started again if the last one is gone."""
        if self._current is None or not self._current.alive:
            if self._current is not None:
                self._current.close()
            self._current = None
            self._current = self.open()
        return self._current

    def open(
        self, *, files: Mapping[str, bytes] | None = None, disk_bytes: int | None = None, keep_files: bool = False
    ) -> Worker:
        if self._import_failure is not None:  # a module that cannot be imported is not tried again for every check
            raise self._import_failure.with_traceback(None)
        budget = self.budget
        if disk_bytes is not None:
            budget = Budget(budget.seconds, budget.output_bytes, _with_disk(budget.limits, disk_bytes), budget.spent)
        try:
            return Worker(
                self.parent, self.source, budget, self.output, files=files, cpu=self.cpu, keep_files=keep_files
            )
        except SubmissionRaised as raised:  # `raises` must not take it for the error it waits for
            self._import_failure = ImportFailed(raised.failure)
            raise self._import_failure from None
        except Outcome as failure:
            if not files:
                self._import_failure = failure
            raise

    def close(self) -> None:
        if self._current is not None:
            self._current.close()
            self._current = None


def _with_disk(limits: Limits, disk_bytes: int) -> Limits:
    return msgspec.structs.replace(limits, disk_bytes=disk_bytes)
