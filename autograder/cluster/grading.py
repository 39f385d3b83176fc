"""The grader's end of a Dask cluster: workers prove themselves, take submissions, and may vanish at any moment.

Dask places nothing by itself here: every task names its worker, because only a worker that has proved isolation, kit
and course secret may have one, and because the submissions that a lost worker had are then known.
"""

from __future__ import annotations

import hmac
import json
import logging
import queue
import secrets
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from autograder import record as rec
from autograder.cluster import remote
from autograder.errors import GraderError, UsageError
from autograder.isolation import Isolation
from autograder.kit_version import kit_version
from autograder.manifest import Assignment, load_course
from autograder.pool import TICK_SECONDS, Attempts, Graded, Setup, Task, encode
from autograder.poolworker import sign

TRIES = 3
"""How often a submission may lose its worker: here a machine that is taken away counts, too."""
CONNECT_SECONDS = 20
LOOK_SECONDS = 1.0
FETCH_SECONDS = 20
"""For a result that is ready on a worker; after that the worker is as good as lost."""
GRACE_SECONDS = 20.0
"""How long nobody but refused workers may be there: a lost one is often back after a few seconds."""


def grade_on_cluster(
    setup: Setup, tasks: Sequence[Task], *, address: str, say: Callable[[str], None], stop: Callable[[], bool]
) -> Iterator[rec.Record]:
    """Grade `tasks` on the workers of a scheduler, yielding each record as it comes.

    address: of the scheduler, or the path of its scheduler file. say: prints a line about workers. stop: asked twice a
    second. UsageError when there is no scheduler or no worker that can take the work, GraderError when it goes away.
    """
    client = _connect(address)
    course = _Cluster(client, setup, tasks, say)
    try:
        while course.has_work and not stop():
            yield from course.step()
    finally:
        course.release()
        client.close()


def _connect(given: str) -> Any:
    if find_spec("distributed") is None:
        raise UsageError(
            "--scheduler needs distributed, which is not installed; pip install 'ml-systems-autograder[staff]'"
        )
    logging.disable(logging.CRITICAL)  # what Dask would say about lost workers is said in our words
    address = _address(given)
    try:
        return _distributed().Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        raise UsageError(
            f"no Dask scheduler answers at {address} ({error}); start one with `dask scheduler`, or check the address"
        ) from None


def _distributed() -> Any:
    """Dask's package, which is large and has no complete types."""
    return import_module("distributed")


def _address(given: str) -> str:
    """The scheduler's address, from its file if that is what is given; judged here, for a Client cannot say no."""
    distributed = _distributed()
    file, address = Path(given), given
    try:
        if file.is_file():
            address = str(json.loads(file.read_bytes())["address"])
        scheme, place = distributed.comm.parse_address(address)
        distributed.comm.parse_host_port(place)
    except (OSError, ValueError, KeyError, TypeError):
        raise UsageError(
            f"{given} is no address of a Dask scheduler (as tls://host:8786) and no scheduler file"
        ) from None
    if scheme == "tls" and distributed.Security().get_connection_args("client").get("ssl_context") is None:
        raise UsageError(f"{address} asks for TLS and Dask is given no certificates; see docs/grading.md, Security")
    return address


@dataclass
class _Machine:
    """A Dask worker: so many seats, and what runs on them."""

    address: str
    seats: int
    proof: remote.Proof | None = None
    refused: str = ""
    running: dict[str, tuple[Task | None, Any]] = field(default_factory=dict)
    """Task (None: its proof) and future by the future's key."""

    @property
    def free(self) -> int:
        return self.seats - len(self.running) if self.proof is not None else 0


