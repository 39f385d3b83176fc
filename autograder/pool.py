"""Grading many submissions on one machine: a few worker processes, each with one session and one warm parent.

A worker has one submission at a time and a socket of its own, so when it dies everyone knows which submission it had:
a new worker tries that one once more, then it is recorded as a grader error. All others are graded.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import hashlib
import json
import signal
import socket
import subprocess
import sys
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

import msgspec

from autograder import record as rec
from autograder.errors import GraderError, UsageError
from autograder.isolation import Isolation

TRIES = 2
"""How often a submission may take its worker down before it is recorded as a grader error."""
LOSSES_IN_A_ROW = 20
"""So many lost workers without a record in between: it is the machine, not the submissions."""
STARTS_IN_A_ROW = 3
START_SECONDS = 180.0
TICK_SECONDS = 0.5
CLOSE_SECONDS = 12.0
"""A worker that is told to end closes its warm parent first, which may take 5 s."""

_BOOTSTRAP = (
    "import sys, json\n"
    "descriptor, sys.path[:] = json.loads(sys.argv[1])\n"
    "from autograder.poolworker import main\n"
    "main(descriptor)\n"
)


@dataclass(frozen=True)
class Task:
    """A submission to grade: its name and the bytes of its module."""

    name: str
    data: bytes

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.data).hexdigest()


@dataclass(frozen=True)
class Setup:
    """What a worker needs to open its session.

    nonce: what a worker of another machine signs with the course secret. idle_seconds: a worker without work ends after
    so long; None: never.
    """

    root: Path
    assignment: str
    isolation: Isolation = Isolation.AUTO
    allow_process: bool = False
    hidden: bool = True
    expression: str | None = None
    explain: bool = True
    nonce: str = ""
    idle_seconds: float | None = None


class Hello(msgspec.Struct, frozen=True, tag=True):
    """A worker is ready. `blank` is the record of a submission that could not be graded, without its name."""

    blank: bytes
    patience: float
    """Seconds after which a submission has taken longer than its own limits allow."""
    signature: str


class Graded(msgspec.Struct, frozen=True, tag=True):
    record: bytes


class Fault(msgspec.Struct, frozen=True, tag=True):
    """The worker ends, because of the set-up or the submission at hand."""

    text: str
    usage: bool = False


Message = Hello | Graded | Fault
encode = msgspec.msgpack.Encoder(enc_hook=str).encode
decode_message = msgspec.msgpack.Decoder(Message).decode


class WorkerLost(Exception):
    """The worker process has ended, or was ended because it did not answer; the text says how."""


class Worker:
    """The grader's end of one worker process."""

    def __init__(self, setup: Setup) -> None:
        mine, theirs = socket.socketpair()
        with theirs:
            try:
                self._process = subprocess.Popen(
                    [sys.executable, "-P", "-c", _BOOTSTRAP, json.dumps([theirs.fileno(), sys.path])],
                    stdin=subprocess.DEVNULL,
                    pass_fds=(theirs.fileno(),),
                    start_new_session=True,  # Ctrl-C reaches the grader only, which ends the rest in order
                )
            except OSError as error:
                mine.close()
                raise GraderError(f"a worker process cannot be started: {error}; try fewer --jobs") from None
        self.connection: Connection[Any, Any] = Connection(mine.detach())
        self.hello: Hello | None = None
        self.task: Task | None = None
        self._deadline = time.monotonic() + START_SECONDS
        self._overdue = ""
        self._send(encode(setup))

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def idle(self) -> bool:
        return self.hello is not None and self.task is None

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def ask(self, task: Task) -> None:
        """Give it a submission; whether it lives is seen when the answer is received."""
        assert self.hello is not None
        self.task = task
        self._deadline = time.monotonic() + self.hello.patience
        self._send(encode(task))

    def _send(self, data: bytes) -> None:
        with contextlib.suppress(OSError):  # its end is noticed by receive()
            self.connection.send_bytes(data)

    def receive(self) -> Message:
        """The next message; WorkerLost when there is none to come."""
        try:
            message = decode_message(self.connection.recv_bytes())
        except (EOFError, OSError, msgspec.DecodeError):
            raise WorkerLost(self._overdue or f"its worker process {self._obituary()}") from None
        if isinstance(message, Hello):
            self.hello = message
        elif isinstance(message, Graded):
            self.task = None
        return message

    def watch(self) -> None:
        """Kill it when it is overdue."""
        if not self.idle and time.monotonic() > self._deadline and not self._overdue:
            allowed = self.hello.patience if self.hello else START_SECONDS
            self._overdue = f"its worker process did not answer within {allowed:.0f} s and was killed"
            self._process.kill()

    def await_message(self) -> Message:
        """As receive(), with its deadline watched meanwhile."""
        while not self.connection.poll(TICK_SECONDS):
            self.watch()
        return self.receive()

    def _obituary(self) -> str:
        try:
            code = self._process.wait(CLOSE_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            return "closed its socket and was killed"
        if code < 0:
            with contextlib.suppress(ValueError):
                return f"was killed by {signal.Signals(-code).name}"
        return f"ended with status {code}"

    def interrupt(self) -> None:
        """Tell it to end, from any thread."""
        if self.alive:
            self._process.send_signal(signal.SIGINT)

    def close(self) -> None:
        """Tell it to end; leave() waits for that."""
        self.connection.close()

    def leave(self, deadline: float) -> None:
        try:
            self._process.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def close_all(workers: Iterable[Worker]) -> None:
    """End workers together; returns when none is left."""
    workers = list(workers)
    for worker in workers:
        worker.close()
    deadline = time.monotonic() + CLOSE_SECONDS
    for worker in workers:
        worker.leave(deadline)


class Attempts:
    """Which submissions lost their workers, and what becomes of them."""

    def __init__(self, tries: int = TRIES) -> None:
        self._tries = tries
        self._lost: Counter[str] = Counter()
        self._in_a_row = 0

    def again(self, task: Task, why: str, *, machine: bool = False) -> bool:
        """Whether to try `task` once more; GraderError when nothing at all gets through.

        machine: a whole machine went, with all the submissions that it had.
        """
        self._lost[task.name] += 1
        self._in_a_row += not machine
        if self._in_a_row >= LOSSES_IN_A_ROW:
            raise GraderError(f"{LOSSES_IN_A_ROW} workers were lost and nothing was graded in between; the last: {why}")
        return self._lost[task.name] < self._tries

    def succeeded(self) -> None:
        self._in_a_row = 0

    def failed(self, task: Task, why: str, blank: bytes) -> rec.Record:
        """The record of a submission that is not tried again: a grader error, never a grade."""
        record = rec.decode(blank)
        now = dt.datetime.now(dt.UTC).isoformat(timespec="milliseconds")
        fault = rec.GraderFault(f"tried {self._tries} times; the last time {why}")
        checks = [msgspec.structs.replace(check, failure=fault) for check in record.checks]
        files = dict.fromkeys(record.submission.files, task.digest)
        return msgspec.structs.replace(
            record,
            submission=rec.Submission(task.name, files),
            started=now,
            finished=now,
            checks=checks,
            receipt=rec.receipt(record.assignment, record.kit_version, files, checks),
        )


def grade_many(
    setup: Setup, tasks: Iterable[Task], *, jobs: int, stop: Callable[[], bool] = lambda: False
) -> Iterator[rec.Record]:
    """Grade `tasks`, yielding each record as it comes; GraderError when nothing can be graded on this machine.

    stop: asked twice a second; once it says yes, the workers are ended and what is not graded is left.
    """
    pool = _Pool(setup, tasks, jobs)
    try:
        while pool.has_work and not stop():
            yield from pool.step()
    finally:
        close_all(pool.workers)


class _Pool:
    def __init__(self, setup: Setup, tasks: Iterable[Task], jobs: int) -> None:
        self.workers: list[Worker] = []
        self._setup, self._jobs = setup, max(1, jobs)
        self._todo = deque(tasks)
        self._attempts = Attempts()
        self._failed_starts = 0

    @property
    def has_work(self) -> bool:
        return bool(self._todo) or any(worker.task for worker in self.workers)

    def step(self) -> Iterator[rec.Record]:
        """Hand out what can be handed out and wait a little for answers."""
        busy = sum(worker.task is not None for worker in self.workers)
        while len(self.workers) < min(self._jobs, busy + len(self._todo)):
            self.workers.append(Worker(self._setup))
        self._hand_out()
        heard = wait([worker.connection for worker in self.workers], TICK_SECONDS)
        for worker in [worker for worker in self.workers if worker.connection in heard]:
            record = self._attend(worker)
            self._hand_out()  # before the record is written
            if record is not None:
                yield record
        for worker in self.workers:
            worker.watch()

    def _hand_out(self) -> None:
        for worker in self.workers:
            if self._todo and worker.idle:
                worker.ask(self._todo.popleft())

    def _attend(self, worker: Worker) -> rec.Record | None:
        try:
            message = worker.receive()
        except WorkerLost as lost:
            return self._lost(worker, str(lost))
        if isinstance(message, Fault):
            if worker.hello is None:
                raise (UsageError if message.usage else GraderError)(message.text)
            return self._lost(worker, message.text)
        if isinstance(message, Hello):
            self._failed_starts = 0
            return None
        self._attempts.succeeded()
        return rec.decode(message.record)

    def _lost(self, worker: Worker, why: str) -> rec.Record | None:
        self.workers.remove(worker)
        close_all([worker])
        task = worker.task
        if worker.hello is None:
            self._failed_starts += 1
            if self._failed_starts >= STARTS_IN_A_ROW:
                raise GraderError(f"{self._failed_starts} workers could not be started; the last: {why}")
        if task is None:
            return None
        if self._attempts.again(task, why):
            self._todo.appendleft(task)
            return None
        assert worker.hello is not None
        return self._attempts.failed(task, why, worker.hello.blank)
