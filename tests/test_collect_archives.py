"""`collect` on archives made to harm, and on honest ones with quirks: refused by name, and nobody else pays."""

from __future__ import annotations

import gzip
import io
import os
import resource
import stat
import struct
import subprocess
import sys
import tarfile
import time
import zipfile
from pathlib import Path

import pytest
from collect_support import Cli, Course, Result, bomb_zip, folder, link, module, special, special_zip, tarred, zipped

INFO = zipfile.ZipInfo


def _tar(name: str, kind: bytes = tarfile.REGTYPE, target: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info


def _twice() -> bytes:
    with pytest.warns(UserWarning, match="Duplicate name"):
        return special_zip((INFO("softmax.py"), module("1")), (INFO("softmax.py"), module("2")))


def _encrypted() -> bytes:
    """A zip whose entry is marked as encrypted, in both headers."""
    content = bytearray(zipped({"softmax.py": module()}))
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        content[content.index(signature) + offset] |= 1
    return bytes(content)


def _lying() -> bytes:
    """A zip that declares 10 bytes and holds 64 MiB."""
    content = bytearray(bomb_zip("softmax.py", 64))
    for at in (content.index(b"PK\x01\x02") + 24, 22):
        struct.pack_into("<L", content, at, 10)
    return bytes(content)


def _nested(depth: int) -> bytes:
    content = zipped({"softmax.py": module("deep")})
    for _ in range(depth):
        content = zipped({"inner.zip": content})
    return content


def _many() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for number in range(20_100):
            archive.writestr(f"{number}", b"")
    return buffer.getvalue()


SMALL = module("good")
HOSTILE: dict[str, tuple[bytes, str]] = {
    "traversal.zip": (zipped({"../../evil.py": SMALL, "x/softmax.py": SMALL}), "leads out of its folder"),
    "windows_traversal.zip": (zipped({"..\\..\\evil.py": SMALL}), "leads out of its folder"),
    "absolute.zip": (zipped({"/etc/cron.d/softmax.py": SMALL}), "an absolute path"),
    "drive.zip": (zipped({"C:\\Users\\softmax.py": SMALL}), "an absolute path"),
    "link.zip": (special_zip((link("softmax.py"), b"/etc/passwd")), "a symbolic link"),
    "device.zip": (special_zip((special("softmax.py", stat.S_IFCHR), b"")), "a device"),
    "encrypted.zip": (_encrypted(), "encrypted"),
    "nested.zip": (_nested(5), "too deep inside archives"),
    "many.zip": (_many(), "more than 20,000 entries"),
    "bomb.zip": (bomb_zip("softmax.py", 300), "a bomb"),
    "lying.zip": (_lying(), "damaged"),
    "broken.zip": (zipped({"softmax.py": SMALL})[:-30], "damaged"),
    "no_zip.zip": (b"PK\x03\x04 and then nothing", "damaged"),
    "sym.tar.gz": (tarred((_tar("softmax.py", tarfile.SYMTYPE, "/etc/passwd"), b"")), "a link in an archive"),
    "hard.tar": (tarred((_tar("softmax.py", tarfile.LNKTYPE, "/etc/passwd"), b""), mode="w"), "a link in an archive"),
    "fifo.tar": (tarred((_tar("softmax.py", tarfile.FIFOTYPE), b""), mode="w"), "a device"),
    "up.tar.gz": (tarred((_tar("../softmax.py"), SMALL)), "leads out of its folder"),
    "cut.tar.gz": (tarred((_tar("softmax.py"), SMALL))[:-20], "damaged"),
    "bomb.tar.gz": (tarred((_tar("zeros"), bytes(64 << 20))), "bomb"),
    "padded.tar.gz": (gzip.compress(bytes(64 << 20)), "bomb"),
    "secret.rar": (b"Rar!\x1a\x07\x00", "not opened here"),
}


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory, cli: Cli) -> Result:
    """One class in which everybody but one hands in an archive that is out to harm."""
    root = tmp_path_factory.mktemp("hostile")
    files = {f"{name.replace('.', '_')}/{name}": content for name, (content, _) in HOSTILE.items()}
    files["twice/twice.zip"] = _twice()
    files["honest/softmax.py"] = module("honest")
    (root / "course").mkdir()
    return Course(root / "course", cli).collect(folder(root / "s", files))


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_archive_is_listed_by_name(hostile: Result, name: str) -> None:
    says = HOSTILE[name][1]
    student = name.replace(".", "_")
    lines = hostile.lines(f"{student}:")
    assert any(says in line for line in lines), (lines, hostile.text[-1500:])
    assert student not in hostile.students or name == "traversal.zip"


