"""The students' kit: a folder that installs by itself and holds nothing that stays with the staff."""

from __future__ import annotations

import json
import shutil
import tempfile
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from autograder import leaks
from autograder.course.errors import LeakFound, ReleaseError, shown
from autograder.manifest import COURSE_FILE, FORMAT, Assignment, Course

PACKAGES = ("autograder", "course_lib")
TEMPLATES = Path(__file__).parent / "templates"
DISTRIBUTION = "ml-systems-autograder"
EXTRAS = ("figures", "vision")
"""Optional packages that students may want too."""

_LEFT_OUT = {"templates", "__pycache__", "tests"}


class Project(NamedTuple):
    """What a kit takes over from this project's own packaging."""

    version: str
    python: str
    dependencies: list[str]
    extras: dict[str, list[str]]
    license: str


def build_kit(
    course: Course, assignments: Sequence[Assignment], generated: Mapping[str, Mapping[str, bytes]], out: Path
) -> Path:
    """Build the kit of `assignments` in the new or empty folder `out`; `generated` holds their released files.

    Raises `LeakFound`, with nothing left behind, when the kit would hold what students must not see, and
    `ReleaseError` when `out` cannot be written.
    """
    try:
        return _build(course, assignments, generated, out.resolve())
    except OSError as error:
        remedy = "name a folder where you may write"
        raise ReleaseError(f"{shown(out)} cannot be made: {error.strerror or error}", remedy) from None


def _build(
    course: Course, assignments: Sequence[Assignment], generated: Mapping[str, Mapping[str, bytes]], out: Path
) -> Path:
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise ReleaseError(f"{shown(out)} is not an empty folder", "name a new one, or remove it first")
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=f".{out.name}-") as staging:
        kit = Path(staging) / "kit"
        for name, contents in _files(course, assignments, generated):
            path = kit / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(contents)
        found = leaks.scan(course, kit)
        if found:
            raise LeakFound([str(leak) for leak in found])
        if out.exists():
            out.rmdir()
        shutil.move(kit, out)
    return out


def fill(template: str, values: Mapping[str, str]) -> str:
    """The text of a template (`folder/name`) with each `{{key}}` replaced."""
    text = (TEMPLATES / f"{template}.tmpl").read_text(encoding="utf-8")
    for key, value in values.items():
        text = text.replace("{{" + key + "}}", value)
    return text


def project() -> Project:
    """This project's packaging, from its checkout or from where it is installed."""
    checkout = Path(__file__).parent.parent
    if (checkout / "pyproject.toml").is_file():
        table = tomllib.loads((checkout / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        extras = {extra: table["optional-dependencies"][extra] for extra in EXTRAS}
        license = (checkout / "LICENSE").read_text(encoding="utf-8")
        return Project(table["version"], table["requires-python"], table["dependencies"], extras, license)
    installed = metadata.distribution(DISTRIBUTION)
    requires = [requirement.partition(";") for requirement in installed.requires or []]
    extras = {
        extra: [name.strip() for name, _, marker in requires if f"extra == '{extra}'" in marker.replace('"', "'")]
        for extra in EXTRAS
    }
    plain = [name.strip() for name, _, marker in requires if not marker]
    license = installed.read_text("licenses/LICENSE") or ""
    return Project(installed.version, installed.metadata["Requires-Python"], plain, extras, license)


def _files(
    course: Course, assignments: Sequence[Assignment], generated: Mapping[str, Mapping[str, bytes]]
) -> Iterator[tuple[str, bytes]]:
    own = project()
    yield "README.md", _readme(course, assignments).encode()
    yield "pyproject.toml", _pyproject(course, own).encode()
    yield "LICENSE", own.license.encode()
    yield ".gitignore", fill("kit/gitignore", {}).encode()
    yield COURSE_FILE, _course_file(course, assignments).encode()
    for assignment in assignments:
        for name, contents in generated[assignment.id].items():
            yield f"{course.assignments_dir}/{assignment.id}/{name}", contents
    for package in PACKAGES:
        yield from _package(package)


def _package(name: str) -> Iterator[tuple[str, bytes]]:
    spec = find_spec(name)
    if spec is None or spec.origin is None:
        raise ReleaseError(f"the package {name} cannot be found", f"install {DISTRIBUTION} again")
    root = Path(spec.origin).parent
    for path in sorted(root.rglob("*")):
        inner = path.relative_to(root)
        if path.is_file() and not _LEFT_OUT.intersection(inner.parts) and path.suffix != ".pyc":
            yield f"{name}/{inner.as_posix()}", path.read_bytes()


def _course_file(course: Course, assignments: Sequence[Assignment]) -> str:
    """Written afresh: the staff's file names the secret, and its comments are theirs."""
    ids = ", ".join(assignment.id for assignment in assignments)
    title = json.dumps(course.title, ensure_ascii=False)
    return f"format: {FORMAT}\nid: {course.id}\ntitle: {title}\nassignments: [{ids}]\n"


def _pyproject(course: Course, own: Project) -> str:
    return fill(
        "kit/pyproject.toml",
        {
            "name": f"{course.id.lower()}-kit",
            "description": json.dumps(f"Exercises and their grader: {course.title}", ensure_ascii=False),
            "version": own.version,
            "python": own.python,
            "dependencies": _toml_list(own.dependencies),
            "extras": "\n".join(f"{extra} = {_toml_list(names)}" for extra, names in own.extras.items()),
        },
    )


def _toml_list(items: Sequence[str]) -> str:
    return "[\n" + "".join(f"  {json.dumps(item)},\n" for item in items) + "]"


def _readme(course: Course, assignments: Sequence[Assignment]) -> str:
    rows = [
        f"| {assignment.id} | {assignment.title} | `{course.assignments_dir}/{assignment.id}/{assignment.module}` |"
        for assignment in assignments
    ]
    first = assignments[0]
    values = {
        "title": course.title,
        "table": "\n".join(rows),
        "id": first.id,
        "module": first.module,
        "stub": first.stubs[0].name,
    }
    return fill("kit/README.md", values)
