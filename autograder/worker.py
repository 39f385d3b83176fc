"""One process of a submission as the grader sees it: started, loaded, called, stopped."""

from __future__ import annotations

import os
import select
import socket
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from autograder import outcomes, wire
from autograder.budget import Budget, Output, Source
from autograder.errors import Outcome, OverLimit, SubmissionDied, TimedOut
from autograder.isolation import Exit, Process, WarmParent
from autograder.lending import Loans
from course_lib._device import Device, ProtocolViolation

PATIENCE = 3
"""A check may wait this many times its limit in wall time, as long as the submission got less processor time."""
_UNDECODABLE = (ProtocolViolation, ValueError, TypeError, RuntimeError, OverflowError, MemoryError)
"""Whatever goes wrong while a submission's bytes are turned into values is the submission's doing."""
_CPUCLOCK_SCHED = 2
"""Low bits of a clock id that, with a process id, name that process's processor time (clock_getcpuclockid(3))."""


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
        self._loans = Loans(self.call, self._codec.pack)
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
        self.budget.importing += self.budget.spent - spent
        self.budget.spent = spent

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
        loans = self._loans
        frame = wire.Call(
            target,
            name,
            [loans.encode(arg) for arg in args],
            {key: loans.encode(value) for key, value in kwargs.items()},
            kind,
            loans.dropped(),
        )
        reply = self._exchange(frame, shown)
        try:
            _record_measurement(reply.measured, [*args, *kwargs.values()])
            return loans.decode(reply.value)
        except _UNDECODABLE as violation:
            raise self._violated(violation) from None

    def _exchange(self, frame: Any, doing: str) -> wire.Return:
        """Send a frame, serve device requests until its Return arrives."""
        self.budget.doing = doing
        begun, self._processor_before = time.monotonic(), self._processor_seconds()
        try:
            self._send(self._codec.pack(frame))
            while True:
                received = self._codec.next()
                if received is None:
                    self._wait(begun, doing)
                elif type(received) is wire.Request:
                    answer = self._loans.serve(received)
                    if answer is not None:
                        self._send(answer)
                else:
                    self._drain()
                    if isinstance(received, wire.Return):
                        return received
                    raise outcomes.of_exception(received, self._source, self.budget)
        except ProtocolViolation as violation:
            raise self._violated(violation) from None
        except Outcome:
            raise
        except BaseException:  # a fault of the grader in mid-conversation: the next check needs another process
            self.stop()
            raise
        finally:
            self.budget.spent += time.monotonic() - begun

    def _send(self, data: bytes) -> None:
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
            # What is read beyond the limit depends on when it is read, and a record must not.
            self._output.add(data[: self.budget.output_bytes + 1 - self._output.size])
            if self._output.size > self.budget.output_bytes:
                self.stop()
                raise OverLimit("output", self.budget.output_bytes / (1 << 20), "MiB", self.budget.doing)
            if len(data) < 1 << 16:
                return

    # ---------------------------------------------------------------------------------------------------- devices

    # ---------------------------------------------------------------------------------------------------- endings
    def _died(self) -> Outcome:
        self._reap()
        return outcomes.of_end(self.exit, self.budget)

    def _violated(self, violation: Exception) -> Outcome:
        self.stop()
        return outcomes.of_violation(violation, self.budget)

    def _reap(self) -> None:
        if self.exit is None:
            with suppress(OverLimit):
                self._drain()
            self.alive = False
            self.exit = self._process.wait(2.0)
            if self.exit is None:
                self._process.kill()
                self.exit = self._process.wait(2.0)

    def recall(self) -> None:
        """End the loan of every device: a new check begins."""
        self._loans.recall()

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


def _record_measurement(measured: dict[str, int] | None, args: list[Any]) -> None:
    if measured is not None:
        for device in args:
            if isinstance(device, Device) and hasattr(device, "_record"):
                device._record(*(measured.get(name, 0) for name in wire.MEASURED))
