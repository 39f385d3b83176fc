"""Notebooks as students receive them: no solution, no hidden test, no output; nbgrader's metadata stays.

Works on the JSON itself, so that releasing needs no Jupyter package.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from autograder.course.errors import ManifestError
from autograder.stubs import SOLUTION, Region, find_regions

CODE_STUB = ("# YOUR CODE HERE", "raise NotImplementedError()")
TEXT_STUB = ("YOUR ANSWER HERE",)
_OWN_CELL_METADATA = ("nbgrader", "tags", "slideshow", "jupyter", "deletable", "editable")
_OWN_METADATA = ("kernelspec", "language_info", "celltoolbar", "authors", "title")
_MARK_SCHEME = ("=== BEGIN MARK SCHEME ===", "=== END MARK SCHEME ===")


def release_notebook(path: Path, text: str) -> str:
    """The notebook `text` without anything that stays with the staff, as deterministic JSON."""
    notebook = _parse(path, text)
    cells = [_release_cell(path, cell, index) for index, cell in enumerate(notebook["cells"])]
    _reject_repeated_ids(path, cells)
    released = {
        "cells": cells,
        "metadata": _only(notebook.get("metadata", {}), _OWN_METADATA),
        "nbformat": 4,
        "nbformat_minor": max(5, notebook.get("nbformat_minor", 5)),
    }
    return json.dumps(released, ensure_ascii=False, indent=1, sort_keys=True) + "\n"


def answers(path: Path, text: str) -> Iterator[str]:
    """What `release_notebook` takes out of the cells: solutions, hidden tests, mark schemes."""
    for index, cell in enumerate(_parse(path, text)["cells"]):
        lines = _source(cell).split("\n")
        nbgrader = cell.get("metadata", {}).get("nbgrader", {})
        kept = set(_release_lines(path, lines, index, cell["cell_type"], nbgrader))
        yield "\n".join(line for line in lines if line not in kept and not line.lstrip().startswith("### "))


def _parse(path: Path, text: str) -> dict[str, Any]:
    try:
        notebook = json.loads(text)
    except json.JSONDecodeError as fault:
        raise ManifestError(path, fault.lineno, f"not a notebook ({fault.msg})", "save it from Jupyter again") from None
    known = isinstance(notebook, dict) and notebook.get("nbformat") == 4 and isinstance(notebook.get("cells"), list)
    if not known or not all(isinstance(cell, dict) and "cell_type" in cell for cell in notebook["cells"]):
        raise ManifestError(path, 1, "not a notebook of format 4", "convert it with 'jupyter nbconvert --to notebook'")
    result: dict[str, Any] = notebook
    return result


def _release_cell(path: Path, cell: dict[str, Any], index: int) -> dict[str, Any]:
    kind = cell["cell_type"]
    metadata = _only(cell.get("metadata", {}), _OWN_CELL_METADATA)
    if "nbgrader" in metadata:  # a checksum would be of the text with the solution
        metadata["nbgrader"] = {key: value for key, value in metadata["nbgrader"].items() if key != "checksum"}
    lines = _release_lines(path, _source(cell).split("\n"), index, kind, metadata.get("nbgrader", {}))
    released = {
        "cell_type": kind,
        "id": cell.get("id", f"cell-{index}"),
        "metadata": metadata,
        "source": [line + "\n" for line in lines[:-1]] + [line for line in lines[-1:] if line],
    }
    if kind == "code":
        released |= {"execution_count": None, "outputs": []}
    if "attachments" in cell and "(attachment:" in "".join(lines):  # a removed answer takes its pictures along
        released["attachments"] = cell["attachments"]
    return released


def _release_lines(path: Path, lines: list[str], index: int, kind: str, nbgrader: dict[str, Any]) -> list[str]:
    lines = _without_mark_scheme(path, lines, index)
    stub = CODE_STUB if kind == "code" else TEXT_STUB
    solution = False
    for region in reversed(_regions(path, lines, index)):
        solution |= region.kind == SOLUTION
        inner = [region.indent + line for line in stub] if region.kind == SOLUTION else []
        lines = lines[: region.first] + inner + lines[region.last + 1 :]
    is_answer = nbgrader.get("solution", False) and not nbgrader.get("task", False)
    return list(stub) if is_answer and not solution else lines


def _regions(path: Path, lines: list[str], index: int) -> list[Region]:
    try:
        return find_regions(path, lines)
    except ManifestError as fault:
        message = f"cell {index + 1}, line {fault.line}: {fault.message}"
        raise ManifestError(path, 1, message, fault.remedy) from None


def _without_mark_scheme(path: Path, lines: list[str], index: int) -> list[str]:
    """nbgrader's manually graded tasks keep the marking scheme between two lines of their own."""
    begin, end = ([number for number, line in enumerate(lines) if mark in line] for mark in _MARK_SCHEME)
    if not begin and not end:
        return lines
    if len(begin) != 1 or len(end) != 1 or begin[0] > end[0]:
        message = f"cell {index + 1}: the mark scheme has no single beginning and end"
        raise ManifestError(path, 1, message, f"write one '{_MARK_SCHEME[0]}' and one '{_MARK_SCHEME[1]}'")
    return lines[: begin[0]] + lines[end[0] + 1 :]


def _reject_repeated_ids(path: Path, cells: list[dict[str, Any]]) -> None:
    for key, ids in (
        ("cell id", [cell["id"] for cell in cells]),
        (
            "grade_id",
            [cell["metadata"]["nbgrader"].get("grade_id") for cell in cells if "nbgrader" in cell["metadata"]],
        ),
    ):
        repeated = sorted({str(id) for id in ids if ids.count(id) > 1})
        if repeated:
            raise ManifestError(path, 1, f"the {key} {repeated[0]!r} is there twice", "give each cell its own")


def _source(cell: dict[str, Any]) -> str:
    source = cell.get("source", "")
    return source if isinstance(source, str) else "".join(source)


def _only(metadata: dict[str, Any], keys: tuple[str, ...]) -> dict[str, Any]:
    return {key: metadata[key] for key in keys if key in metadata}
