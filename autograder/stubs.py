"""From a solution to what the student receives: solution regions become `raise NotImplementedError`.

The markers are nbgrader's, each alone on its line, at any indentation:

    ### BEGIN SOLUTION
    ...
    ### END SOLUTION
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from autograder.course.errors import ManifestError
from autograder.course.strict_yaml import read_text
from autograder.manifest import Assignment, CourseError

_MARKER = re.compile(r"^(?P<indent>[ \t]*)### (?P<edge>BEGIN|END) (?P<kind>[A-Z]+(?: [A-Z]+)*)[ \t]*$")
_ATTEMPT = re.compile(r"\b(?:BEGIN|END)[ _-]+(?:SOLUTIONS?|HIDDEN[ _-]+TESTS?)\b", re.IGNORECASE)

SOLUTION = "SOLUTION"
HIDDEN_TESTS = "HIDDEN TESTS"


class Region(NamedTuple):
    """Lines `first` to `last` (0-based, markers included) between a pair of markers."""

    kind: str
    first: int
    last: int
    indent: str


def find_regions(path: Path, lines: list[str], first_line: int = 1) -> list[Region]:
    """The regions of `lines`; anything that only looks like a marker is an error, for it would publish a solution."""
    regions: list[Region] = []
    opened: Region | None = None
    for number, line in enumerate(lines):
        marker = _MARKER.match(line)
        if marker is None or marker["kind"] not in (SOLUTION, HIDDEN_TESTS):
            if _ATTEMPT.search(line):
                remedy = "a marker stands alone on its line, as in '### BEGIN SOLUTION'; word other text differently"
                raise ManifestError(path, number + first_line, f"not a marker: {line.strip()!r}", remedy)
            continue
        edge, kind, indent = marker["edge"], marker["kind"], marker["indent"]
        if edge == "BEGIN" and opened:
            message = f"a region begins inside the one that began in line {opened.first + first_line}"
            raise ManifestError(path, number + first_line, message, f"write '### END {opened.kind}' before it")
        if edge == "BEGIN":
            opened = Region(kind, number, number, indent)
            continue
        if opened is None or opened.kind != kind:
            message = f"'### END {kind}' without a beginning"
            raise ManifestError(path, number + first_line, message, f"write '### BEGIN {kind}' before it, or remove it")
        if opened.indent != indent:
            message = f"the markers of the region from line {opened.first + first_line} are indented differently"
            raise ManifestError(path, number + first_line, message, "align them")
        regions.append(opened._replace(last=number))
        opened = None
    if opened:
        message = f"the region is never closed by '### END {opened.kind}'"
        raise ManifestError(path, opened.first + first_line, message, "close it where the solution ends")
    return regions


def make_stub(assignment: Assignment) -> str:
    """The module that the student receives, generated from the solution."""
    path = assignment.solution_path
    if path is None:
        place = f"{assignment.course.solutions_dir}/{assignment.id}/{assignment.module}"
        raise CourseError(f"{assignment.id} has no solution: {place} is missing", "write it, or correct 'module:'")
    text = stub_text(path, read_text(path), assignment.id)
    for name in assignment.stub_names:
        _check_stub(path, text, name)
    return text


def stub_text(path: Path, text: str, id: str) -> str:
    """`text` without its solution regions. `path` is for errors, `id` goes into the stubs' messages."""
    lines = text.split("\n")
    tree = _parse(path, text, "the solution")
    for region in reversed(find_regions(path, lines)):
        _check_region(path, lines, region)
        name = _enclosing_function(tree, region.first + 1)
        if name is None:
            _remove(lines, region)
        else:
            message = f'raise NotImplementedError("{id}: {name} is not written yet")'
            lines[region.first : region.last + 1] = [region.indent + message]
    stub = "\n".join(lines).strip("\n") + "\n"
    _parse(path, stub, "the stub made from it")
    return stub


def solution_regions(path: Path, text: str) -> Iterator[list[str]]:
    """The lines of each solution region, markers left out."""
    lines = text.split("\n")
    for region in find_regions(path, lines):
        yield lines[region.first + 1 : region.last]


def _check_region(path: Path, lines: list[str], region: Region) -> None:
    if region.kind != SOLUTION:
        raise ManifestError(path, region.first + 1, "hidden tests in a module", "keep them in test_hidden.py")
    code = next((line for line in lines[region.first + 1 : region.last] if line.strip()), None)
    if code is None:
        raise ManifestError(path, region.first + 1, "the region is empty", "put the markers around the solution")
    if code[: len(code) - len(code.lstrip())] != region.indent:
        remedy = "align the markers with the statements between them"
        raise ManifestError(path, region.first + 1, "the marker is indented unlike the line after it", remedy)


def _enclosing_function(tree: ast.AST, line: int) -> str | None:
    """The qualified name of the innermost function whose body holds `line`; None outside of functions."""
    around = [(node.lineno, name) for name, node in _functions(tree) if node.lineno < line <= (node.end_lineno or 0)]
    return max(around)[1] if around else None


def _functions(tree: ast.AST, outer: tuple[str, ...] = ()) -> Iterator[tuple[str, ast.stmt]]:
    for node in ast.iter_child_nodes(tree):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield from _functions(node, outer)
            continue
        inner = (*outer, node.name)
        if not isinstance(node, ast.ClassDef):
            yield ".".join(inner), node
        yield from _functions(node, inner)


def _remove(lines: list[str], region: Region) -> None:
    """Take a region out, leaving the widest gap that stood at either of its edges."""
    before, after = region.first, region.last + 1
    inside = lines[region.first + 1 : region.last]
    gap = max(_blanks(inside), _blanks(inside[::-1]))
    while before > 0 and not lines[before - 1].strip():
        before -= 1
    while after < len(lines) and not lines[after].strip():
        after += 1
    gap = max(gap, region.first - before, after - region.last - 1)
    lines[before:after] = [""] * (gap if before > 0 and after < len(lines) else 0)


def _blanks(lines: list[str]) -> int:
    return next((index for index, line in enumerate(lines) if line.strip()), 0)


def _check_stub(path: Path, text: str, name: str) -> None:
    """A listed stub is there and really asks for work."""
    definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    found = [node for node in _parse(path, text, "the stub").body if isinstance(node, definition) and node.name == name]
    if not found:
        remedy = "define it at module level, with the markers inside its body"
        raise ManifestError(path, 1, f"the stub {name!r} is not in the generated module", remedy)
    if not any(_raises_not_implemented(node) for node in ast.walk(found[-1])):
        remedy = "put '### BEGIN SOLUTION' and '### END SOLUTION' around what the student writes"
        raise ManifestError(path, _line_of(path, name), f"{name!r} has no solution region, so it is published", remedy)


def _raises_not_implemented(node: ast.AST) -> bool:
    if not isinstance(node, ast.Raise) or node.exc is None:
        return False
    raised = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
    return isinstance(raised, ast.Name) and raised.id == "NotImplementedError"


def _line_of(path: Path, name: str) -> int:
    pattern = re.compile(rf"^(?:async\s+)?(?:def|class)\s+{re.escape(name)}\b", re.MULTILINE)
    text = read_text(path)
    match = pattern.search(text)
    return text[: match.start()].count("\n") + 1 if match else 1


def _parse(path: Path, text: str, what: str) -> ast.Module:
    try:
        return ast.parse(text)
    except SyntaxError as fault:
        remedy = "correct the solution, or move its markers to whole statements"
        raise ManifestError(path, fault.lineno or 1, f"{what} is not valid Python ({fault.msg})", remedy) from None
