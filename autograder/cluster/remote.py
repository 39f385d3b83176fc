"""What runs on a Dask worker: it proves what it is, then hands submissions to pool workers that it keeps.

A submission never runs in the Dask worker's own process. Arguments and results are bytes of the structs below.
"""

from __future__ import annotations

import os
import threading
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from autograder.errors import AutograderError
from autograder.isolation import Isolation
from autograder.manifest import Course, find_course, load_course
from autograder.pool import Fault, Graded, Hello, Setup, Task, Worker, WorkerLost, close_all, encode

COURSE_VARIABLE = "AUTOGRADER_COURSE"
IDLE_SECONDS = 300.0
"""After so long without work a pool worker ends, so that a grader who went away leaves nothing behind."""


class Wanted(msgspec.Struct, frozen=True):
    """What a worker has to prove. `run` names this run of `grade`, `nonce` is to be signed with the course secret."""

    run: str
    nonce: str
    assignment: str
    isolation: str
    allow_process: bool


class Proof(msgspec.Struct, frozen=True, tag=True):
    blank: bytes
    """Record of a submission that could not be graded here: has the kit's version and the environment."""
    signature: str


class Refusal(msgspec.Struct, frozen=True, tag=True):
    """Why this worker cannot take the work."""

    reason: str


class Lost(msgspec.Struct, frozen=True, tag=True):
    """The submission took its pool worker down."""

    reason: str


class Unproven(msgspec.Struct, frozen=True, tag=True):
    """This process has proved nothing: the one that had is gone, and its address was given to this one."""


Answer = Proof | Refusal | Lost | Unproven | Graded
decode_answer = msgspec.msgpack.Decoder(Answer).decode


@dataclass
class _Seats:
    """The pool workers of one run of `grade`: one per submission at a time."""

    setup: Setup
    first: Hello
    idle: list[Worker] = field(default_factory=list)
    busy: list[Worker] = field(default_factory=list)
    closed: bool = False


_seats: dict[str, _Seats] = {}
_lock = threading.Lock()


def prove(wanted: bytes) -> bytes:
    """Start a pool worker as wanted and tell what it is: bytes of a Proof or a Refusal."""
    want = msgspec.msgpack.decode(wanted, type=Wanted)
    _forget_ended()
    release(want.run)  # of this very run, when it has come to doubt this worker
    try:
        setup = Setup(_course().root, want.assignment, isolation=Isolation(want.isolation),
                      allow_process=want.allow_process, nonce=want.nonce, idle_seconds=IDLE_SECONDS)  # fmt: skip
        worker = _started(setup)
    except (AutograderError, WorkerLost) as problem:
        return encode(Refusal(str(problem)))
    assert worker.hello is not None
    with _lock:
        _seats[want.run] = _Seats(setup, worker.hello, [worker])
    return encode(Proof(worker.hello.blank, worker.hello.signature))


def grade(run: str, name: str, data: bytes) -> bytes:
    """Grade one submission: bytes of Graded, Lost or Unproven."""
    seats = _seats.get(run)
    if seats is None:
        return encode(Unproven())
    try:
        worker = _take(seats)
        if worker is None:
            return encode(Unproven())
        try:
            worker.ask(Task(name, data))
            message = worker.await_message()
        finally:
            with _lock:
                seats.busy.remove(worker)
        if isinstance(message, Graded):
            _give_back(seats, worker)
            return encode(message)
    except (AutograderError, WorkerLost) as problem:
        return encode(Lost(str(problem)))
    close_all([worker])
    return encode(Lost(message.text if isinstance(message, Fault) else "its worker process started anew"))


def release(run: str) -> None:
    """End the pool workers of a run; returns at once, for it is called in the event loop."""
    with _lock:
        seats = _seats.pop(run, None)
        if seats is None:
            return
        seats.closed = True
        workers = [*seats.idle, *seats.busy]
    for worker in workers:
        worker.interrupt()
    threading.Thread(target=close_all, args=(seats.idle,), daemon=True).start()


def _course() -> Course:
    """The worker's own copy of the course: around its folder, or where the environment says."""
    named = os.environ.get(COURSE_VARIABLE)
    return load_course(Path(named)) if named else find_course(Path.cwd())


def _started(setup: Setup) -> Worker:
    """A pool worker that has said hello."""
    worker = Worker(setup)
    message = worker.await_message()
    if isinstance(message, Hello):
        return worker
    close_all([worker])
    raise AutograderError(message.text if isinstance(message, Fault) else "a pool worker began with a record")


def _take(seats: _Seats) -> Worker | None:
    """A pool worker that waits, or a new one; None when that is not what was proved: the course has been changed."""
    with _lock:
        while seats.idle:
            worker = seats.idle.pop()
            if worker.alive:
                seats.busy.append(worker)
                return worker
            worker.close()
    worker = _started(seats.setup)
    if worker.hello != seats.first:
        close_all([worker])
        return None
    with _lock:
        seats.busy.append(worker)
    return worker


def _give_back(seats: _Seats, worker: Worker) -> None:
    with _lock:
        if not seats.closed:
            seats.idle.append(worker)
            return
    close_all([worker])


def _forget_ended() -> None:
    """Runs whose grader went away without a word, once their pool workers have ended."""
    with _lock:
        for run, seats in list(_seats.items()):
            if not seats.busy and not any(worker.alive for worker in seats.idle):
                del _seats[run]
