"""Grading many submissions on one machine: a few worker processes, each with one session and one warm parent."""

from __future__ import annotations

import multiprocessing as mp
import os
import queue
import signal
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from autograder import record as rec
from autograder.errors import GraderError
from autograder.isolation import Isolation
from autograder.manifest import load_course


@dataclass(frozen=True)
class Task:
    """A submission to grade: its name and the bytes of its module."""

    name: str
    data: bytes


@dataclass(frozen=True)
class Setup:
    """What a worker needs to open its session."""

    root: Path
    assignment: str
    isolation: Isolation = Isolation.AUTO
    allow_process: bool = False
    hidden: bool = True
    expression: str | None = None
    explain: bool = True


def grade_many(setup: Setup, tasks: Iterable[Task], *, jobs: int) -> Iterator[rec.Record]:
    """Grade `tasks`, yielding each record as it comes; raises GraderError when a worker fails as a whole."""
    pending = list(tasks)
    jobs = max(1, min(jobs, len(pending)))
    context = mp.get_context("spawn")
    todo: Any = context.Queue()
    done: Any = context.Queue()
    for task in [*pending, *[None] * jobs]:
        todo.put(task)
    workers = [context.Process(target=_work, args=(setup, todo, done), daemon=False) for _ in range(jobs)]
    for worker in workers:
        worker.start()
    try:
        for _ in pending:
            yield rec.decode(_next(done, workers))
    finally:
        for worker in workers:
            worker.join(timeout=5.0)
            if worker.is_alive():
                worker.terminate()
                worker.join()
        todo.cancel_join_thread()


def _next(done: Any, workers: Sequence[BaseProcess]) -> bytes:
    while True:
        try:
            kind, payload = done.get(timeout=0.5)
        except queue.Empty:
            if not any(worker.is_alive() for worker in workers) and done.empty():
                raise GraderError("every worker of the grader has ended before the work was done") from None
            continue
        if kind == "fault":
            raise GraderError(payload)
        return bytes(payload)


def _work(setup: Setup, todo: Any, done: Any) -> None:
    """A worker process: takes tasks until it meets None, or until its grader is gone."""
    from autograder.isolation import WarmParent

    _end_with_the_grader()
    try:
        assignment = load_course(setup.root).assignment(setup.assignment)
        with WarmParent(
            isolation=setup.isolation, allow_process=setup.allow_process, preload=assignment.preloaded
        ) as parent:
            from autograder.session import Session, run_session

            def body(session: Session) -> None:
                while (task := todo.get()) is not None:
                    record = session.grade(task.name, task.data, explain_misconceptions=setup.explain)
                    done.put(("record", rec.encode(record)))

            run_session(assignment, body, parent=parent, hidden=setup.hidden, expression=setup.expression)
    except KeyboardInterrupt:
        os._exit(130)
    except BaseException as error:
        import traceback

        done.put(("fault", f"{type(error).__name__}: {error}\n{traceback.format_exc()}"))


def _end_with_the_grader() -> None:
    """A grader that was killed leaves no worker behind; where the kernel cannot promise it, the queue's end does."""
    if sys.platform == "linux":
        from autograder.isolation import _kernel

        _kernel.die_with_parent(signal.SIGKILL)
