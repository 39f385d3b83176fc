"""What every bundle holds: the engine, one assignment with solution and hidden checks, and what must be installed."""

from __future__ import annotations

import ast
import json
import re
import tomllib
from collections.abc import Iterator
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

import autograder
from autograder.course.errors import CourseError, shown
from autograder.course.strict_yaml import read_text
from autograder.errors import UsageError
from autograder.kit import DISTRIBUTION, PACKAGES
from autograder.manifest import COURSE_FILE, FORMAT, Assignment

SECRET = "solutions/secret.txt"
_TORCH = ("torch", "torchvision")
"""Installed first, from the index that has them without graphics libraries."""
_LEFT_OUT = {"templates", "__pycache__", ".ipynb_checkpoints"}

Files = dict[str, bytes]


def engine() -> Files:
    """The packages that grade, every module: the kit's version, which each record names, is the staff's own."""
    files: Files = {}
    for package in PACKAGES:
        spec = find_spec(package)
        if spec is None or spec.origin is None:
            raise UsageError(f"the package {package} cannot be found; install {DISTRIBUTION} again")
        files |= {f"{package}/{name}": data for name, data in _tree(Path(spec.origin).parent)}
    return files


def course(assignment: Assignment) -> Files:
    """A course of this assignment alone, with all that stays with the staff, the secret included."""
    source = assignment.source_dir
    if source is None or not assignment.has_hidden:
        message = f"{shown(assignment.course.root)} has no hidden checks of {assignment.id}"
        raise CourseError(message, "package from the staff's copy of the course")
    title = json.dumps(assignment.course.title, ensure_ascii=False)
    manifest = f"format: {FORMAT}\nid: {assignment.course.id}\ntitle: {title}\nassignments: [{assignment.id}]\n"
    files = {COURSE_FILE: manifest.encode()}
    files |= {f"{assignment.course.solutions_dir}/{assignment.id}/{name}": data for name, data in _tree(source)}
    secret = assignment.course.secret()
    return files if secret is None else files | {SECRET: secret + b"\n"}


def requirements(assignment: Assignment, *, hidden: bool = True) -> dict[str, list[str]]:
    """Requirement files by name: what the engine and the checks import, as ranges, and the versions in use here."""
    plain, extras = _declared()
    needed = [*plain, *extras["sandbox"]]
    for module in sorted(required_modules(assignment, hidden=hidden)):
        known = [text for texts in extras.values() for text in texts if _project(text) == module]
        needed += known[:1] or [module]
    first = [text for text in needed if _project(text) in _TORCH]
    return {
        "requirements-torch.txt": first,
        "requirements.txt": [text for text in needed if text not in first],
        "constraints.txt": [f"{name}=={version}" for name, version in _in_use(needed)],
    }


def required_modules(assignment: Assignment, *, hidden: bool) -> set[str]:
    """Every module that a check declares with `requires=[...]`: without it the check could not run."""
    found: set[str] = set()
    for path in (assignment.public_checks, assignment.hidden_checks if hidden else None):
        tree = ast.parse(read_text(path)) if path is not None else ast.Module([], [])
        for node in ast.walk(tree):
            if isinstance(node, ast.keyword) and node.arg == "requires":
                try:
                    found |= set(ast.literal_eval(node.value))
                except ValueError:
                    message = f"{shown(path or Path())}:{node.value.lineno}: 'requires' is no plain list of names"
                    raise CourseError(message, "write the names there, so that the image gets these packages") from None
    return found


def _tree(root: Path) -> Iterator[tuple[str, bytes]]:
    for path in sorted(root.rglob("*")):
        inner = path.relative_to(root)
        if path.is_file() and not _LEFT_OUT.intersection(inner.parts) and path.suffix != ".pyc":
            yield inner.as_posix(), path.read_bytes()


def _declared() -> tuple[list[str], dict[str, list[str]]]:
    """This project's requirements, plain and by extra, from its checkout or from where it is installed."""
    checkout = Path(autograder.__file__).parents[1] / "pyproject.toml"
    if checkout.is_file():
        table = tomllib.loads(checkout.read_text(encoding="utf-8"))["project"]
        return table["dependencies"], table["optional-dependencies"]
    plain: list[str] = []
    extras: dict[str, list[str]] = {"sandbox": []}
    for text in metadata.requires(DISTRIBUTION) or []:
        extra = re.search(r"""extra == ['"](\w+)['"]""", text)
        (extras.setdefault(extra[1], []) if extra else plain).append(text.partition(";")[0].strip())
    return plain, extras


def _project(requirement: str) -> str:
    found = re.match(r"[A-Za-z0-9._-]+", requirement)
    return found[0].lower() if found else ""


def _in_use(needed: list[str]) -> Iterator[tuple[str, str]]:
    """(project, version) of what the course was verified with on this machine, without a build's local suffix."""
    for text in needed:
        try:
            yield _project(text), metadata.version(_project(text)).partition("+")[0]
        except metadata.PackageNotFoundError:
            continue  # not installed here: the range alone has to do