def test_nobody_else_pays_and_nothing_escapes(hostile: Result) -> None:
    assert hostile.students == {"honest": module("honest"), "traversal_zip": SMALL}
    assert hostile.code == 1
    names = {path.name for path in hostile.out.parent.parent.parent.rglob("*") if path.is_file()}
    assert "evil.py" not in names


def test_an_entry_that_is_there_twice_is_not_chosen_between(hostile: Result) -> None:
    assert "twice in the same archive" in hostile.lines("twice:")[0]


def test_two_gigabytes_cost_neither_memory_nor_disk_nor_time(tmp_path: Path, cli: Cli) -> None:
    """In a class's download; the other students are collected, within 400 MiB of address space above Python's own."""
    (tmp_path / "course").mkdir()
    course = Course(tmp_path / "course", cli)
    source = tmp_path / "submissions.zip"
    source.write_bytes(bomb_zip("bad_2_20_softmax.py", 2048, {"good_1_10_softmax.py": module("good")}))
    script = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_AS, (700 << 20,) * 2);"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (64 << 20,) * 2);"
        "sys.argv[0] = 'autograder'; from autograder.cli import main; main()"
    )
    start = time.monotonic()
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([sys.executable, "-c", script, "collect", "hw1", str(source)], cwd=course.root,
                          capture_output=True, text=True, env={**os.environ, "OPENBLAS_NUM_THREADS": "1"})  # fmt: skip
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert done.returncode == 1, done.stdout + done.stderr
    result = Result(done.returncode, done.stdout, course.root / "submissions/hw1")
    assert result.students == {"1": module("good")}
    assert "a bomb" in result.lines("2:")[0]
    assert after.ru_utime - before.ru_utime < 5
    assert time.monotonic() - start < 60


def test_a_source_that_is_a_tar_bomb_is_refused_as_a_whole(tmp_path: Path, cli: Cli) -> None:
    (tmp_path / "course").mkdir()
    course = Course(tmp_path / "course", cli)
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz", compresslevel=9) as archive:
        info = tarfile.TarInfo("a/softmax.py")
        info.size = 100 << 20
        archive.addfile(info, io.BytesIO(bytes(info.size)))
    source = tmp_path / "s.tar.gz"
    source.write_bytes(buffer.getvalue())
    done = course.collect(source)
    assert (done.code, done.students) == (2, {})
    assert "expands like a bomb" in done.text


def test_honest_quirks(tmp_path: Path, cli: Cli) -> None:
    """Backslashes, UTF-8 names without the flag, cp437 names, junk of three systems, a zip in a zip."""
    (tmp_path / "course").mkdir()
    course = Course(tmp_path / "course", cli)
    unmarked = zipped({"Jos\u00e9/softmax.py": module("josé"), "ann/softmax.py": module("ann")})
    for signature, offset in ((b"PK\x03\x04", 7), (b"PK\x01\x02", 9)):
        at = unmarked.index(signature)
        assert unmarked[at + offset] == 0x08
        unmarked = unmarked[: at + offset] + b"\x00" + unmarked[at + offset + 1 :]
    old_name = "Zo\u00eb/softmax.py".encode("cp437")
    old = zipped({"Zo_/softmax.py": module("zoë")}).replace(b"Zo_/softmax.py", old_name)
    junk = {
        "__MACOSX/._softmax.py": b"x", ".DS_Store": b"x", "._softmax.py": b"x", "Thumbs.db": b"x",
        "__pycache__/softmax.cpython-311.pyc": b"x", ".ipynb_checkpoints/softmax.py": module("old"),
        ".git/softmax.py": module("older"), "venv/lib/site-packages/softmax.py": module("other"),
    }  # fmt: skip
    source = folder(
        tmp_path / "s",
        {
            "wei/a.zip": zipped({"hw1\\code\\softmax.py": module("wei"), **junk}),
            "mia/b.zip": zipped({"again.tar.gz": tarred((_tar("./softmax.py"), module("mia")))}),
            "leo/c.zip": zipped({"softmax.py": module("leo")}, method=zipfile.ZIP_BZIP2),
        },
    )
    done = course.collect(source)
    assert (done.code, done.students) == (0, {"wei": module("wei"), "mia": module("mia"), "leo": module("leo")})
    for place, content in enumerate((unmarked, old)):
        path = tmp_path / f"{place}.zip"
        path.write_bytes(content)
    first = course.collect(tmp_path / "0.zip", "--out", tmp_path / "o1")
    second = course.collect(tmp_path / "1.zip", "--layout", "folder", "--out", tmp_path / "o2")
    assert (first.code, second.code) == (0, 0), first.text + second.text
    assert sorted(path.name for path in (tmp_path / "o1").iterdir() if path.is_dir()) == ["José", "ann"]
    assert [path.name for path in (tmp_path / "o2").iterdir() if path.is_dir()] == ["Zoë"]
