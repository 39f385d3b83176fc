"""`autograder render`: a record that a run wrote, as another platform's result."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from autograder import record as rec
from autograder.errors import GraderError, UsageError
from autograder.manifest import CourseError, find_course
from autograder.platforms.options import one_of
from autograder.record import Record
from autograder.render import github, gradescope, markdown, prairielearn

FORMS = ("gradescope", "prairielearn", "github", "classroom", "markdown")
_MAX_RECORD = 64 << 20


def read_record(path: Path) -> Record:
    """The record in `path`. Raises UsageError for what is none, or is no grade because only some checks ran."""
    try:
        if path.stat().st_size > _MAX_RECORD:
            raise UsageError(f"{path} is larger than any record; give a file that 'autograder run --json' wrote")
        return rec.decode(path.read_bytes())
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from None
    except msgspec.MsgspecError as error:
        raise UsageError(f"{path} is no record of this version ({error}); write one with --json") from None


def render(record: Record, form: str, *, hidden_as: str) -> str:
    """The record as one text. Raises GraderError where a missing score cannot be said."""
    one_of(form, FORMS, "--as")
    one_of(hidden_as, gradescope.HIDDEN_AS, "--hidden-as")
    if record.selection and form not in ("markdown", "github"):
        raise UsageError(f"the record is of some checks only ({record.selection}), which is no grade; run all of them")
    forms: dict[str, Callable[[], Any]] = {
        "gradescope": lambda: gradescope.results(record, hidden_as=hidden_as),
        "prairielearn": lambda: prairielearn.results(record),
        "classroom": lambda: github.classroom(record),
    }
    if form in forms:
        return json.dumps(forms[form](), ensure_ascii=False, allow_nan=False, indent=1) + "\n"
    return markdown.summary(record) if form == "markdown" else _for_actions(record)


def write(path: Path, text: str) -> None:
    """Write a result, readable by its owner only: it is about one student."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}; choose another place with -o") from None


def _for_actions(record: Record) -> str:
    """The annotations; the job's summary and the step's output go into the files that GitHub names."""
    _append("GITHUB_STEP_SUMMARY", markdown.summary(record))
    if record.score is not None and not record.selection:
        _append("GITHUB_OUTPUT", f"result={github.encoded(github.classroom(record))}\n")
    path, source = _module(record)
    lines = github.commands(record, path, source)
    if record.score is None:
        raise GraderError("the grader itself failed; no points are reported")
    return "".join(f"{line}\n" for line in lines)


def _append(variable: str, text: str) -> None:
    if os.environ.get(variable):
        with open(os.environ[variable], "a", encoding="utf-8") as file:
            file.write(text)


def _module(record: Record) -> tuple[str, str | None]:
    """Where the graded module lies in this repository, and its text if it is still the graded one."""
    name = next(iter(record.submission.files), "")
    try:
        course = find_course(Path.cwd())
        path = course.assignment(record.assignment).student_module
    except CourseError:
        return name, None
    shown = path.relative_to(course.root).as_posix()
    try:
        return shown, path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return shown, None
