"""Archives, opened without trusting them: entries are listed, and read one at a time within limits."""

from __future__ import annotations

import bz2
import gzip
import io
import stat
import struct
import tarfile
import tempfile
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from autograder.collect.files import (
    ARCHIVES,
    MAX_ARCHIVE,
    MAX_ENTRIES,
    MAX_FILE,
    MAX_NOTEBOOK,
    MAX_RATIO,
    MAX_SOURCE_ENTRIES,
    MAX_UNPACKED,
    MIB,
    File,
    Listing,
    Problem,
    Reader,
    Refused,
    bounded,
    clean_path,
    is_clone,
    is_junk,
    never,
    refused,
    suffix,
)
from autograder.collect.text import shown

_FAULTS = (OSError, EOFError, ValueError, LookupError, RuntimeError, NotImplementedError, MemoryError, OverflowError,
           zlib.error, struct.error, zipfile.BadZipFile, tarfile.TarError)  # fmt: skip
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2)
_TEXT = ("", ".py", ".pyw", ".ipynb", ".txt", ".yml", ".yaml")
_SLACK = 16 * MIB
_CENTRAL_ENTRY = 400
"""Bytes of a central directory per allowed entry: more means more entries than allowed, or absurd ones."""

_DAMAGED = "download it again, or ask the student for a new archive"
_BOMB = "do not unpack it; ask the student for the file itself"


def list_archive(file: IO[bytes], prefix: str = "", *, nested: bool = True) -> Listing:
    """What is in an archive (zip or tar, told by its content). Reading its files needs `file` open.

    Raises:
        Refused: it is damaged, of another kind, or beyond the limits as a whole.
    """
    try:
        head = file.read(6)
        file.seek(0)
        entries = _zip_entries if head.startswith(b"PK") else _tar_entries
        return _listing(entries(file, nested), prefix, nested)
    except _FAULTS as error:
        if isinstance(error, Refused):
            raise
        raise refused("a damaged archive, or none at all", _DAMAGED) from None


def list_archive_at(path: Path) -> Listing:
    """What is in a download that is one archive; the file stays open as long as the listing is there."""
    return list_archive(path.open("rb"), nested=False)


def is_archive(file: File) -> bool:
    return suffix(file.name) in ARCHIVES


Entry = tuple[str, bool, int, Reader, Problem | None]
"""Name, whether it is a folder, size, reader, problem."""


def _listing(entries: Iterator[Entry], prefix: str, nested: bool) -> Listing:
    listing, total, most = Listing(), 0, MAX_ENTRIES if nested else MAX_SOURCE_ENTRIES
    for number, (name, is_folder, size, read, problem) in enumerate(entries):
        total += size if problem is None else 0
        if number >= most:
            raise refused(f"an archive of more than {most:,} entries", _BOMB)
        if nested and total > MAX_UNPACKED:
            raise refused(f"an archive of more than {MAX_UNPACKED // MIB} MiB", _BOMB)
        origin = shown(prefix + name)
        try:
            path = clean_path(name)
        except Refused as error:
            listing.unplaced.append((origin, error.problem))
            continue
        if is_clone(path):
            listing.clones.add(path[: path.index(".git")])
        if is_junk(path) or not path:
            continue
        if is_folder:
            listing.folders.add(path)
        else:
            listing.files.append(File(path, origin, size, read, problem))
    listing.files = _without_repeats(listing.files)
    return listing


def _without_repeats(files: list[File]) -> list[File]:
    """An entry that is there twice means one thing to one program and another to the next: neither is used."""
    times = Counter(file.path for file in files)
    problem = Problem("twice in the same archive", "ask the student which one counts")
    repeated = {
        path: File(path, shown("/".join(path)), 0, never, problem) for path, count in times.items() if count > 1
    }
    return [file for file in files if file.path not in repeated] + list(repeated.values())


def _zip_entries(file: IO[bytes], nested: bool) -> Iterator[Entry]:
    _check_directory_size(file, (MAX_ENTRIES if nested else MAX_SOURCE_ENTRIES) * _CENTRAL_ENTRY)
    archive = zipfile.ZipFile(file)
    for info in archive.infolist():
        name = _zip_name(info)
        yield name, name.endswith(("/", "\\")), info.file_size, _zip_reader(archive, info), _zip_problem(info)


def _check_directory_size(file: IO[bytes], most: int) -> None:
    """Refuse a central directory that would fill the memory; both places that may declare its size are looked at."""
    end = file.seek(0, io.SEEK_END)
    start = file.seek(max(0, end - 65_557 - 76))
    tail = file.read()
    file.seek(0)
    at = tail.rfind(b"PK\x05\x06")
    if at < 0 or len(tail) < at + 22:
        raise refused("a damaged archive, or none at all", _DAMAGED)
    sizes = [struct.unpack_from("<L", tail, at + 12)[0]]
    if at >= 76 and tail[at - 20 : at - 16] == b"PK\x06\x07" and tail[at - 76 : at - 72] == b"PK\x06\x06":
        sizes = [struct.unpack_from("<Q", tail, at - 76 + 40)[0]]
    if max(sizes) > min(most, start + at):
        raise refused("an archive with an impossible list of entries", _BOMB)


