"""JSON Schemas of course.yaml and assignment.yaml, for editors: `python -m autograder.course.schemas docs/schemas`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import msgspec

from autograder.manifest import AssignmentManifest, CourseManifest

_KINDS: dict[str, type[msgspec.Struct]] = {"course": CourseManifest, "assignment": AssignmentManifest}


def schemas() -> dict[str, str]:
    """File name -> contents, generated from the structs that the manifests are checked against."""
    return {f"{name}.schema.json": _schema(f"{name}.yaml", kind) for name, kind in _KINDS.items()}


def _schema(title: str, kind: type[msgspec.Struct]) -> str:
    generated: dict[str, Any] = msgspec.json.schema(kind)
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": title} | generated
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def main(folder: str) -> None:
    for name, text in schemas().items():
        Path(folder, name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
