"""Length-prefixed frames between grader, warm parent and monitors (all trusted), with deadlines on the reading side."""

from __future__ import annotations

import select
import socket
import struct
import time
from collections.abc import Sequence

import msgspec

from autograder.isolation._types import Exit, Layer, Limits

_HEADER = struct.Struct("!I")


class Config(msgspec.Struct, frozen=True):
    """Grader to warm parent, once."""

    isolation: str
    allow_process: bool
    preload: list[str]
    entry: str
    temporary: str
    import_paths: list[str]
    visible_paths: list[str]


class Ready(msgspec.Struct, frozen=True):
    """Warm parent to grader, once; `error` says why it could not get ready.

    `scratch` is the folder of scratch directories on this host, empty where they live in memory.
    """

    mode: str = ""
    layers: list[Layer] = []
    scratch: str = ""
    error: str = ""


class Spawn(msgspec.Struct, frozen=True):
    """Grader to warm parent, with three descriptors: channel, output pipe, report socket."""

    slot: int
    limits: Limits
    keep_files: bool


class Report(msgspec.Struct, frozen=True):
    """Monitor to grader, twice: when the child stands behind all its layers, and when nothing of it is left."""

    pid: int = 0
    exit: Exit | None = None
    error: str = ""


def send(sock: socket.socket, message: msgspec.Struct, fds: Sequence[int] = ()) -> None:
    """Send one frame; descriptors travel with its first byte."""
    body = msgspec.msgpack.encode(message)
    header = _HEADER.pack(len(body))
    if fds:
        socket.send_fds(sock, [header], list(fds))
        sock.sendall(body)
    else:
        sock.sendall(header + body)


def receive(sock: socket.socket, fd_count: int = 0) -> tuple[bytes | None, list[int]]:
    """Read one frame, blocking; (None, []) at the end of the stream."""
    header, fds, _, _ = socket.recv_fds(sock, _HEADER.size, fd_count)
    header += _exactly(sock, _HEADER.size - len(header)) if header else b""
    if len(header) < _HEADER.size:
        return None, []
    (size,) = _HEADER.unpack(header)
    body = _exactly(sock, size)
    return (body if len(body) == size else None), list(fds)


def _exactly(sock: socket.socket, size: int) -> bytes:
    parts: list[bytes] = []
    while size > 0:
        part = sock.recv(min(size, 1 << 20))
        if not part:
            break
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


class Reader:
    """Reads frames from a socket without ever waiting past a deadline."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self._data = bytearray()

    def frame(self, deadline: float | None) -> bytes | None:
        """The next frame, or None when the deadline (of time.monotonic) passes first; EOFError at the end."""
        while True:
            body = self._complete()
            if body is not None:
                return body
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            poller = select.poll()
            poller.register(self._sock, select.POLLIN)
            if not poller.poll(None if left is None else int(left * 1000) + (left > 0)):
                return None
            part = self._sock.recv(1 << 20)
            if not part:
                raise EOFError
            self._data += part

    def _complete(self) -> bytes | None:
        if len(self._data) < _HEADER.size:
            return None
        (size,) = _HEADER.unpack_from(self._data)
        end = _HEADER.size + size
        if len(self._data) < end:
            return None
        body = bytes(self._data[_HEADER.size : end])
        del self._data[:end]
        return body
