"""`autograder run`: grade one submission and report it while it goes."""

from __future__ import annotations

import hashlib
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from autograder.errors import UsageError
from autograder.isolation import Isolation, IsolationError, WarmParent
from autograder.manifest import Assignment

if TYPE_CHECKING:
    from autograder.record import Record

MAX_MODULE = 4 << 20
"""A hand-in module larger than this is refused; ours are a few KiB."""


@dataclass(frozen=True)
class Request:
    """What the command line asked for."""

    assignment: Assignment
    submission: Path | None = None
    expression: str | None = None
    stub: str | None = None
    isolation: Isolation = Isolation.AUTO
    hidden: bool = True
    json: str | None = None
    junit: Path | None = None


def find_module(assignment: Assignment, submission: Path | None) -> Path:
    """The hand-in module that `submission` (a file or a folder, default the student's folder) means."""
    place = submission if submission is not None else assignment.student_dir
    if not place.exists():
        raise UsageError(f"{place} does not exist; name the file {assignment.module} or the folder that holds it")
    if place.is_file():
        return place
    direct = place / assignment.module
    if direct.is_file():
        return direct
    found = sorted(path for path in place.rglob(assignment.module) if path.is_file())
    if len(found) == 1:
        return found[0]
    if found:
        raise UsageError(
            f"{place} holds several {assignment.module}: {', '.join(map(str, found[:5]))}; name one of them"
        )
    others = sorted(path.name for path in place.glob("*.py"))
    seen = f"it holds {', '.join(others[:8])}" if others else "it holds no Python file"
    raise UsageError(f"{place} has no {assignment.module} ({seen}); name the file to grade instead")


def read_module(path: Path) -> bytes:
    size = path.stat().st_size
    if size > MAX_MODULE:
        raise UsageError(f"{path} has {size:,} bytes, a hand-in has at most {MAX_MODULE:,}; is it the right file?")
    try:
        return path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}; check its permissions") from None


def run(request: Request) -> int:
    """Grade, report, and return the exit status."""
    with _parent(request) as parent:  # imports torch in the background while this process prepares
        return _run(request, parent)


def watch(request: Request) -> int:
    """Run now and after every change of the file, until interrupted."""
    from watchfiles import watch as changes

    path = find_module(request.assignment, request.submission)
    with _parent(request) as parent:
        _run(request, parent)
        try:
            for _ in changes(path):
                print("\f" if sys.stdout.isatty() else "", end="")
                _run(request, parent)
        except KeyboardInterrupt:
            pass
    return 0


def _parent(request: Request) -> WarmParent:
    return WarmParent(isolation=request.isolation, allow_process=True, preload=request.assignment.preloaded)


def _run(request: Request, parent: WarmParent) -> int:
    from rich.console import Console

    from autograder.cli.common import EXIT_GRADER, stderr, stdout
    from autograder.render import terminal

    assignment = request.assignment
    path = find_module(assignment, request.submission)
    data = read_module(path)
    console: Console = stderr() if request.json == "-" else stdout()
    digest = hashlib.sha256(data).hexdigest()
    terminal.print_header(console, f"{assignment.id}  {assignment.title}", {assignment.module: digest}, str(path))
    records: list[Record] = []

    progress = terminal.Progress(console)

    def body(session: Any) -> None:
        records.append(session.grade(path.name, data, on_result=progress.add))
        progress.finish()

    from autograder.session import run_session

    try:
        run_session(
            assignment, body, parent=parent, hidden=request.hidden, expression=request.expression, stub=request.stub
        )
    except IsolationError as error:
        raise UsageError(f"no process for the submission: {error}") from None
    record = records[0]
    terminal.print_report(console, record, next_step=next_step(request, record, path))
    _write(request, record)
    if record.score is None:
        return EXIT_GRADER
    return 0 if all(check.status == "passed" for check in record.checks) else 1


def next_step(request: Request, record: Record, path: Path) -> str:
    """The one thing to do next, as a command where there is one."""
    from autograder.render.terminal import first_failure

    first = first_failure(record)
    command = f"autograder run {record.assignment}"
    if request.submission is not None:
        command += f" {request.submission}"
    if first is None:
        if "hidden" in record.suites:
            return "nothing: every check passes"
        return f"hand in: autograder pack {record.assignment}"
    if first.status == "grader_error":
        return "tell the course staff, with this output: the grader has a fault"
    if first.failure is not None and first.hint is None and first.status == "crashed":
        return f"correct {path} so that Python can import it, then {command}"
    if first.status == "not_implemented":
        hints = f"autograder hint {record.assignment} {first.stub}"
        return f"write {first.stub}, then {command} --stub {first.stub} (hints: {hints})"
    return f"{command} --stub {first.stub} after a change; to stop in your code: put breakpoint() there and add --debug"


def _write(request: Request, record: Record) -> None:
    from autograder import record as rec

    if request.json == "-":
        sys.stdout.buffer.write(rec.encode(record))
        sys.stdout.buffer.flush()
    elif request.json is not None:
        _save(Path(request.json), rec.encode(record))
    if request.junit is not None:
        from autograder.render.junit import junit_xml

        _save(request.junit, junit_xml(record))


def _save(path: Path, data: bytes) -> None:
    try:
        path.write_bytes(data)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}; the result above is complete") from None
