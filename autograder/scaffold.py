"""A new assignment: complete, graded, and consistent before its author has changed a line."""

from __future__ import annotations

import builtins
import json
import keyword
import re
import shutil
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from autograder.course.errors import shown
from autograder.course.strict_yaml import Document, read_text
from autograder.kit import fill
from autograder.manifest import ASSIGNMENT_FILE, HIDDEN_CHECKS, PUBLIC_CHECKS, Course, CourseError, load_course

_ID = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
_TODO = re.compile(r"TODO\(([A-Za-z][A-Za-z0-9_-]*-\d+)\):?\s*(.*)")


class Todo(NamedTuple):
    """A place of the scaffold that its author has not filled yet."""

    path: Path
    line: int
    id: str
    text: str


def new_assignment(course: Course, id: str, title: str) -> list[Path]:
    """Create `solutions/<id>/` with a worked example and list it in course.yaml; returns the files written."""
    title = title.strip()
    folder = course.root / course.solutions_dir / id
    _validate(course, id, title, folder)
    module = _module_name(id, title)
    values = {
        "id": id,
        "module": module,
        "title": title,
        "title_yaml": json.dumps(title, ensure_ascii=False),
        "title_doc": title.rstrip(".").replace("\\", "/").replace('"', "'"),
    }
    templates = {
        ASSIGNMENT_FILE: "assignment.yaml",
        module: "solution.py",
        "README.md": "README.md",
        PUBLIC_CHECKS: "test_public.py",
        HIDDEN_CHECKS: "test_hidden.py",
        "corpus/right/loads_first.py": "right.py",
        "corpus/wrong/one_behind.py": "wrong_values.py",
        "corpus/wrong/starts_again.py": "wrong_counts.py",
        "corpus/cheat/never_looks.py": "cheat.py",
    }
    texts = {folder / name: fill(f"assignment/{template}", values) for name, template in templates.items()}
    listed = _with_assignment(course, id)
    try:
        for path, text in texts.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        course.path.write_text(listed, encoding="utf-8")
    except OSError as fault:
        shutil.rmtree(folder, ignore_errors=True)
        raise CourseError(f"cannot write {shown(folder)} ({fault.strerror})", "check permissions and space") from None
    load_course(course.root).assignment(id)
    return [*texts, course.path]


def open_todos(course: Course, id: str) -> list[Todo]:
    """What the author of a scaffolded assignment has still to fill in."""
    source = course.assignment(id).source_dir
    return [
        Todo(path, number, match[1], match[2].strip())
        for path in (sorted(source.rglob("*")) if source else [])
        if path.suffix in (".py", ".md", ".yaml", ".ipynb")
        for number, line in enumerate(read_text(path).split("\n"), 1)
        if (match := _TODO.search(line))
    ]


def _validate(course: Course, id: str, title: str, folder: Path) -> None:
    if course.is_kit and course.assignments:
        raise CourseError("this is a student's kit", "create assignments in the staff's copy of the course")
    if not _ID.fullmatch(id):
        raise CourseError(f"{id!r} cannot be an id", "use letters, digits, - and _, as in hw7")
    if id in course.assignments or folder.exists():
        raise CourseError(f"{id} exists already in {shown(folder)}", "choose another id")
    if not title or not title.isprintable():
        raise CourseError("the title is empty or has line breaks", "give a title of one line")


def _module_name(id: str, title: str) -> str:
    """A module named after the title that hides no other module and no name of the language."""
    words = re.findall(r"[a-z0-9]+", title.lower())
    name = "_".join(words[:3])
    if not name or name[0].isdigit():
        name = f"{id.lower().replace('-', '_')}_exercise"
    taken = keyword.iskeyword(name) or hasattr(builtins, name) or find_spec(name) is not None
    return f"{name}_exercise.py" if taken else f"{name}.py"


def _with_assignment(course: Course, id: str) -> str:
    """course.yaml with `id` appended to its list, everything else as it was."""
    text = read_text(course.path)
    document = Document(course.path, text)
    node = next(value for key, value in document.node.value if key.value == "assignments")
    if not node.value:
        bracket = node.end_mark.index - 1
        return f"{text[:bracket]}{id}{text[bracket:]}"
    last = node.value[-1]
    if node.flow_style:
        return f"{text[: last.end_mark.index]}, {id}{text[last.end_mark.index :]}"
    lines = text.split("\n")
    first = lines[last.start_mark.line]
    lines.insert(last.end_mark.line + 1, first[: len(first) - len(first.lstrip())] + f"- {id}")
    return "\n".join(lines)
