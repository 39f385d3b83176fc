"""Bundles unpacked and run as their platform does it: a container of namespaces, the documented folders, no network."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonschema

ROOT = Path(__file__).parent.parent
HERE = Path(__file__).parent
SECRET = "a-synthetic-secret-of-this-test"
SECONDS = 300


def can_contain() -> bool:
    """Whether this host lets us build the container at all."""
    return shutil.which("unshare") is not None and _runs([*_unshare(), "true"])


def can_deny() -> bool:
    """Whether the denials of Docker's default profile can be imitated."""
    code = "import pyseccomp; pyseccomp.SyscallFilter(pyseccomp.ALLOW)"
    return _runs([sys.executable, "-c", code])


def _runs(command: list[str]) -> bool:
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def _unshare() -> list[str]:
    """A mount and a network namespace; as an ordinary user inside a user namespace."""
    return ["unshare", "--mount", "--net", *([] if os.geteuid() == 0 else ["--user", "--map-root-user"])]


def validate(results: dict[str, Any], schema: str) -> None:
    jsonschema.validate(results, json.loads((ROOT / f"docs/schemas/{schema}.schema.json").read_text()))


def unpack(archive: Path, folder: Path) -> None:
    """With the modes that the archive names, as `unzip` does."""
    with zipfile.ZipFile(archive) as bundle:
        for entry in bundle.infolist():
            path = Path(bundle.extract(entry, folder))
            path.chmod(entry.external_attr >> 16 & 0o777)


def set_up(source: Path, place: Path) -> tuple[Path, list[str]]:
    """Run setup.sh; (the virtual environment, the calls of pip). pip and apt-get are stand-ins: the packages are those
    of this interpreter."""
    place.mkdir()
    venv, calls = place / "venv", place / "calls"
    programs = place / "bin"
    programs.mkdir()
    link = f'echo "{sysconfig.get_path("purelib")}" > "$("{venv}/bin/python" -c "{_SITE}")/packages.pth"'
    _program(programs / "pip", f'echo "$@" >> "{calls}"\n{link}')
    _program(programs / "apt-get", ":")
    environment = {
        "PATH": f"{programs}:/usr/bin:/bin",
        "AUTOGRADER_SOURCE": str(source),
        "AUTOGRADER_VENV": str(venv),
        "AUTOGRADER_PYTHON": sys.executable,
        "AUTOGRADER_PIP": str(programs / "pip"),
        "AUTOGRADER_TORCH_INDEX": "https://torch.example/cpu",
    }
    done = subprocess.run(
        ["bash", source / "setup.sh"], env=environment, capture_output=True, text=True, check=False, timeout=SECONDS
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "isolation of submissions" in done.stdout
    return venv, calls.read_text().splitlines()


_SITE = "import sysconfig; print(sysconfig.get_path('purelib'))"


def _program(path: Path, body: str) -> None:
    path.write_text(f"#!/bin/bash\n{body}\n")
    path.chmod(0o755)


@dataclass(frozen=True)
class Ran:
    """What a run left: its exit status, what it printed, the result if there is one."""

    status: int
    log: str
    results: dict[str, Any] | None
    text: str

    def tests(self, **wanted: str) -> list[dict[str, Any]]:
        assert self.results is not None
        return [test for test in self.results["tests"] if all(test[key] == value for key, value in wanted.items())]


@dataclass(frozen=True)
class Container:
    """An image: the folder that the platform mounts at /NAME, and the environment that setup.sh made."""

    folder: Path
    name: str
    venv: Path

    def run(self, scratch: Path, submission: dict[str, str], *, like_docker: bool = False) -> Ran:
        """Run a submission (file name to text) in a fresh copy of the folder."""
        folder = scratch / self.name
        shutil.copytree(self.folder, folder, symlinks=True)
        student, script = self._layout(folder)
        student.mkdir()
        (folder / "submission_metadata.json").write_text('{"users": [{"email": "student@example.org"}]}')
        for name, text in submission.items():
            (student / name).write_text(text)
        return self.start(folder, script, scratch, like_docker=like_docker)

    def _layout(self, folder: Path) -> tuple[Path, str]:
        if self.name == "grade":
            return folder / "student", "/grade/tests/run.sh"
        return folder / "submission", "/autograder/run_autograder"

    def start(self, folder: Path, script: str, scratch: Path, *, like_docker: bool) -> Ran:
        new = scratch / "new"
        new.mkdir(exist_ok=True)
        wrap = []
        if like_docker:
            capability = ["setpriv", "--bounding-set", "-sys_admin", "--inh-caps", "-sys_admin"]
            wrap = [*capability, "/opt/autograder/bin/python", str(HERE / "platform_denials.py")]
        places = [sysconfig.get_path("purelib"), sys.base_prefix, *([str(HERE)] if like_docker else [])]
        command = [*_unshare(), "bash", HERE / "platform_container.sh", new, self.venv, folder, self.name,
                   ":".join(places), *wrap, script]  # fmt: skip
        done = subprocess.run(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, timeout=SECONDS
        )
        result = folder / "results/results.json"
        text = result.read_text() if result.is_file() else ""
        return Ran(done.returncode, done.stdout, json.loads(text) if text else None, text)
