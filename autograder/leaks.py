"""Proof that a students' kit holds nothing of what stays with the staff: searched for, not assumed."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from autograder.course.errors import CourseError
from autograder.course.strict_yaml import read_text
from autograder.manifest import ASSIGNMENT_FILE, HIDDEN_CHECKS, Assignment, Course
from autograder.notebooks import answers
from autograder.stubs import find_regions, make_stub, solution_regions

SOLUTION_RUN = 3
"""So many nonblank lines in a row of a solution are a leak; a shorter region is one as a whole."""
STAFF_RUN = 8
"""The same for hidden checks and the corpus, which share set-up lines with what is public."""
MIN_CHARACTERS = 20
"""A run with less text than this (`else:`, `return x`, `)`) proves nothing."""
MIN_SECRET = 8


class Leak(NamedTuple):
    path: str
    line: int
    what: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.what}" if self.line else f"{self.path}: {self.what}"


class Fingerprints:
    """Runs of lines to search for: size of the run -> text of the run -> what it is."""

    def __init__(self) -> None:
        self._runs: dict[int, dict[str, str]] = {}

    def add(self, lines: list[str], size: int, what: str, *, public: frozenset[str] = frozenset()) -> None:
        """Every run of `size` lines that is not `public`."""
        for run in _runs([text for _, text in _nonblank(lines)], size):
            if run not in public and len("".join(run.split())) >= MIN_CHARACTERS:
                self._runs.setdefault(size, {}).setdefault(run, what)

    def search(self, lines: list[str]) -> Iterator[tuple[int, str]]:
        """(line, what) of the first run of each kind that occurs in `lines`."""
        numbered = _nonblank(lines)
        texts = [text for _, text in numbered]
        found: set[str] = set()
        for size, runs in sorted(self._runs.items(), reverse=True):
            for (number, _), run in zip(numbered, _runs(texts, size)):
                what = runs.get(run)
                if what and what not in found:
                    found.add(what)
                    yield number, what


def scan(course: Course, kit: Path) -> list[Leak]:
    """What in the folder `kit` belongs to the staff of `course`; [] proves that it can be given away."""
    fingerprints, reserved = Fingerprints(), {HIDDEN_CHECKS}
    for assignment in _with_sources(course):
        _add_solution(fingerprints, assignment)
        _add_staff_code(fingerprints, assignment)
        reserved |= {path.name for path in _corpus(assignment)} - {*assignment.release, assignment.driver or ""}
        reserved -= {assignment.module}
    secrets = _secrets(course)
    leaks: list[Leak] = []
    for path in sorted(path for path in kit.rglob("*") if path.is_file()):
        name = path.relative_to(kit)
        leaks += _scan_name(course, name, reserved)
        leaks += [
            Leak(name.as_posix(), 0, "holds the course's secret") for secret in secrets if secret in path.read_bytes()
        ]
        leaks += _scan_text(name, path, fingerprints, course)
    return leaks


def _scan_name(course: Course, name: Path, reserved: set[str]) -> Iterator[Leak]:
    shown = name.as_posix()
    if course.solutions_dir in name.parts or "corpus" in name.parts:
        yield Leak(shown, 0, "lies in a folder of the staff")
    if name.stem == Path(HIDDEN_CHECKS).stem or (name.parts[0] == course.assignments_dir and name.name in reserved):
        yield Leak(shown, 0, "is named like hidden checks or a program of the corpus")
    if name.as_posix() == course.secret_file or name.name == Path(course.secret_file).name:
        yield Leak(shown, 0, "is named like the file of the course's secret")


def _scan_text(name: Path, path: Path, fingerprints: Fingerprints, course: Course) -> Iterator[Leak]:
    lines = _lines(path)
    for number, what in fingerprints.search(lines):
        yield Leak(name.as_posix(), number, what)
    if name.parts[0] == course.assignments_dir and path.suffix in (".py", ".ipynb"):
        try:
            regions = find_regions(name, lines)
        except CourseError as fault:
            yield Leak(name.as_posix(), 0, fault.message)
        else:
            for region in regions:
                yield Leak(name.as_posix(), region.first + 1, f"{region.kind.lower()} between markers")


def _add_solution(fingerprints: Fingerprints, assignment: Assignment) -> None:
    source = assignment.source_dir
    assert source is not None
    parts: list[tuple[Path, list[str]]] = []
    if assignment.solution_path:
        text = read_text(assignment.solution_path)
        parts += [(assignment.solution_path, lines) for lines in solution_regions(assignment.solution_path, text)]
    for path in sorted(source.glob("*.ipynb")):
        parts += [(path, answer.split("\n")) for answer in answers(path, read_text(path))]
    for path, lines in parts:
        size = min(SOLUTION_RUN, len(_nonblank(lines)))
        if size:
            fingerprints.add(
                lines, size, f"text of a solution in {path.relative_to(assignment.course.root).as_posix()}"
            )


def _add_staff_code(fingerprints: Fingerprints, assignment: Assignment) -> None:
    """Each function of the hidden checks and the corpus, and the sentence with which each program introduces itself."""
    public = _public_lines(assignment)
    for path in (path for path in (assignment.hidden_checks, *_corpus(assignment)) if path):
        text, what = read_text(path), f"text of {_shown(assignment, path)}"
        if path != assignment.hidden_checks:
            fingerprints.add(_title(text), 1, what, public=frozenset(public))
        for body in _bodies(text):
            size = min(STAFF_RUN, len(_nonblank(body)))
            if size >= SOLUTION_RUN:
                fingerprints.add(body, size, what, public=frozenset(_runs(public, size)))


def _shown(assignment: Assignment, path: Path) -> str:
    return path.relative_to(assignment.course.root).as_posix()


def _public_lines(assignment: Assignment) -> list[str]:
    texts = [make_stub(assignment)] if assignment.solution_path else []
    texts += [read_text(path) for path in (assignment.public_checks, assignment.driver_path) if path and path.is_file()]
    return [line for text in texts for _, line in _nonblank(text.split("\n"))]


def _title(text: str) -> list[str]:
    """The first line of the docstring, as it stands in the file."""
    tree = _parsed(text)
    return text.split("\n")[:1] if tree and ast.get_docstring(tree) else []


def _bodies(text: str) -> Iterator[list[str]]:
    """The lines of each function's body: imports, signatures and docstrings may be public elsewhere."""
    lines = text.split("\n")
    tree = _parsed(text)
    if tree is None:
        yield lines
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            body = node.body[1:] if ast.get_docstring(node) is not None else node.body
            if body:
                yield lines[body[0].lineno - 1 : node.end_lineno]


