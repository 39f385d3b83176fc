"""From `solutions/` to `assignments/`: what students receive is generated, never edited by hand."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from autograder.course.errors import ReleaseError, shown
from autograder.course.strict_yaml import read_text
from autograder.kit import build_kit
from autograder.manifest import ASSIGNMENT_FILE, Assignment, Course, CourseError, ManifestError
from autograder.notebooks import release_notebook
from autograder.stubs import find_regions, make_stub

RECORD = ".release.json"
"""Beside the released files: what was written and its SHA-256, so that work of a person is never overwritten."""

_TEXT = {".py", ".md", ".txt", ".yaml", ".yml", ".toml"}


class Released(NamedTuple):
    """What a release did; paths are relative to the course."""

    written: list[str]
    removed: list[str]
    unchanged: list[str]
    kit: Path | None

    def __str__(self) -> str:
        lines = [f"wrote {name}" for name in self.written] + [f"removed {name}" for name in self.removed]
        lines += [f"{len(self.unchanged)} files were up to date"] if self.unchanged else []
        return "\n".join([*lines, *([f"the students' kit is in {shown(self.kit)}"] if self.kit else [])])


class Difference(NamedTuple):
    """One file of `assignments/` that is not what releasing would write."""

    path: str
    problem: str
    remedy: str = "run 'autograder release'"

    def __str__(self) -> str:
        return f"{self.path}: {self.problem}; {self.remedy}"


def release(course: Course, ids: Sequence[str] = (), out: Path | None = None, *, force: bool = False) -> Released:
    """Write `assignments/<id>/` from `solutions/<id>/`, and the students' kit into the new or empty folder `out`.

    `ids` defaults to the whole course. Raises `ReleaseError` before anything is written when a released module holds
    somebody's work (unless `force`) or when the kit would leak.
    """
    assignments = [course.assignment(id) for id in ids or course.assignments]
    if not assignments:
        raise ReleaseError(f"{shown(course.path)} lists no assignment", "add one with 'autograder new hw1'")
    with _accessible():
        generated = {assignment.id: generate(assignment) for assignment in assignments}
        if not force:
            for assignment in assignments:
                _refuse_to_overwrite(assignment, generated[assignment.id])
        kit = build_kit(course, assignments, generated, out) if out is not None else None
        result = Released([], [], [], kit)
        for assignment in assignments:
            _write(assignment, generated[assignment.id], result)
    return result


def release_check(course: Course, ids: Sequence[str] = ()) -> list[Difference]:
    """How `assignments/` differs from what `release` would write, byte by byte; [] when it is up to date."""
    with _accessible():
        differences = [
            difference
            for id in ids or course.assignments
            for difference in _differences(course.assignment(id), generate(course.assignment(id)))
        ]
        return differences if ids else differences + _abandoned(course)


@contextmanager
def _accessible() -> Iterator[None]:
    """A file of the course that this user may not read or write is a mistake of the set-up, told as one."""
    try:
        yield
    except OSError as error:
        place = shown(Path(error.filename)) if error.filename else "a file of the course"
        raise CourseError(f"{place} cannot be read or written: {error.strerror}", "check its permissions") from None


def generate(assignment: Assignment) -> dict[str, bytes]:
    """The released files of an assignment: relative name -> contents, in a fixed order."""
    source = assignment.source_dir
    if source is None:
        place = f"{assignment.course.solutions_dir}/{assignment.id}"
        raise CourseError(f"{assignment.id} has no folder {place}", "release from the staff's copy of the course")
    names = dict.fromkeys([*assignment.release, *([assignment.driver] if assignment.driver else [])])
    files = {
        ASSIGNMENT_FILE: (source / ASSIGNMENT_FILE).read_bytes(),
        assignment.module: make_stub(assignment).encode(),
    }
    return files | {name: _released_file(assignment, source / name, name) for name in names}


def _released_file(assignment: Assignment, path: Path, name: str) -> bytes:
    if not path.is_file():
        message = f"{name!r} is to be released but {shown(path)} is missing"
        raise ManifestError(assignment.manifest_path, 1, message, "write the file or take it out of the manifest")
    if path.suffix == ".ipynb":
        return release_notebook(path, read_text(path)).encode()
    if path.suffix in _TEXT:
        regions = find_regions(path, read_text(path).split("\n"))
        if regions:
            remedy = f"regions belong into {assignment.module} and into notebooks"
            raise ManifestError(path, regions[0].first + 1, "this file is released as it is", remedy)
    return path.read_bytes()


def _refuse_to_overwrite(assignment: Assignment, files: dict[str, bytes]) -> None:
    """The released module is neither the old stub nor the new one: somebody worked in it."""
    path = assignment.student_module
    if not path.is_file():
        return
    found = path.read_bytes()
    if found != files[assignment.module] and _digest(found) != _record(assignment).get(assignment.module):
        remedy = f"move it elsewhere, or carry the change over to {shown(_source(assignment))}, or release with --force"
        raise ReleaseError(f"{shown(path)} was edited since it was released", remedy)


def _write(assignment: Assignment, files: dict[str, bytes], result: Released) -> None:
    folder = assignment.student_dir
    for name in sorted(set(_record(assignment)) - set(files)):
        path = folder / name
        if path.is_file():
            path.unlink()
            result.removed.append(_relative(assignment, name))
    for name, contents in {**files, RECORD: _record_text(files)}.items():
        path = folder / name
        if path.is_file() and path.read_bytes() == contents:
            result.unchanged.append(_relative(assignment, name))
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(contents)
        result.written.append(_relative(assignment, name))


def _differences(assignment: Assignment, files: dict[str, bytes]) -> Iterable[Difference]:
    folder = assignment.student_dir
    for name, contents in {**files, RECORD: _record_text(files)}.items():
        path = folder / name
        if not path.is_file():
            yield Difference(_relative(assignment, name), "is missing")
        elif path.read_bytes() != contents:
            yield Difference(_relative(assignment, name), "differs from what its solution generates")
    for name in sorted(set(_record(assignment)) - set(files)):
        if (folder / name).is_file():
            yield Difference(_relative(assignment, name), "is no longer released")


def _abandoned(course: Course) -> list[Difference]:
    """Released folders that the course does not name."""
    folder = course.root / course.assignments_dir
    found = sorted(path.parent.name for path in folder.glob(f"*/{RECORD}"))
    problem, remedy = "is released but not in course.yaml", "remove the folder, or list the assignment"
    return [
        Difference(f"{course.assignments_dir}/{id}", problem, remedy) for id in found if id not in course.assignments
    ]


def _record(assignment: Assignment) -> dict[str, str]:
    """What the last release wrote: name -> SHA-256. An unreadable record counts as none."""
    try:
        record = json.loads((assignment.student_dir / RECORD).read_bytes())
    except (OSError, ValueError):
        return {}
    inside = assignment.student_dir.resolve()
    return {
        name: str(digest)
        for name, digest in (record.items() if isinstance(record, dict) else ())
        if (inside / name).resolve().is_relative_to(inside)
    }


def _record_text(files: dict[str, bytes]) -> bytes:
    digests = {name: _digest(contents) for name, contents in files.items()}
    return (json.dumps(digests, indent=1, sort_keys=True) + "\n").encode()


def _digest(contents: bytes) -> str:
    return hashlib.sha256(contents).hexdigest()


def _source(assignment: Assignment) -> Path:
    return assignment.solution_path or assignment.manifest_path


def _relative(assignment: Assignment, name: str) -> str:
    return f"{assignment.course.assignments_dir}/{assignment.id}/{name}"
