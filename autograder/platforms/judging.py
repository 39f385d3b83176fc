"""Grading one hand-in inside a platform's container: no terminal, no network, little memory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from autograder.errors import GraderError
from autograder.isolation import Isolation, Layer, WarmParent
from autograder.manifest import Assignment, load_course
from autograder.platforms import settings as bundle_settings
from autograder.platforms.settings import Settings

if TYPE_CHECKING:
    from autograder.record import Record

_OOM = Path("/proc/self/oom_score_adj")
_END_FIRST = 500


class Judged:
    """A record, and the walls behind which it came about."""

    def __init__(self, record: Record, mode: str, layers: list[Layer]) -> None:
        self.record, self.mode, self.layers = record, mode, layers


def load(bundle: Path, settings: Settings) -> Assignment:
    """The bundled assignment, with the limits of this container."""
    assignment = load_course(bundle / bundle_settings.COURSE).assignment(settings.assignment)
    if not assignment.has_hidden:
        raise GraderError(f"{bundle} has no hidden checks of {settings.assignment}; package the assignment again")
    return bundle_settings.limited(assignment, settings)


def judge(assignment: Assignment, data: bytes, settings: Settings) -> Judged:
    """Run every check on the module whose bytes are `data`.

    Raises GraderError when the image lacks a package that a check needs: the points of such a check would be lost to
    nobody's fault. IsolationError when this container cannot isolate as the bundle asks for.
    """
    trusted = settings.isolation is Isolation.PROCESS
    with _children_end_first():
        parent = WarmParent(isolation=settings.isolation, allow_process=trusted, preload=assignment.preloaded)
    with parent:
        parent.ready()
        record = _graded(assignment, data, parent)
        judged = Judged(record, parent.mode, parent.layers)
    missing = [check.id for check in record.checks if check.status == "not_runnable"]
    if missing:
        raise GraderError(
            f"this image lacks a package that {', '.join(missing[:5])} need; see requirements.txt, and build it again"
        )
    return judged


def _graded(assignment: Assignment, data: bytes, parent: WarmParent) -> Record:
    from autograder.session import Session, run_session

    records: list[Record] = []

    def body(session: Session) -> None:
        records.append(session.grade("submission", data))

    run_session(assignment, body, parent=parent)
    return records[0]


@contextmanager
def _children_end_first() -> Iterator[None]:
    """Processes started inside inherit that the kernel ends them before the grader when the container's memory is used
    up: the submission loses a check, not its result.

    Source: proc_pid_oom_score_adj(5), https://man7.org/linux/man-pages/man5/proc_pid_oom_score_adj.5.html.
    """
    before = None
    with suppress(OSError):
        before = _OOM.read_text()
        _OOM.write_text(str(_END_FIRST))
    try:
        yield
    finally:
        if before is not None:
            with suppress(OSError):
                _OOM.write_text(before)
