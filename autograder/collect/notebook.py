"""A notebook that was handed in instead of the module: its code cells as Python, Jupyter's magics commented out."""

from __future__ import annotations

import ast
import json
import re
import warnings
from collections.abc import Iterator
from typing import Any

_CODE_MAGICS = ("time", "timeit", "capture", "prun")
"""Cell magics whose cell is Python all the same."""
_MAGIC = re.compile(r"^\s*([%!?]|[\w., ]+=\s*[%!])|\?\s*$")


def extract(data: bytes) -> str | None:
    """The code of a notebook of format 3 or 4 as one module; None when it is none."""
    try:
        notebook = json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return None
    cells = list(_code_cells(notebook))
    if not isinstance(notebook, dict) or not ({"cells", "worksheets"} & set(notebook)):
        return None
    return "\n\n".join(f"# cell {number}\n{_python(source)}" for number, source in cells) + "\n"


def _code_cells(notebook: Any) -> Iterator[tuple[int, str]]:
    """Number (from 1, all cells counted) and source of each code cell."""
    for number, cell in enumerate(_cells(notebook), 1):
        if not isinstance(cell, dict) or cell.get("cell_type") != "code":
            continue
        source = cell.get("source", cell.get("input", ""))
        if isinstance(source, list):
            source = "".join(line for line in source if isinstance(line, str))
        if isinstance(source, str) and source.strip():
            yield number, source.replace("\r\n", "\n").rstrip()


def _cells(notebook: Any) -> Iterator[Any]:
    if not isinstance(notebook, dict):
        return
    groups = [notebook, *(notebook.get("worksheets") or [])]
    for group in groups:
        cells = group.get("cells") if isinstance(group, dict) else None
        yield from cells if isinstance(cells, list) else []


def _python(source: str) -> str:
    """The cell as Python can read it; a line that is none and no magic either stays, for the student to answer for."""
    lines = source.split("\n")
    first = next(place for place, line in enumerate(lines) if line.strip())
    if lines[first].startswith("%%"):
        magic = lines[first][2:].split(maxsplit=1)
        if not magic or magic[0] not in _CODE_MAGICS:
            return "\n".join(f"# {line}".rstrip() for line in lines)
        lines[first] = f"# {lines[first]}"
    for _ in range(len(lines)):
        wrong = _wrong_line(lines)
        if wrong is None or not _MAGIC.search(lines[wrong]):
            break
        lines[wrong] = _commented(lines[wrong])
    return "\n".join(lines)


def _wrong_line(lines: list[str]) -> int | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse("\n".join(lines))
    except SyntaxError as error:
        line = (error.lineno or 0) - 1
        return line if 0 <= line < len(lines) else None
    except (ValueError, RecursionError, MemoryError):
        return None
    return None


def _commented(line: str) -> str:
    """As a comment; inside a block something has to stand in its place."""
    code = line.lstrip()
    indent = line[: len(line) - len(code)]
    return f"{indent}pass  # {code}" if indent else f"# {code}"
