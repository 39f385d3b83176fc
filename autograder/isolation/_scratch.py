"""A child's scratch directory after or beside it: read, measure and remove it without following a link."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator

from autograder.isolation._types import MIB

KEPT_BYTES = 64 * MIB
_MAX_DEPTH = 32
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def collect(scratch: str) -> tuple[dict[str, bytes], int]:
    """(content by relative path, number of files left out) of the regular files, in the order of their names."""
    files: dict[str, bytes] = {}
    dropped = 0
    room = KEPT_BYTES
    try:
        top = os.open(scratch, _DIRECTORY)
    except OSError:
        return {}, 0
    for path, source in _walk(top, "", 0):
        content = None if source is None else _read(source, room)
        if content is None:
            dropped += 1
        else:
            files[path] = content
            room -= len(content)
    return files, dropped


def _walk(directory: int, prefix: str, depth: int) -> Iterator[tuple[str, int | None]]:
    """(path, descriptor) of regular files below an open directory, which is closed; None for what cannot be read."""
    try:
        with os.scandir(directory) as entries:
            found = sorted((entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries)
        for name, is_directory in found:
            path = prefix + name
            try:
                path.encode()
                if not is_directory:
                    source = os.open(name, _FILE, dir_fd=directory)
                elif depth < _MAX_DEPTH:
                    yield from _walk(os.open(name, _DIRECTORY, dir_fd=directory), path + "/", depth + 1)
                    continue
                else:
                    source = None
            except (OSError, UnicodeEncodeError):
                source = None
            yield path, source
    finally:
        os.close(directory)


def _read(source: int, room: int) -> bytes | None:
    with open(source, "rb") as file:
        state = os.fstat(source)
        if not stat.S_ISREG(state.st_mode) or state.st_size > room:
            return None
        return file.read(state.st_size)


def used(scratch: str, most_files: int) -> tuple[int, int]:
    """(bytes on disk, number of entries); stops counting above `most_files`.

    A tree too deep for a path counts as `most_files` + 1 entries.
    """
    size = count = 0
    pending = [scratch]
    while pending:
        try:
            with os.scandir(pending.pop()) as entries:
                for entry in entries:
                    count += 1
                    if count > most_files:
                        return size, count
                    if entry.is_dir(follow_symlinks=False):
                        pending.append(entry.path)
                    size += entry.stat(follow_symlinks=False).st_blocks * 512
        except FileNotFoundError:
            continue  # the child removed it meanwhile
        except OSError:
            return size, most_files + 1
    return size, count


def remove(scratch: str) -> None:
    """Remove a scratch directory whose child is gone, whatever it left: deep trees, no permissions, odd names."""
    os.chmod(scratch, 0o700)
    top = os.open(scratch, _DIRECTORY)
    try:
        while names := os.listdir(top):
            for name in names:
                _remove_entry(top, name)
    finally:
        os.close(top)
    os.rmdir(scratch)


def _remove_entry(top: int, name: str) -> None:
    """Remove one entry; a directory first moves its content up, so that depth never matters."""
    if not _is_directory(name, top):
        os.unlink(name, dir_fd=top)
        return
    os.chmod(name, 0o700, dir_fd=top)  # not a link, as just seen, and nobody is left to swap it
    inner = os.open(name, _DIRECTORY, dir_fd=top)
    try:
        for child in os.listdir(inner):
            if _is_directory(child, inner):
                os.chmod(child, 0o700, dir_fd=inner)  # moving a directory writes its ".." entry
            os.rename(child, secrets.token_hex(16), src_dir_fd=inner, dst_dir_fd=top)
    finally:
        os.close(inner)
    os.rmdir(name, dir_fd=top)


def _is_directory(name: str, parent: int) -> bool:
    return stat.S_ISDIR(os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode)
