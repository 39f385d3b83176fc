"""A course with a gradebook in a folder of its own, and the command line in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from autograder import record as rec
from autograder.collect.record import FORMAT, Attempt, Collected, Collection
from autograder.gradebook.book import Book
from autograder.gradebook.database import open_database
from autograder.gradebook.importing import spell

ROOT = Path(__file__).parent.parent
ROSTER = "id,name,login,email\n00451,Ama Quartey,aquartey,ama@uni.test\n00452,Lou [bold]D'Arcy,ldarcy,\nç8,Çe Ñ,,\n"
MANIFEST = """\
format: 1
id: {id}
title: Tiles
module: softmax.py
stubs:
  - {{name: softmax_naive, title: the naive softmax, hints: [none]}}
"""
SHA = {letter: letter * 64 for letter in "abcdef"}


def record(
    student: str,
    score: float | None,
    *,
    files: str = "a",
    full: float = 10.0,
    kit: str = "1",
    selection: str | None = None,
    assignment: str = "hw1",
) -> rec.Record:
    group = rec.Group("softmax_naive", 1, 2, score or 0.0, full)
    return rec.Record(
        format=rec.FORMAT,
        assignment=assignment,
        kit_version=kit,
        submission=rec.Submission(student, {"softmax.py": SHA[files]}),
        started="2026-09-14T10:00:00.123+00:00",
        finished="2026-09-14T10:00:01+00:00",
        environment=rec.Environment("3.11", None, "2", 1, "process", [], "course"),
        suites=["public", "hidden"],
        checks=[],
        totals=rec.Totals([group], []),
        score=score,
        max_score=full,
        receipt=f"{files}{score}{kit}",
        selection=selection,
    )


def hand_in(
    files: str, submitted: str | None = None, *, late: bool | None = None, number: int | None = None, older: str = ""
) -> Collected:
    """`older`: letters of earlier attempts without a time, or `a@2026-10-01T12:00`, separated by spaces."""
    attempts = [Attempt(f"{n}.py", SHA[one[0]], submitted=one[2:] or None) for n, one in enumerate(older.split(), 1)]
    return Collected(
        "x", "folder", sha256=SHA[files], submitted=submitted, late=late, attempt=number, attempts=attempts
    )


@dataclass
class Desk:
    """Where the staff sit."""

    root: Path
    environment: dict[str, str] = field(default_factory=dict)

    def command(self, *arguments: object, group: str = "gradebook") -> tuple[list[str], dict[str, str]]:
        outside = {name: value for name, value in os.environ.items() if name != "AUTOGRADER_DB"}
        environment = {**outside, "PYTHONPATH": str(ROOT), "AUTOGRADER_AUTHOR": "ta", **self.environment}
        words = [*group.split(), *map(str, arguments)]
        return [sys.executable, "-W", "error", "-m", "autograder", *words], environment

    def run(self, *arguments: object, stdin: str = "", group: str = "gradebook") -> subprocess.CompletedProcess[str]:
        """`autograder gradebook ARGUMENTS`, or another command or group of them."""
        command, environment = self.command(*arguments, group=group)
        done = subprocess.run(command, cwd=self.root, env=environment, input=stdin, capture_output=True,
                              text=True, timeout=120, check=False)  # fmt: skip
        assert "Traceback" not in done.stderr, done.stderr
        return done

    def ok(self, *arguments: object, group: str = "gradebook") -> str:
        done = self.run(*arguments, group=group)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def records(self, *records: rec.Record, folder: str = "grades/hw1") -> None:
        place = self.root / folder
        place.mkdir(parents=True, exist_ok=True)
        for number, one in enumerate(records):
            (place / f"r{number}.json").write_bytes(rec.encode(one))

    def collected(self, **students: Collected) -> None:
        place = self.root / "submissions" / "hw1"
        place.mkdir(parents=True, exist_ok=True)
        keyed = {name.removeprefix("s"): collected for name, collected in students.items()}
        collection = Collection(FORMAT, "hw1", "softmax.py", students=keyed)
        (place / "collected.json").write_bytes(msgspec.json.encode(collection))

    def grade(self, student: str, assignment: str = "hw1") -> str:
        """One student's grade as `show` prints it."""
        given = self.environment.get("AUTOGRADER_DB", str(self.root / "gradebook.db"))
        with open_database(given) as database, database.read() as session:
            return spell(Book(session, assignment).standings()[student])


def course(root: Path) -> Desk:
    (root / "course.yaml").write_text("format: 1\nid: c\ntitle: Course\nassignments: [hw1, hw2]\n")
    for id in ("hw1", "hw2"):
        folder = root / "assignments" / id
        folder.mkdir(parents=True)
        (folder / "assignment.yaml").write_text(MANIFEST.format(id=id))
    (root / "roster.csv").write_text(ROSTER, encoding="utf-8")
    return Desk(root)


def opened(root: Path) -> Desk:
    desk = course(root)
    desk.ok("init")
    desk.ok("roster", "roster.csv")
    return desk
