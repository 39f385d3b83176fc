"""Shared by the tests: the repository's course, and the command line as a user starts it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="session")
def cli() -> Callable[..., subprocess.CompletedProcess[str]]:
    """`cli("run", "hw1", cwd=...)`: the command in a process of its own."""

    def call(*arguments: object, cwd: Path = ROOT, timeout: float = 300) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "autograder", *map(str, arguments)]
        return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=timeout, check=False)

    return call
