"""What the demo of every assignment needs: the student's module, and a folder for its figures.

A mistake in either is one message and an exit status, as for every command; never a traceback through this loader.
"""

from __future__ import annotations

import importlib.util
import sys
import tempfile
import traceback
import types
from pathlib import Path
from typing import NoReturn


def load_module(path: Path, *, solution: bool) -> types.ModuleType:
    """The student's module `path`, which lies beside the demo, or the instructor's of the same assignment.

    Ends the program (status 1) with the line of the mistake when it cannot be imported.
    """
    if solution and path.parents[1].name != "solutions":
        path = path.parents[2] / "solutions" / path.parent.name / path.name
    if not path.exists():
        _stop(f"{path.name} is missing: expected {path}", 1)
    spec = importlib.util.spec_from_file_location(f"student_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[module.__name__] = module  # dataclasses look their module up there
    try:
        spec.loader.exec_module(module)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # `exit()` in the module too: a demo that ends without a word helps nobody
        _stop(_explained(path, error), 1)
    return module


def figure_folder(path: Path) -> Path:
    """`path`, made when it is missing; ends the program (status 2) when no file can be written there."""
    try:
        path.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=path).close()
    except OSError as error:
        _stop(f"no figures can be written to {path}: {error.strerror}; name another folder with --out", 2)
    return path


def _explained(path: Path, error: BaseException) -> str:
    """Where in the module the import ended, and by what."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
    if isinstance(error, SyntaxError) and error.filename == str(path):
        lines, what = [error.lineno], error.msg
    elif not lines and isinstance(error, OSError):  # raised by reading the module, not in it
        return f"{path} cannot be read: {error.strerror}; check its permissions"
    else:
        what = f"{type(error).__name__}: {error}".rstrip(": ")
    place = f"{path}:{lines[-1]}" if lines and lines[-1] else str(path)
    return f"{place}: {what}; correct {path.name} so that Python can import it"


def _stop(message: str, status: int) -> NoReturn:
    print(f"error: {message}", file=sys.stderr)
    raise SystemExit(status)
