"""Downloads as platforms make them, built from plain data, and what `collect` left of them."""

from __future__ import annotations

import io
import json
import shutil
import stat
import struct
import subprocess
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from printed import words

ROOT = Path(__file__).parent.parent
STUBS = ("softmax_naive", "softmax_safe", "softmax_online", "block_state", "merge_states", "finalize")
Cli = Callable[..., subprocess.CompletedProcess[str]]
Files = Mapping[str, bytes | str]


def module(tag: str = "") -> bytes:
    """A module that defines everything; `tag` makes one differ from the next."""
    body = "\n\n".join(f"def {name}(*args):\n    raise NotImplementedError" for name in STUBS)
    return f"# {tag}\n{body}\n".encode()


def data(content: bytes | str) -> bytes:
    return content if isinstance(content, bytes) else content.encode()


def folder(root: Path, files: Files) -> Path:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if name.endswith("/"):
            path.mkdir(exist_ok=True)
        else:
            path.write_bytes(data(content))
    return root


def zipped(files: Files, *, method: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for name, content in files.items():
            archive.writestr(name, data(content))
    return buffer.getvalue()


def special_zip(*entries: tuple[zipfile.ZipInfo, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for info, content in entries:
            archive.writestr(info, content)
    return buffer.getvalue()


def special(name: str, kind: int) -> zipfile.ZipInfo:
    """An entry whose mode says that it is a link, a device ..."""
    info = zipfile.ZipInfo(name)
    info.create_system = 3
    info.external_attr = (kind | 0o644) << 16
    return info


def link(name: str) -> zipfile.ZipInfo:
    return special(name, stat.S_IFLNK)


def tarred(*members: tuple[tarfile.TarInfo, bytes], mode: str = "w:gz") -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=mode) as archive:  # type: ignore[call-overload]
        for info, content in members:
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return buffer.getvalue()


def bomb_zip(name: str, megabytes: int, beside: Files | None = None) -> bytes:
    """A zip with one entry of that many MiB of zeros: one piece of deflated zeros again and again."""
    deflate = zlib.compressobj(9, zlib.DEFLATED, -15)
    piece = deflate.compress(bytes(1 << 20)) + deflate.flush(zlib.Z_FULL_FLUSH)
    content = bytearray(zipped({name: piece * megabytes + b"\x03\x00", **(beside or {})}, method=zipfile.ZIP_STORED))
    for signature, method, size in ((b"PK\x03\x04", 8, 22), (b"PK\x01\x02", 10, 24)):
        at = content.index(signature)
        struct.pack_into("<H", content, at + method, zipfile.ZIP_DEFLATED)
        struct.pack_into("<L", content, at + size, megabytes << 20)
    return bytes(content)


@dataclass
class Result:
    """What a run printed and left."""

    code: int
    output: str
    out: Path

    @property
    def text(self) -> str:
        """For assertions: without the line breaks, which depend on the length of paths."""
        return words(self.output)

    @property
    def record(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.out / "collected.json").read_text())
        return found

    @property
    def students(self) -> dict[str, bytes]:
        return {path.parent.name: path.read_bytes() for path in sorted(self.out.glob("*/softmax.py"))}

    def lines(self, start: str) -> list[str]:
        return [line for line in self.output.splitlines() if line.strip().startswith(start)]


class Course:
    """A course with hw1 only; `collect` runs in it as staff would start it."""

    def __init__(self, root: Path, cli: Cli, *, notebooks: bool = False) -> None:
        self.root, self._cli = root, cli
        target = root / "solutions/hw1"
        target.mkdir(parents=True)
        shutil.copy(ROOT / "solutions/hw1/softmax.py", target)
        text = (ROOT / "solutions/hw1/assignment.yaml").read_text()
        assert "notebook_accepted: false" in text
        (target / "assignment.yaml").write_text(
            text.replace("notebook_accepted: false", f"notebook_accepted: {str(notebooks).lower()}")
        )
        (root / "course.yaml").write_text("format: 1\nid: test\ntitle: Test course\nassignments: [hw1, hw2]\n")

    def collect(self, source: Path, *options: object, roster: str | bytes | None = None) -> Result:
        arguments = list(options)
        if roster is not None:
            path = self.root / "roster.csv"
            path.write_bytes(data(roster))
            arguments += ["--roster", path]
        done = self._cli("collect", "hw1", source, *arguments, cwd=self.root)
        text = done.stdout + done.stderr
        assert "Traceback" not in text, text
        return Result(done.returncode, text, self.root / "submissions/hw1")
