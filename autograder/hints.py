"""Hints: those of a function, gentlest first, or the one of a check."""

from __future__ import annotations

import ast
from difflib import get_close_matches
from pathlib import Path

from autograder.errors import UsageError
from autograder.manifest import Assignment, is_file
from autograder.source import parsed


def hints_for(assignment: Assignment, name: str) -> list[str]:
    """The hints for a stub or a check called `name`; UsageError when there is none of that name."""
    for stub in assignment.stubs:
        if stub.name == name:
            return stub.hints or ["No hints: read the docstring and the README of the assignment again."]
    checks = check_hints(assignment)
    wanted = name.partition("[")[0].removeprefix("test_")
    if wanted in checks:
        return [checks[wanted]]
    near = get_close_matches(name, [*assignment.stub_names, *checks], 3)
    remedy = f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(assignment.stub_names)}"
    raise UsageError(f"{assignment.id} has no function or check called {name!r}; {remedy}")


def check_hints(assignment: Assignment) -> dict[str, str]:
    """Hints of the checks that are here, read from their declarations without running them."""
    found: dict[str, str] = {}
    for path in (assignment.public_checks, assignment.hidden_checks):
        if path is not None and is_file(path):
            remedy = f"restore {path.name} from where you got it: the hints of its checks are read there"
            for node in parsed(path, _read(path), remedy).body:
                if isinstance(node, ast.FunctionDef):
                    found.update(_declared(node))
    return found


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}", "check its permissions") from None


def _declared(node: ast.FunctionDef) -> dict[str, str]:
    for decorator in node.decorator_list:
        if isinstance(decorator, ast.Call) and getattr(decorator.func, "id", "") == "check":
            for keyword in decorator.keywords:
                if keyword.arg == "hint" and isinstance(keyword.value, ast.Constant):
                    return {node.name.removeprefix("test_"): str(keyword.value.value)}
    return {}
