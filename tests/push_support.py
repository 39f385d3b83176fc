"""A course with graded records, and `autograder push` in this process or in one of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from gradebook_support import course, record

from autograder import record as rec
from autograder.cli import main

ROOT = Path(__file__).parent.parent
SECRETS = ("AUTOGRADER_CANVAS_TOKEN", "AUTOGRADER_LTI_KEY", "AUTOGRADER_DB", "AUTOGRADER_CANVAS_URL",
           "AUTOGRADER_LTI_TOKEN_URL", "AUTOGRADER_LTI_CLIENT_ID", "AUTOGRADER_AUTHOR")  # fmt: skip


@dataclass
class Done:
    code: int
    out: str
    err: str

    @property
    def text(self) -> str:
        """Both, each run of white space one space: lines are as wide as the terminal."""
        return " ".join(f"{self.out} {self.err}".split())


class Office:
    """Where the staff sit: a course folder with `grades/hw1` and `roster.csv`."""

    def __init__(self, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.root, self._capsys = root, capsys
        self.desk = course(root)

    def grades(self, **scores: float | None) -> None:
        """By student; None is a grader error, which is no grade."""
        folder = self.root / "grades" / "hw1"
        folder.mkdir(parents=True, exist_ok=True)
        for path in folder.iterdir():
            path.unlink()
        for name, score in scores.items():
            (folder / f"{name}.json").write_bytes(rec.encode(record(name, score)))

    def roster(self, header: str, *lines: str) -> None:
        (self.root / "roster.csv").write_text("\n".join((header, *lines)) + "\n", encoding="utf-8")

    def gradebook(self, *records: rec.Record) -> None:
        """A gradebook with the course's roster and these records."""
        self.desk.records(*records)
        for command in (("init",), ("roster", "roster.csv"), ("import", "hw1", "grades/hw1", "--yes")):
            assert self.run("gradebook", *command).code == 0

    def run(self, *arguments: object) -> Done:
        """The command line as `autograder` starts it, in this process."""
        before = sys.argv
        sys.argv = ["autograder", *map(str, arguments)]
        self._capsys.readouterr()
        try:
            with pytest.raises(SystemExit) as ended:
                main()
        finally:
            sys.argv = before
        out, err = self._capsys.readouterr()
        assert "Traceback" not in err
        return Done(int(ended.value.code or 0), out, err)

    def start(self, *arguments: object, stdin: int = subprocess.DEVNULL) -> subprocess.Popen[str]:
        """The same in a process of its own, which can be killed."""
        command = [sys.executable, "-m", "autograder", *map(str, arguments)]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        return subprocess.Popen(command, cwd=self.root, env=environment, text=True, stdin=stdin,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)  # fmt: skip


def office_in(root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Office:
    for name in SECRETS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.null.Keyring")
    monkeypatch.chdir(root)
    return Office(root, capsys)
