"""`autograder pack`: a hand-in that was checked before it is uploaded."""

from __future__ import annotations

import ast
import hashlib
import zipfile
from pathlib import Path

from autograder.errors import UsageError
from autograder.manifest import Assignment
from autograder.running import Request, find_module, read_module, run

EPOCH = (2020, 1, 1, 0, 0, 0)
"""Fixed time stamps: the same file always gives the same zip."""


def pack(assignment: Assignment, submission: Path | None, output: Path) -> int:
    """Check the module and write `output`; refuses what could not be graded, warns of what is unfinished.

    Returns the exit status of the run (0 all passed, 1 something failed); the zip is written in both cases.
    """
    path = find_module(assignment, submission)
    data = read_module(path)
    _check(assignment, path, data)
    status = run(Request(assignment, path, hidden=False))
    if status not in (0, 1):
        return status
    with zipfile.ZipFile(output, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(zipfile.ZipInfo(assignment.module, EPOCH), data)
    print(f"\nwrote {output}: {assignment.module}, sha256 {hashlib.sha256(data).hexdigest()}")
    if status:
        print("not every public check passes yet; you can hand it in as it is")
    return status


def _check(assignment: Assignment, path: Path, data: bytes) -> None:
    """Refuse a file that cannot be the hand-in."""
    if not data.strip():
        raise UsageError(f"{path} is empty; save your editor's file and try again")
    try:
        tree = ast.parse(data)
    except SyntaxError as error:
        raise UsageError(f"{path}:{error.lineno}: {error.msg}; correct the syntax before you hand it in") from None
    except ValueError as error:
        raise UsageError(f"{path} is not Python source ({error}); hand in the .py file itself") from None
    defined = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    missing = [name for name in assignment.stub_names if name not in defined]
    if len(missing) == len(assignment.stub_names):
        raise UsageError(f"{path} defines none of {', '.join(missing)}; is it the module of {assignment.id}?")
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level:
            raise UsageError(
                f"{path}:{node.lineno}: a relative import; only {assignment.module} is graded, put it all there"
            )
    for module, line in _neighbours(tree, path.parent):
        raise UsageError(f"{path}:{line}: imports {module}.py from your folder; only {assignment.module} is graded")


def _neighbours(tree: ast.AST, folder: Path) -> list[tuple[str, int]]:
    """Imports of files that lie beside the hand-in and will not be handed in."""
    found = []
    for node in ast.walk(tree):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module]
        found += [(name, node.lineno) for name in names if (folder / f"{name.partition('.')[0]}.py").is_file()]  # type: ignore[attr-defined]
    return found
