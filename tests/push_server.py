"""What the servers of the push tests share: HTTP on a free port, a log of requests, and faults on order."""

from __future__ import annotations

import json
import re
import threading
import time
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit


@dataclass
class Reply:
    status: int = 200
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)


@dataclass
class Request:
    method: str
    path: str
    query: list[tuple[str, str]]
    headers: dict[str, str]
    body: bytes
    at: float = field(default_factory=time.monotonic)
    """Seconds."""
    status: int = 0
    """0: no answer was given."""

    def args(self, name: str) -> list[str]:
        return [value for key, value in self.query if key == name]


@dataclass
class Fault:
    """What happens to the next `times` requests that fit.

    kind      effect
    answer    `reply` is the answer and nothing is done
    slow      the answer comes after `seconds`; what was asked is done before
    before    the connection is closed and nothing is done
    after     what was asked is done, then the connection is closed without an answer
    half      what was asked is done, the connection is closed in the middle of the answer
    """

    kind: str
    fits: str
    """Searched in `METHOD path`."""
    times: int = 1
    reply: Reply = field(default_factory=Reply)
    seconds: float = 0.0
    skip: int = 0
    """How many that fit go unharmed first."""


class _Http(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that was killed in the middle of a request is part of the tests."""


class Server:
    """Subclasses answer in `handle`; it runs under a lock, one request at a time."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.faults: list[Fault] = []
        self._awaited: list[tuple[str, int, threading.Event]] = []
        self._lock = threading.Lock()
        self._closing = threading.Event()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                outer._serve(self)

            do_POST = do_GET

            def log_message(self, *_: object) -> None:
                pass

        self._http = _Http(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    def __enter__(self) -> Server:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def handle(self, request: Request) -> Reply:
        raise NotImplementedError

    def seen(self, fits: str) -> list[Request]:
        return [one for one in self.requests if re.search(fits, f"{one.method} {one.path}")]

    def when(self, fits: str, times: int = 1) -> threading.Event:
        """Set once so many requests that fit have come in."""
        event = threading.Event()
        self._awaited.append((fits, times, event))
        return event

    def page(self, request: Request, items: list[Any], size: int, name: str = "per_page") -> Reply:
        """A page, and the address of the next one as real systems give it: opaque, with the filters in it."""
        asked = int((request.args(name) or ["100"])[0])
        number, size = int((request.args("page") or ["1"])[0]), min(size, asked)
        part, headers = items[(number - 1) * size : number * size], {}
        if number * size < len(items):
            kept = "&".join(f"{key}={value}" for key, value in request.query if key != "page")
            following = f"{self.url}{request.path}?{kept}&page={number + 1}"
            headers["Link"] = f'<{self.url}{request.path}>; rel="first", <{following}>; rel="next"'
        return Reply(200, part, headers)

    def _serve(self, handler: BaseHTTPRequestHandler) -> None:
        parts = urlsplit(handler.path)
        body = handler.rfile.read(int(handler.headers.get("Content-Length") or 0))
        request = Request(handler.command, parts.path, parse_qsl(parts.query), dict(handler.headers), body)
        with self._lock:
            self.requests.append(request)
            for fits, times, event in self._awaited:
                if len(self.seen(fits)) >= times:
                    event.set()
            fault = self._fault(request)
            if fault is not None and fault.kind in ("answer", "before"):
                reply = fault.reply
            else:
                reply = self.handle(request)
        if fault is not None and fault.kind == "slow":
            self._closing.wait(fault.seconds)
        if fault is not None and fault.kind in ("before", "after"):
            handler.close_connection = True
            return
        self._answer(handler, request, reply, half=fault is not None and fault.kind == "half")

    def _fault(self, request: Request) -> Fault | None:
        for fault in self.faults:
            if fault.times and re.search(fault.fits, f"{request.method} {request.path}"):
                if fault.skip:
                    fault.skip -= 1
                    continue
                fault.times -= 1
                return fault
        return None

    def _answer(self, handler: BaseHTTPRequestHandler, request: Request, reply: Reply, *, half: bool) -> None:
        data = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
        request.status = reply.status
        try:
            handler.send_response(reply.status)
            kind = {"Content-Type": "application/json"}
            for name, value in {**kind, **reply.headers, "Content-Length": str(len(data))}.items():
                handler.send_header(name, value)
            handler.end_headers()
            handler.wfile.write(data[: len(data) // 2] if half else data)
        except (BrokenPipeError, ConnectionResetError):
            pass
        if half:
            handler.close_connection = True
