"""The course and its assignments as their authors declared them: `course.yaml`, `assignment.yaml`, the corpus.

Loading imports neither torch nor pytest; every mistake in a file is a `ManifestError` with its line and a remedy.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, ClassVar, Literal

import msgspec
from msgspec import Meta

from autograder.course import strict_yaml
from autograder.course.corpus import Variant, load_corpus
from autograder.course.errors import CourseError, ManifestError, shown

__all__ = [
    "Assignment",
    "AssignmentManifest",
    "Course",
    "CourseError",
    "CourseManifest",
    "Limits",
    "ManifestError",
    "Stub",
    "Variant",
    "find_course",
    "load_corpus",
    "load_course",
]

FORMAT = 1
SECRET_VARIABLE = "AUTOGRADER_SECRET"
COURSE_FILE = "course.yaml"
ASSIGNMENT_FILE = "assignment.yaml"
PUBLIC_CHECKS = "test_public.py"
HIDDEN_CHECKS = "test_hidden.py"

_ID = r"^[A-Za-z][A-Za-z0-9_-]*$"
_NAME = r"^[A-Za-z_][A-Za-z0-9_]*$"
_MODULE = r"^[A-Za-z_][A-Za-z0-9_]*\.py$"
_LINE = r"^\S(.*\S)?$"

Format = Annotated[Literal[1], Meta(description="Version of this file's format.")]
Id = Annotated[str, Meta(pattern=_ID, description="Short name: letters, digits, - and _.")]
Line = Annotated[str, Meta(pattern=_LINE)]
Text = Annotated[str, Meta(min_length=1)]
Count = Annotated[int, Meta(ge=1)]
Seconds = Annotated[float, Meta(gt=0)]


class Stub(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A function or class that the student writes."""

    name: Annotated[str, Meta(pattern=_NAME, description="The function or class in the module.")]
    title: Annotated[Line, Meta(description="What the student reads in tables.")]
    hints: Annotated[list[Text], Meta(description="Shown one by one by `autograder hint`; never the code.")] = []


