"""`autograder pack`: a hand-in that was checked before it is uploaded."""

from __future__ import annotations

import ast
import hashlib
import io
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from autograder.errors import UsageError
from autograder.manifest import Assignment
from autograder.running import Request, exit_status, find_module, graded, read_module, save
from autograder.source import parsed

if TYPE_CHECKING:
    from autograder.record import Record

EPOCH = (2020, 1, 1, 0, 0, 0)
"""Fixed time stamps: the same file always gives the same zip."""


def pack(assignment: Assignment, submission: Path | None, output: Path) -> int:
    """Check the module and write `output`; refuses what could not be graded, warns of what is unfinished.

    Returns the exit status of the run (0 all passed, 1 something failed); the zip is written in both cases.
    """
    path = find_module(assignment, submission)
    data = read_module(path)
    missing = _check(assignment, path, data)
    record = graded(Request(assignment, submission, hidden=False, packed=output))
    status = exit_status(record)
    if status not in (0, 1):
        return status
    save(output, _zipped(assignment.module, data))
    print(f"\nwrote {output}: {assignment.module}, sha256 {hashlib.sha256(data).hexdigest()}")
    for warning in _warnings(assignment, path, missing, record):
        print(f"warning: {warning}")
    return status


def _zipped(name: str, data: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        entry = zipfile.ZipInfo(name, EPOCH)
        entry.compress_type = zipfile.ZIP_DEFLATED
        archive.writestr(entry, data)
    return buffer.getvalue()


def _warnings(assignment: Assignment, path: Path, missing: list[str], record: Record) -> Iterator[str]:
    """What a student should know before uploading."""
    if missing:
        yield f"{path} does not seem to define {', '.join(missing)}; is it the module of {assignment.id}?"
    elsewhere = f"if your work is in another file, name it: autograder pack {assignment.id} FILE"
    if all(check.status == "not_implemented" for check in record.checks):
        yield f"nothing in {path} is written yet, so this hand-in earns nothing; {elsewhere}"
    elif not record.score:
        yield f"{path} passes no public check, so this hand-in earns nothing so far; {elsewhere}"
    elif any(check.status != "passed" for check in record.checks):
        yield "not every public check passes yet; you can hand it in as it is"


def _check(assignment: Assignment, path: Path, data: bytes) -> list[str]:
    """Refuse a file that cannot be the hand-in; the names that it does not seem to bind."""
    if not data.strip():
        raise UsageError(f"{path} is empty; save your editor's file and try again")
    tree = parsed(path, data, f"correct {path.name} before you hand it in")
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level:
            raise UsageError(
                f"{path}:{node.lineno}: a relative import; only {assignment.module} is graded, put it all there"
            )
    for module, line in _neighbours(tree, path.parent):
        raise UsageError(f"{path}:{line}: imports {module}.py from your folder; only {assignment.module} is graded")
    bound = set(_bound(tree))
    return [] if "*" in bound else [name for name in assignment.stub_names if name not in bound]


def _bound(tree: ast.Module) -> Iterator[str]:
    """Names that the module binds at its own level, under `if` and `try` too; `*` for a star import."""
    nodes: list[ast.AST] = [tree]
    while nodes:
        node = nodes.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Import | ast.ImportFrom):
            yield from (alias.asname or alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif not isinstance(node, ast.Lambda | ast.comprehension):
            nodes.extend(ast.iter_child_nodes(node))


def _neighbours(tree: ast.AST, folder: Path) -> list[tuple[str, int]]:
    """Imports of files that lie beside the hand-in and will not be handed in."""
    found = []
    for node in ast.walk(tree):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module]
        found += [(name, node.lineno) for name in names if (folder / f"{name.partition('.')[0]}.py").is_file()]  # type: ignore[attr-defined]
    return found
