"""`autograder run`: grade one submission and report it while it goes."""

from __future__ import annotations

import hashlib
import os
import shlex
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
    packed: Path | None = None
    """The zip that `pack` writes after this run."""

    @property
    def command(self) -> str:
        """What runs all checks of this submission again."""
        return f"autograder run {self._operands}"

    @property
    def pack_command(self) -> str:
        return f"autograder pack {self._operands}"

    @property
    def outputs(self) -> list[Path]:
        """The files that will be written."""
        json = None if self.json is None or self.json == "-" else Path(self.json)
        return [path for path in (json, self.junit, self.packed) if path is not None]

    @property
    def _operands(self) -> str:
        place = [] if self.submission is None else [shlex.quote(str(self.submission))]
        return " ".join([self.assignment.id, *place])


def find_module(assignment: Assignment, submission: Path | None) -> Path:
    """The hand-in module that `submission` (a file or a folder, default the student's folder) means."""
    place = submission if submission is not None else assignment.student_dir
    try:
        return _module_in(assignment, place)
    except OSError as error:
        raise UsageError(f"{place} cannot be read: {error.strerror}; check its permissions") from None


def _module_in(assignment: Assignment, place: Path) -> Path:
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
    try:
        size = path.stat().st_size
        if size > MAX_MODULE:
            raise UsageError(f"{path} has {size:,} bytes, a hand-in has at most {MAX_MODULE:,}; is it the right file?")
        return path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}; check its permissions") from None


def check_outputs(outputs: list[Path], module: Path) -> None:
    """Refuse, before any work, an output that would overwrite the hand-in `module` or cannot be written."""
    for path in outputs:
        try:
            if path.exists() and path.samefile(module):
                raise UsageError(f"{path} is the submission and would be overwritten; name another file to write")
            _try_to_write(path)
        except OSError as error:
            raise UsageError(f"{path} cannot be written: {error.strerror}; name another place") from None


def _try_to_write(path: Path) -> None:
    """Raise OSError when `path` cannot be written; changes nothing."""
    real = Path(os.path.realpath(path))
    if real.exists() and not real.is_file() and not real.is_dir():
        return  # a pipe or a device: opening it is already seen by its reader
    existed = real.exists()
    real.open("ab").close()
    if not existed:
        real.unlink()


def run(request: Request) -> int:
    """Grade, report, and return the exit status."""
    return exit_status(graded(request))


def graded(request: Request) -> Record:
    """Grade, report, and return the record."""
    with _parent(request) as parent:  # imports torch in the background while this process prepares
        return _run(request, parent)


def exit_status(record: Record) -> int:
    """0 when every check passed, 1 when one did not, 3 when the grader is at fault."""
    from autograder.cli.common import EXIT_FAILED, EXIT_GRADER

    if record.score is None:
        return EXIT_GRADER
    return 0 if all(check.status == "passed" for check in record.checks) else EXIT_FAILED


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


def _run(request: Request, parent: WarmParent) -> Record:
    from rich.console import Console

    from autograder.cli.common import stderr, stdout
    from autograder.render import terminal

    assignment = request.assignment
    path = find_module(assignment, request.submission)
    data = read_module(path)
    check_outputs(request.outputs, path)
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
    return record


def next_step(request: Request, record: Record, path: Path) -> str:
    """The one thing to do next, as a command where there is one."""
    from autograder.render.terminal import first_failure

    first = first_failure(record)
    command = request.command
    if first is None:
        if record.selection:
            return f"run all checks: {command}"
        if request.packed is not None:
            return f"upload {request.packed}"
        if "hidden" in record.suites:
            return "nothing: every check passes"
        return f"hand in: {request.pack_command}"
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
        save(Path(request.json), rec.encode(record))
    if request.junit is not None:
        from autograder.render.junit import junit_xml

        save(request.junit, junit_xml(record))


def save(path: Path, data: bytes) -> None:
    """Write what a run produced."""
    try:
        path.write_bytes(data)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}; the result above is complete") from None
