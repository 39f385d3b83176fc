"""Python source that a person wrote, parsed: whatever keeps it from being read is one plain error."""

from __future__ import annotations

import ast
from pathlib import Path

from autograder.errors import UsageError


def parsed(path: Path, data: bytes, remedy: str) -> ast.Module:
    """The syntax tree of `data`, the contents of `path`; UsageError with the line and `remedy` when it has none."""
    try:
        return ast.parse(data)
    except SyntaxError as error:  # also of bytes that are no text
        place = f"{path}:{error.lineno}" if error.lineno else str(path)
        raise UsageError(f"{place}: {error.msg}", remedy) from None
    except ValueError as error:
        raise UsageError(f"{path} is not Python source ({error})", remedy) from None
    except (RecursionError, MemoryError):
        raise UsageError(f"{path} cannot be parsed: its expressions are nested too deeply", remedy) from None