class _Cluster:
    def __init__(self, client: Any, setup: Setup, tasks: Sequence[Task], say: Callable[[str], None]) -> None:
        self._client, self._say = client, say
        self._assignment: Assignment = load_course(setup.root).assignment(setup.assignment)
        self._kit = kit_version(self._assignment)
        self._run = secrets.token_hex(8)
        self._wanted = remote.Wanted(
            self._run, secrets.token_hex(32), setup.assignment, str(setup.isolation), setup.allow_process
        )
        self._todo = deque(tasks)
        self._attempts = Attempts(TRIES)
        self._machines: dict[str, _Machine] = {}
        self._done: queue.SimpleQueue[tuple[_Machine, Any]] = queue.SimpleQueue()
        self._looked = self._usable = time.monotonic() - LOOK_SECONDS
        self._told_waiting = False
        self._versions: set[tuple[str | None, ...]] = set()

    @property
    def has_work(self) -> bool:
        return bool(self._todo) or any(task for m in self._machines.values() for task, _ in m.running.values())

    def step(self) -> Iterator[rec.Record]:
        """Look who is there, hand out what can be handed out, wait a little for an answer."""
        if time.monotonic() - self._looked >= LOOK_SECONDS:
            yield from self._look()
        self._hand_out()
        try:
            machine, future = self._done.get(timeout=TICK_SECONDS)
        except queue.Empty:
            return
        yield from self._take(machine, future)

    # ------------------------------------------------------------------------------------------------------- workers
    def _look(self) -> Iterator[rec.Record]:
        present = self._present()
        for machine in [m for m in self._machines.values() if m.address not in present]:
            yield from self._gone(machine, "was lost")
        for address, threads in present.items():
            if address not in self._machines:
                machine = self._machines[address] = _Machine(address, threads)
                self._submit(machine, None, remote.prove, encode(self._wanted))
        self._looked = time.monotonic()
        self._require_workers()

    def _present(self) -> dict[str, int]:
        try:
            if self._client.status == "running":
                return dict(self._client.nthreads())
        except (OSError, TimeoutError, RuntimeError):
            pass
        raise GraderError("the Dask scheduler is gone; every record so far is complete, the same command continues")

    def _require_workers(self) -> None:
        """Say when nobody can work; UsageError when that is because of who is there."""
        machines = self._machines.values()
        if any(not machine.refused for machine in machines):
            self._usable = time.monotonic()
            self._told_waiting = False
        elif not machines:
            if not self._told_waiting:
                self._say("waiting for workers; Ctrl-C stops, and the same command continues")
            self._told_waiting = True
        elif time.monotonic() - self._usable > GRACE_SECONDS:
            reasons = "\n".join(f"  {machine.address}: {machine.refused}" for machine in machines)
            raise UsageError(f"no worker of this cluster can grade {self._assignment.id}:\n{reasons}")

    def _gone(self, machine: _Machine, how: str, *, machine_lost: bool = True) -> Iterator[rec.Record]:
        """A worker went: what it had is tried elsewhere."""
        self._machines.pop(machine.address, None)
        running, machine.running = machine.running, {}
        tasks = [task for task, _ in running.values() if task is not None]
        self._client.cancel([future for _, future in running.values()])
        self._say(f"worker {machine.address} {how}; submissions to be graded again: {len(tasks)}")
        for task in tasks:
            yield from self._again(machine, task, f"its worker {how}", machine_lost=machine_lost)

    def _judge(self, machine: _Machine, answer: remote.Answer) -> None:
        """Take a worker on, or say why not."""
        match answer:
            case remote.Proof():
                machine.refused = self._objection(answer)
            case remote.Refusal(reason):
                machine.refused = reason
            case _:
                machine.refused = "it answers as another version of the autograder would"
        if machine.refused or not isinstance(answer, remote.Proof):
            self._say(f"worker {machine.address} is not used: {machine.refused}")
            return
        machine.proof = answer
        environment = rec.decode(answer.blank).environment
        self._say(
            f"worker {machine.address}: {machine.seats} at a time, isolation {environment.isolation}, "
            f"python {environment.python}, torch {environment.torch}, numpy {environment.numpy}"
        )
        known = len(self._versions)
        self._versions.add((environment.torch, environment.numpy))
        if known and len(self._versions) > known:
            self._say("warning: workers differ in torch or numpy; results at the edge of a tolerance may differ, too")

    def _objection(self, proof: remote.Proof) -> str:
        blank = rec.decode(proof.blank)
        if blank.kit_version != self._kit:
            return f"its kit is {blank.kit_version}, this one is {self._kit}; bring its copy of the course up to date"
        if not hmac.compare_digest(proof.signature, sign(self._assignment, self._kit, self._wanted.nonce)):
            return "it has another course secret; give it the same secret file or AUTOGRADER_SECRET"
        if blank.environment.isolation == Isolation.PROCESS and not self._wanted.allow_process:
            return "it has no isolation; `autograder doctor` there says what is missing"
        return ""

    # --------------------------------------------------------------------------------------------------- submissions
    def _hand_out(self) -> None:
        for machine in self._machines.values():
            while self._todo and machine.free > 0:
                task = self._todo.popleft()
                self._submit(machine, task, remote.grade, self._run, task.name, task.data)

    def _submit(self, machine: _Machine, task: Task | None, function: Callable[..., bytes], *args: Any) -> None:
        future = self._client.submit(
            function,
            *args,
            key=f"autograder-{self._run}-{secrets.token_hex(8)}",
            workers=[machine.address],
            allow_other_workers=False,
            pure=False,
        )
        machine.running[future.key] = (task, future)
        future.add_done_callback(lambda future: self._done.put((machine, future)))

    def _take(self, machine: _Machine, future: Any) -> Iterator[rec.Record]:
        """What a task came to."""
        task, _ = machine.running.get(future.key, (None, None))
        if future.key not in machine.running:
            return  # of a worker that was given up
        answer = self._answer(future)
        if isinstance(answer, str):
            if task is None:
                machine.running.pop(future.key)
                self._judge(machine, remote.Refusal(answer))
            else:
                self._present()  # or it is the scheduler that does not answer
                yield from self._gone(machine, f"does not answer ({answer})", machine_lost=False)
            return
        if isinstance(answer, remote.Unproven):
            yield from self._gone(machine, "was started anew")
            return
        del machine.running[future.key]
        if task is None:
            self._judge(machine, answer)
            return
        if isinstance(answer, Graded) and (record := self._checked(task, answer.record)) is not None:
            self._attempts.succeeded()
            self._hand_out()  # before the record is written
            yield record
        else:
            why = answer.reason if isinstance(answer, remote.Lost) else "its worker answered for something else"
            yield from self._again(machine, task, why)

    def _answer(self, future: Any) -> remote.Answer | str:
        """The worker's answer, or what went wrong in getting it."""
        if future.status not in ("finished", "error"):
            return f"its task is {future.status}"
        try:
            return remote.decode_answer(future.result(timeout=FETCH_SECONDS))
        except Exception as error:  # whatever was raised there, or on the way
            return f"{type(error).__name__}: {error}".strip().splitlines()[0][:300]

    def _checked(self, task: Task, data: bytes) -> rec.Record | None:
        """The record, if it is of this submission and this kit."""
        record = rec.decode(data)
        same = record.submission == rec.Submission(task.name, {self._assignment.module: task.digest})
        return record if same and record.kit_version == self._kit else None

    def _again(self, machine: _Machine, task: Task, why: str, *, machine_lost: bool = False) -> Iterator[rec.Record]:
        if self._attempts.again(task, why, machine=machine_lost):
            self._todo.appendleft(task)
        elif machine.proof is not None:
            yield self._attempts.failed(task, why, machine.proof.blank)

    def release(self) -> None:
        """End what this run keeps on the workers; what cannot be reached ends by itself after a while."""
        with suppress(Exception):
            if self._machines and self._client.status == "running":
                self._client.run(remote.release, self._run, workers=list(self._machines), on_error="ignore")