def _parsed(text: str) -> ast.Module | None:
    try:
        return ast.parse(text)
    except SyntaxError:
        return None


def _corpus(assignment: Assignment) -> list[Path]:
    return sorted(assignment.source_dir.glob("corpus/**/*.py")) if assignment.source_dir else []


def _with_sources(course: Course) -> list[Assignment]:
    folder = course.root / course.solutions_dir
    return [course.assignment(id) for id in course.assignments if (folder / id / ASSIGNMENT_FILE).is_file()]


def _secrets(course: Course) -> set[bytes]:
    """The secret in force and the one on file."""
    path = course.root / course.secret_file
    secrets = {course.secret() or b"", path.read_bytes().strip() if path.is_file() else b""} - {b""}
    if any(len(secret) < MIN_SECRET for secret in secrets):
        message = f"the course's secret is shorter than {MIN_SECRET} characters, so it can be guessed"
        raise CourseError(message, "replace it by a long random text")
    return secrets


def _lines(path: Path) -> list[str]:
    text = path.read_bytes().decode("utf-8", errors="replace")
    if path.suffix == ".ipynb":
        with suppress(ValueError):  # not a notebook: searched as it is
            text = "\n".join(_strings(json.loads(text)))
    return text.replace("\r\n", "\n").split("\n")


def _strings(value: object) -> Iterator[str]:
    """Every text in a notebook, outputs and metadata too; a list of texts is one text, as Jupyter stores lines."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list) and all(isinstance(item, str) for item in value):
        yield "".join(value)
    elif isinstance(value, list | dict):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _strings(item)


def _nonblank(lines: list[str]) -> list[tuple[int, str]]:
    return [(number, line.strip()) for number, line in enumerate(lines, 1) if line.strip()]


def _runs(lines: list[str], size: int) -> Iterator[str]:
    return ("\n".join(lines[start : start + size]) for start in range(len(lines) - size + 1))
