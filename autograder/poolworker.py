"""A worker process: one session with one warm parent, one submission after the other over a socket.

It ends with its grader, however that one ends: a thread watches the socket and interrupts what is going on.
"""

from __future__ import annotations

import contextlib
import hmac
import os
import select
import signal
import threading
import time
import traceback
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from autograder import record as rec
from autograder.errors import AutograderError, GraderError
from autograder.isolation import IsolationError, WarmParent
from autograder.manifest import Assignment, load_course
from autograder.pool import CLOSE_SECONDS, Fault, Graded, Hello, Setup, Task, encode

if TYPE_CHECKING:
    from autograder.session import Session


class _Done(Exception):
    """Nothing more to grade."""


def main(descriptor: int) -> None:
    """Entry of the process; the descriptor is its end of the socket."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's `&` would have it ignored
    threading.Thread(target=_end_with_the_grader, args=(descriptor,), daemon=True).start()
    connection: Connection[Any, Any] = Connection(descriptor)
    try:
        setup = msgspec.msgpack.decode(connection.recv_bytes(), type=Setup, dec_hook=_path)
        _serve(connection, setup)
    except (KeyboardInterrupt, EOFError, _Done):
        return
    except Exception as error:
        with contextlib.suppress(OSError):
            connection.send_bytes(encode(_fault(error)))


def _path(kind: type, value: Any) -> Any:
    return kind(value) if kind is Path else value


def _fault(error: Exception) -> Fault:
    if isinstance(error, AutograderError | IsolationError):
        return Fault(str(error), usage=not isinstance(error, GraderError))
    return Fault(f"{type(error).__name__}: {error}\n{traceback.format_exc()}")


def _serve(connection: Connection[Any, Any], setup: Setup) -> None:
    assignment = load_course(setup.root).assignment(setup.assignment)
    with WarmParent(
        isolation=setup.isolation, allow_process=setup.allow_process, preload=assignment.preloaded
    ) as parent:
        from autograder.session import run_session

        def body(session: Session) -> None:
            parent.ready()
            connection.send_bytes(encode(_hello(session, assignment, setup.nonce)))
            while True:
                task = _next(connection, setup.idle_seconds)
                record = session.grade(task.name, task.data, explain_misconceptions=setup.explain)
                connection.send_bytes(encode(Graded(rec.encode(record))))

        try:
            run_session(assignment, body, parent=parent, hidden=setup.hidden, expression=setup.expression)
        finally:
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # the end of the warm parent is not to be cut short


def _next(connection: Connection[Any, Any], idle_seconds: float | None) -> Task:
    if not connection.poll(idle_seconds):
        raise _Done
    return msgspec.msgpack.decode(connection.recv_bytes(), type=Task)


def _hello(session: Session, assignment: Assignment, nonce: str) -> Hello:
    blank = session.blank()
    limits = assignment.limits
    # Twice, because known wrong variants are tried too; the rest is the grader's own work.
    patience = 2 * limits.total_seconds + limits.check_seconds + 60.0
    return Hello(rec.encode(blank), patience, sign(assignment, blank.kit_version, nonce))


def sign(assignment: Assignment, kit: str, nonce: str) -> str:
    """Shows that two machines have the same course secret without telling it."""
    secret = assignment.course.secret() or b""
    return hmac.new(secret, f"{nonce} {assignment.id} {kit}".encode(), "sha256").hexdigest()


def _end_with_the_grader(descriptor: int) -> None:
    poller = select.poll()
    poller.register(descriptor, 0)  # tells of the other end's closing only
    poller.poll()
    signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
    time.sleep(CLOSE_SECONDS)
    os._exit(1)