def _zip_name(info: zipfile.ZipInfo) -> str:
    """The entry's name; one that is not marked as UTF-8 often is UTF-8 all the same."""
    name = info.orig_filename
    if info.flag_bits & 0x800 or name.isascii():
        return name
    try:
        return name.encode("cp437").decode("utf-8")
    except UnicodeError:
        return name


def _zip_problem(info: zipfile.ZipInfo) -> Problem | None:
    kind = stat.S_IFMT(info.external_attr >> 16)
    if kind == stat.S_IFLNK:
        return Problem("a symbolic link in an archive, not followed", "ask the student for the file itself")
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        return Problem("a device or another special file in an archive", "ask the student for the file itself")
    if info.flag_bits & 0x1:
        return Problem("encrypted", "ask the student for an archive without a password")
    if info.compress_type not in _METHODS:
        return Problem("packed by a method that is not read here", "open it by hand, or ask for an ordinary zip")
    if info.file_size > MIB and info.file_size > MAX_RATIO * max(info.compress_size, 1):
        return Problem(f"a bomb: {info.compress_size:,} bytes that expand to {info.file_size:,}", _BOMB)
    if info.file_size > MAX_FILE:
        return Problem(f"{info.file_size:,} bytes when unpacked", _BOMB)
    return None


def _zip_reader(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Reader:
    def read(limit: int) -> bytes:
        if info.file_size > limit:
            _too_large(limit)
        try:
            with archive.open(info) as entry:
                return bounded(entry.read(limit + 1), limit)
        except _FAULTS as error:
            if isinstance(error, Refused):
                raise
            raise refused("a damaged entry of an archive", _DAMAGED) from None

    return read


def _too_large(limit: int) -> bytes:
    raise refused(f"larger than {limit:,} bytes", "ask whether it is the right file")


class _Stream:
    """A decompressed stream that ends with a refusal when it expands like a bomb; forward seeks are counted reads."""

    def __init__(self, packed: IO[bytes], inner: Any, most: int | None) -> None:
        self._packed, self._inner, self._most, self._position = packed, inner, most, 0

    def read(self, size: int = -1) -> bytes:
        if size < 0 or size > MAX_ARCHIVE:
            raise refused("an archive with an impossible header", _BOMB)
        data: bytes = self._inner.read(size)
        self._position += len(data)
        if self._position > min(self._most or 1 << 62, MAX_RATIO * self._packed.tell() + _SLACK):
            raise refused("an archive that expands like a bomb", _BOMB)
        return data

    def tell(self) -> int:
        return self._position

    def seek(self, position: int, whence: int = 0) -> int:
        if whence != 0 or position < self._position:
            raise refused("a damaged archive", _DAMAGED)
        while self._position < position:
            if not self.read(min(MIB, position - self._position)):
                break
        return self._position


def _tar_entries(file: IO[bytes], nested: bool) -> Iterator[Entry]:
    head = file.read(3)
    file.seek(0)
    most = MAX_UNPACKED + _SLACK if nested else None
    stream: Any = file
    if head.startswith(b"\x1f\x8b"):
        stream = _Stream(file, gzip.GzipFile(fileobj=file), most)
    elif head == b"BZh":
        stream = _Stream(file, bz2.BZ2File(file), most)
    spool = tempfile.TemporaryFile()  # noqa: SIM115  has no name; gone with the last reader
    with tarfile.open(fileobj=stream, mode="r:") as archive:
        for member in archive:
            archive.members = []  # type: ignore[attr-defined]  # else every header stays in memory
            problem = _tar_problem(member)
            read = never if problem or not member.isreg() else _spooled(archive, member, spool)
            yield member.name, member.isdir(), member.size if member.isreg() else 0, read, problem
    while stream is not file and stream.read(MIB):  # to its end, where the checksum is
        pass


def _tar_problem(member: tarfile.TarInfo) -> Problem | None:
    if member.issym() or member.islnk():
        return Problem("a link in an archive, not followed", "ask the student for the file itself")
    if member.isdir():
        return None
    if not member.isreg() or member.issparse():
        return Problem("a device or another special file in an archive", "ask the student for the file itself")
    if member.size > MAX_FILE:
        return Problem(f"{member.size:,} bytes when unpacked", _BOMB)
    return None


def _spooled(archive: tarfile.TarFile, member: tarfile.TarInfo, spool: IO[bytes]) -> Reader:
    """What may be needed is kept in a nameless file while the tar passes by; the rest is refused if asked for."""
    kind = suffix(member.name)
    most = MAX_ARCHIVE if kind in ARCHIVES else MAX_NOTEBOOK
    source = archive.extractfile(member) if kind in (*_TEXT, *ARCHIVES) and member.size <= most else None
    if source is None:
        return _too_large
    data = source.read(most)
    start = spool.seek(0, io.SEEK_END)
    spool.write(data)
    return _reader_of(spool, start, len(data))


def _reader_of(spool: IO[bytes], start: int, size: int) -> Reader:
    def read(limit: int) -> bytes:
        if size > limit:
            _too_large(limit)
        spool.seek(start)
        return spool.read(size)

    return read
