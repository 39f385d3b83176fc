"""Which kit graded: the version of the package and a digest of everything that can change a verdict."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import autograder
import course_lib
from autograder.manifest import Assignment


def kit_version(assignment: Assignment) -> str:
    """`0.1.0+3f2a90c1d4e5`: package version and digest of the engine, course_lib and this assignment's checks."""
    digest = hashlib.sha256(_engine_digest())
    parts = (
        assignment.manifest_path,
        assignment.public_checks,
        assignment.hidden_checks,
        assignment.solution_path,
        assignment.driver_path,
    )
    for path in parts:
        digest.update(path.read_bytes() if path is not None and path.is_file() else b"-")
    return f"{autograder.__version__}+{digest.hexdigest()[:12]}"


@cache
def _engine_digest() -> bytes:
    digest = hashlib.sha256()
    for path in _sources():
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.digest()


def _sources() -> Iterator[Path]:
    for package in (autograder, course_lib):
        assert package.__file__ is not None
        yield from sorted(Path(package.__file__).parent.rglob("*.py"))