class Limits(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What one submission may use; each limit that is hit is named in the report."""

    check_seconds: Annotated[Seconds, Meta(description="Wall time that one check may wait for the submission.")] = 10.0
    total_seconds: Annotated[Seconds, Meta(description="Wall time of all checks together.")] = 300.0
    memory_mib: Annotated[Count, Meta(description="Memory of the submission's process beyond the warm start.")] = 2048
    output_mib: Annotated[Count, Meta(description="What it may print before it is stopped.")] = 4
    disk_mib: Annotated[Count, Meta(description="Its scratch directory.")] = 64
    processes: Annotated[Count, Meta(description="Processes and threads at once.")] = 32
    open_files: Annotated[Count, Meta(description="Open files at once.")] = 64


class AssignmentManifest(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """An assignment: what the student writes, what is released with it, and its limits."""

    format: Format
    id: Id
    title: Line
    module: Annotated[str, Meta(pattern=_MODULE, description="The hand-in module, beside this file.")]
    stubs: Annotated[list[Stub], Meta(min_length=1)]
    topics: list[Line] = []
    release: Annotated[list[Line], Meta(description="Files released besides the module and this file.")] = []
    driver: Annotated[str | None, Meta(description="Trusted, non-secret module run beside the submission.")] = None
    preload: Annotated[list[Line], Meta(description="Modules imported once, before any submission runs.")] = []
    notebook_accepted: Annotated[bool, Meta(description="Whether an .ipynb hand-in is accepted.")] = False
    limits: Limits = Limits()


class CourseManifest(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A course: its assignments in the order in which they are set."""

    format: Format
    id: Id
    title: Line
    assignments: Annotated[list[Id], Meta(description="Ids, in order; each is a folder of that name.")]
    secret_file: Annotated[Line, Meta(description="Seed of the hidden inputs, relative to this file.")] = (
        "solutions/secret.txt"
    )


class Course(CourseManifest, frozen=True, kw_only=True):
    """A loaded course and where it lies."""

    root: Path
    assignments_dir: ClassVar[str] = "assignments"
    solutions_dir: ClassVar[str] = "solutions"

    @property
    def path(self) -> Path:
        return self.root / COURSE_FILE

    @property
    def is_kit(self) -> bool:
        """Whether this is what students receive: no solution of any assignment is here."""
        return not is_dir(self.root / self.solutions_dir)

    def assignment(self, id: str) -> Assignment:
        """The assignment called `id`; the author's copy of its manifest wins over the released one."""
        if id not in self.assignments:
            remedy = strict_yaml.did_you_mean(id, self.assignments)
            raise CourseError(f"{id!r} is no assignment of {shown(self.path)}", remedy)
        for folder in (self.solutions_dir, self.assignments_dir):
            path = self.root / folder / id / ASSIGNMENT_FILE
            if is_file(path):
                return _load_assignment(self, path, id)
        place = shown(self.root / self.assignments_dir / id / ASSIGNMENT_FILE)
        raise CourseError(f"{id} has no manifest: {place} is missing", "restore it, or take it out of course.yaml")

    def secret(self) -> bytes | None:
        """What hidden inputs are derived from: the environment's, else the file's; None in a student's kit."""
        text = os.environ.get(SECRET_VARIABLE, "").strip()
        path = self.root / self.secret_file
        if not text and is_file(path):
            text = strict_yaml.read_text(path).strip()
        return text.encode() or None


class Assignment(AssignmentManifest, frozen=True, kw_only=True):
    """A loaded assignment and where its files lie. A path names a file that need not exist unless it says so."""

    course: Course

    @property
    def source_dir(self) -> Path | None:
        """The author's folder; None in a student's kit."""
        path = self.course.root / self.course.solutions_dir / self.id
        return path if is_dir(path) else None

    @property
    def student_dir(self) -> Path:
        return self.course.root / self.course.assignments_dir / self.id

    @property
    def student_module(self) -> Path:
        return self.student_dir / self.module

    @property
    def manifest_path(self) -> Path:
        return (self.source_dir or self.student_dir) / ASSIGNMENT_FILE

    @property
    def public_checks(self) -> Path:
        return self._nearest(PUBLIC_CHECKS)

    @property
    def hidden_checks(self) -> Path | None:
        """The hidden checks when they are here."""
        path = self.source_dir / HIDDEN_CHECKS if self.source_dir else None
        return path if path and is_file(path) else None

    @property
    def has_hidden(self) -> bool:
        return self.hidden_checks is not None

    @property
    def solution_path(self) -> Path | None:
        """The solution module when it is here."""
        path = self.source_dir / self.module if self.source_dir else None
        return path if path and is_file(path) else None

    @property
    def driver_path(self) -> Path | None:
        """The driver when one is declared."""
        return self._nearest(self.driver) if self.driver else None

    @property
    def preloaded(self) -> tuple[str, ...]:
        """What the warm parent imports: torch, and what this assignment names."""
        return ("torch", *self.preload)

    @property
    def stub_names(self) -> list[str]:
        return [stub.name for stub in self.stubs]

    def stub(self, name: str) -> Stub:
        for stub in self.stubs:
            if stub.name == name:
                return stub
        remedy = strict_yaml.did_you_mean(name, self.stub_names)
        raise CourseError(f"{self.id} has no function or class {name!r}", remedy)

    def _nearest(self, name: str) -> Path:
        """The author's copy of a file when there is one, else the student's."""
        if self.source_dir and is_file(self.source_dir / name):
            return self.source_dir / name
        return self.student_dir / name


def is_file(path: Path) -> bool:
    """As `Path.is_file`; CourseError when the folder may not be looked into."""
    return _looked_up(path, Path.is_file)


def is_dir(path: Path) -> bool:
    """As `Path.is_dir`; CourseError when the folder may not be looked into."""
    return _looked_up(path, Path.is_dir)


def _looked_up(path: Path, ask: Callable[[Path], bool]) -> bool:
    try:
        return ask(path)
    except OSError as error:
        raise CourseError(f"{shown(path)} cannot be looked up: {error.strerror}", "check its permissions") from None


def find_course(start: Path) -> Course:
    """The course around `start` (a file or folder): course.yaml is looked for upwards, as git does."""
    start = start.resolve()
    for folder in (start, *start.parents):
        if is_file(folder / COURSE_FILE):
            return load_course(folder)
    message = f"no {COURSE_FILE} in {start} or in a folder above it"
    raise CourseError(message, "change into your copy of the course, or name a file inside it")


def load_course(root: Path) -> Course:
    """The course whose course.yaml lies in `root`."""
    path = root / COURSE_FILE
    document = _open(path)
    manifest = document.convert(CourseManifest)
    _reject_duplicates(document, "assignments", manifest.assignments)
    if not _is_inside(manifest.secret_file):
        raise document.error(("secret_file",), "leaves the course's folder", "give a path relative to course.yaml")
    return Course(**_fields(manifest), root=root)


def _load_assignment(course: Course, path: Path, id: str) -> Assignment:
    document = _open(path)
    manifest = document.convert(AssignmentManifest)
    if manifest.id != id:
        raise document.error(("id",), f"is {manifest.id!r} in the folder of {id!r}", f"write 'id: {id}'")
    _reject_duplicates(document, "stubs", [stub.name for stub in manifest.stubs])
    _reject_duplicates(document, "release", manifest.release)
    _check_released(document, manifest)
    return Assignment(**_fields(manifest), course=course)


def _open(path: Path) -> strict_yaml.Document:
    """The document, once its format is one that this version reads."""
    document = strict_yaml.Document(path, strict_yaml.read_text(path))
    found = document.data.get("format", FORMAT) if isinstance(document.data, dict) else FORMAT
    if type(found) is int and found != FORMAT:
        remedy = f"write 'format: {FORMAT}'" if found < FORMAT else "update the autograder"
        raise document.error(("format",), f"{found} is not a format that this version reads ({FORMAT})", remedy)
    return document


def _fields(manifest: msgspec.Struct) -> dict[str, Any]:
    return {name: getattr(manifest, name) for name in manifest.__struct_fields__}


def _reject_duplicates(document: strict_yaml.Document, key: str, names: list[str]) -> None:
    for index, name in enumerate(names):
        if name in names[:index]:
            raise document.error((key, index), f"{name!r} is listed twice", "keep one")


def _check_released(document: strict_yaml.Document, manifest: AssignmentManifest) -> None:
    """What is released never names what must stay, nor what is released anyway."""
    staying = {HIDDEN_CHECKS: "holds the hidden checks", "corpus": "is the corpus"}
    implied = {manifest.module, ASSIGNMENT_FILE}
    for index, name in enumerate(manifest.release):
        place = ("release", index)
        first = PurePosixPath(name).parts[0]
        if not _is_inside(name):
            raise document.error(place, f"{name!r} leaves the assignment's folder", "name a file beside this one")
        if first in staying:
            raise document.error(place, f"{name!r} {staying[first]} and stays with the staff", "take it out")
        if name in implied:
            raise document.error(place, f"{name!r} is released anyway", "take it out")
    driver = manifest.driver
    if driver is not None and not (_is_inside(driver) and driver.endswith(".py") and driver not in implied):
        raise document.error(("driver",), f"{driver!r} is not a module of its own", "name a .py file beside this one")


def _is_inside(name: str) -> bool:
    path = PurePosixPath(name)
    return "\\" not in name and not path.is_absolute() and ".." not in path.parts and path.parts != ()
