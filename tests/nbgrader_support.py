"""A course folder that nbgrader's own commands made, with a class that was really graded."""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import msgspec

from autograder import cli
from autograder import record as rec
from autograder.manifest import load_corpus, load_course

ROOT = Path(__file__).parent.parent
ALL = ("hw1", "hw2", "hw3", "hw4", "hw5", "hw6")
CONFIG = 'c = get_config()\nc.CourseDirectory.course_id = "tiles"\n'
HOSTILE = 'raise ValueError("<img src=x onerror=alert(1)> ```")\n'
STAMP = "2026-09-14 10:00:00 UTC"


def run(*arguments: object, cwd: Path = ROOT) -> tuple[int, str]:
    """The `autograder` command in this process, which has imported nbgrader already: exit status, all it printed."""
    with patch.object(sys, "argv", ["autograder", *map(str, arguments)]):
        return _captured(cli.main, cwd)


def _captured(command: Callable[[], object], cwd: Path) -> tuple[int, str]:
    printed, end = io.StringIO(), 0
    with chdir(cwd), redirect_stdout(printed), redirect_stderr(printed), patch.object(sys, "stdin", io.StringIO()):
        try:
            command()
        except SystemExit as exit:
            end = exit.code if isinstance(exit.code, int) else int(exit.code is not None)
    return end, printed.getvalue()


def nbgrader(course: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    """nbgrader's own command, in a process of its own."""
    environment = {**os.environ, "PYTHONWARNINGS": "ignore"}
    environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    command = [sys.executable, "-m", "nbgrader", *map(str, arguments)]
    return subprocess.run(
        command, cwd=course, env=environment, capture_output=True, text=True, timeout=300, check=False
    )


@dataclass(frozen=True)
class Desk:
    """A course folder, and the records of its class."""

    course: Path
    records: Path

    def copy(self, to: Path) -> Desk:
        shutil.copytree(self.course, to / "course", symlinks=True)
        shutil.copytree(self.records, to / "records")
        return Desk(to / "course", to / "records")

    def scores(self, *more: object) -> tuple[int, str]:
        given = ("--course", self.course, "--records", self.records)
        return run("nbgrader", "scores", "hw1", *given, *more)

    def exported(self, *more: str, plugin: bool = True) -> tuple[int, str]:
        """`nbgrader export`, with our plugin or its own, in this process."""
        from nbgrader.apps.exportapp import ExportApp

        def command() -> None:
            app = ExportApp()
            chosen = ["--exporter", "autograder.nbgrader_bridge.LmsExport"] if plugin else []
            app.initialize(["--assignment=['hw1']", *chosen, *more])
            app.start()

        return _captured(command, self.course)

    def hand_in(self, student: str, module: bytes, *, notebook: bool = True, stamp: str = STAMP) -> None:
        folder = self.course / "submitted" / student / "hw1"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "softmax.py").write_bytes(module)
        (folder / "timestamp.txt").write_text(stamp)
        if notebook:
            shutil.copy(self.course / "release" / "hw1" / "hw1.ipynb", folder)

    def record(self, student: str) -> rec.Record:
        return rec.decode((self.records / f"{student}.json").read_bytes())

    def put(self, record: rec.Record) -> None:
        (self.records / f"{record.submission.id}.json").write_bytes(rec.encode(record))

    def renamed(self, student: str, id: str) -> rec.Record:
        """The record of a student under another id."""
        record = self.record(student)
        return msgspec.structs.replace(record, submission=msgspec.structs.replace(record.submission, id=id))

    @contextmanager
    def api(self) -> Iterator[Any]:
        """What formgrader asks."""
        from nbgrader.apps import NbGrader
        from nbgrader.apps.api import NbGraderAPI

        with chdir(self.course), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            app = NbGrader(log_level=50)
            app.initialize([])
            yield NbGraderAPI(app.coursedir, parent=app)

    @contextmanager
    def gradebook(self) -> Iterator[Any]:
        from nbgrader.api import Gradebook

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with Gradebook(f"sqlite:///{self.course / 'gradebook.db'}", "tiles") as gradebook:
                yield gradebook
                gradebook.db.commit()

    def grades(self, student: str) -> dict[str, dict[str, Any]]:
        """Every cell's grade of a student, as nbgrader has it."""
        with self.gradebook() as gradebook:
            (notebook,) = gradebook.find_submission("hw1", student).notebooks
            return {grade.name: {**grade.to_dict(), "score": grade.score} for grade in notebook.grades}

    def comments(self, student: str) -> dict[str, str]:
        with self.gradebook() as gradebook:
            (notebook,) = gradebook.find_submission("hw1", student).notebooks
            return {comment.name: comment.auto_comment for comment in notebook.comments if comment.auto_comment}

    def shown(self, student: str) -> dict[str, dict[str, Any]]:
        """The cells that formgrader shows, by id."""
        path = self.course / "autograded" / student / "hw1" / "hw1.ipynb"
        cells = json.loads(path.read_text())["cells"]
        return {cell["metadata"]["nbgrader"]["grade_id"]: cell for cell in cells if "nbgrader" in cell["metadata"]}


def code_points(desk: Desk, student: str) -> float:
    return sum(one["score"] for name, one in desk.grades(student).items() if name.startswith("check-"))


def printed_below(cell: dict[str, Any]) -> str:
    return "".join("".join(output["text"]) for output in cell["outputs"])


def build(folder: Path) -> Desk:
    """The six assignments in a course, hw1 generated by nbgrader, and three graded hand-ins of it."""
    desk = Desk(folder / "course", folder / "records")
    desk.course.mkdir()
    (desk.course / "nbgrader_config.py").write_text(CONFIG)
    code, printed = run("nbgrader", "setup", *ALL, "--course", desk.course)
    assert code == 0, printed
    done = nbgrader(desk.course, "generate_assignment", "hw1")
    assert done.returncode == 0, done.stderr
    variants = {one.id: one.source for one in load_corpus(load_course(ROOT).assignment("hw1"))}
    desk.hand_in("ada", (ROOT / "solutions/hw1/softmax.py").read_bytes())
    desk.hand_in("bob", variants["wrong/online_no_rescale"].encode())
    desk.hand_in("eve", HOSTILE.encode(), notebook=False)
    command = [sys.executable, "-m", "autograder", "grade", "hw1", str(desk.course / "submitted"), "--jobs", "1",
               "--out", str(desk.records), "--isolation", "process"]  # fmt: skip
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True, timeout=300)
    return desk
