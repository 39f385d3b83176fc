"""Servers that are busy, slow or gone: how long to wait, and what may be asked again.

Only what cannot have been carried out, or does no harm when it is carried out twice, is asked again here: reading, and
whatever the server turned away. A request that changes something and stays without an answer is the caller's matter.

Canvas turns away with 429 and, until 2025, with 403 and the text "Rate Limit Exceeded"; every answer tells what is left
of the quota in `X-Rate-Limit-Remaining` (Canvas LMS REST API, Throttling:
https://developerdocs.instructure.com/services/canvas/basics/file.throttling). `Retry-After` is seconds or a date
(RFC 9110, 10.2.3: https://www.rfc-editor.org/rfc/rfc9110#field.retry-after).
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import requests
from requests.adapters import HTTPAdapter

from autograder.lms.push.errors import PushError, TooBusy

_CONNECT = 10.0
"""Seconds for a connection."""
_LOW = 50.0
"""Units of Canvas's quota (700 when full) below which requests slow down."""
_READS = {"GET", "HEAD"}
LOST = (requests.ConnectionError, requests.Timeout, requests.exceptions.ChunkedEncodingError)


@dataclass
class Patience:
    """All times are seconds."""

    timeout: float = 60.0
    """For one answer."""
    job: float = 600.0
    """For work that the LMS does in the background."""
    tries: int = 5
    longest: float = 300.0
    """The longest pause that a server may ask for."""
    say: Callable[[str], None] = field(default=lambda _text: None)
    sleep: Callable[[float], None] = time.sleep

    def pause(self, tried: int, why: str, asked: float | None = None) -> None:
        """The pause the server asked for, else 0.5, 1, 2, ... seconds. Raises TooBusy for one that is too long."""
        seconds = min(0.5 * 2 ** (tried - 1), 60.0) if asked is None else asked
        if seconds > self.longest:
            raise TooBusy(f"{why} and asks for a pause of {seconds:.0f} s", "run the same command again after that")
        self.say(f"{why}; asking again in {seconds:g} s")
        self.sleep(seconds)

    def slow_down(self, response: requests.Response) -> None:
        try:
            left = float(response.headers.get("X-Rate-Limit-Remaining", "inf"))
        except ValueError:
            return
        if left < _LOW:
            self.sleep(1.0)


def turned_away(response: requests.Response) -> bool:
    """Whether the server says that it did nothing and that it may be asked again."""
    if response.status_code == 403:
        return "rate limit exceeded" in response.text.casefold()
    return response.status_code == 429 or (response.status_code == 503 and "Retry-After" in response.headers)


def asked_pause(response: requests.Response) -> float | None:
    """Seconds of `Retry-After`; None without one that can be understood."""
    text = response.headers.get("Retry-After", "").strip()
    if text.isdecimal():
        return float(text)
    try:
        until = parsedate_to_datetime(text)
    except ValueError:
        return None
    until = until if until.tzinfo else until.replace(tzinfo=UTC)
    return max(0.0, (until - datetime.now(UTC)).total_seconds())


class PatientAdapter(HTTPAdapter):
    """Every request through it has a time limit, and is asked again where that is safe."""

    def __init__(self, patience: Patience) -> None:
        super().__init__()
        self._patience = patience

    def send(
        self,
        request: requests.PreparedRequest,
        stream: bool = False,
        timeout: object = None,
        verify: bool | str = True,
        cert: str | tuple[str, str] | None = None,
        proxies: Mapping[str, str] | None = None,
    ) -> requests.Response:
        patience = self._patience
        limits, given = (_CONNECT, patience.timeout), dict(proxies or {})
        for tried in range(1, patience.tries + 1):
            try:
                response = super().send(request, False, limits, verify, cert, given)
                _ = response.content  # here, so that a connection lost half-way is noticed here
            except LOST as error:
                if tried == patience.tries or not (request.method in _READS or _never_arrived(error)):
                    raise
                patience.pause(tried, f"{host_of(request.url)} does not answer")
                continue
            patience.slow_down(response)
            if tried == patience.tries or not self._again(request, response):
                return response
            patience.pause(tried, f"{host_of(request.url)} is busy ({response.status_code})", asked_pause(response))
        raise AssertionError  # the last try returns or raises

    def _again(self, request: requests.PreparedRequest, response: requests.Response) -> bool:
        return turned_away(response) or (request.method in _READS and response.status_code in (500, 502, 503, 504))


def _never_arrived(error: Exception) -> bool:
    cause = getattr(error.args[0] if error.args else None, "reason", None)
    return isinstance(error, requests.ConnectTimeout) or type(cause).__name__ == "NewConnectionError"


def host_of(url: str | None) -> str:
    from urllib.parse import urlsplit

    return urlsplit(url or "").netloc.rpartition("@")[2]


def require_safe(url: str, option: str) -> str:
    """The address without a slash at its end. Raises PushError for one that would carry a token in the clear."""
    from urllib.parse import urlsplit

    parts = urlsplit(url.strip())
    local = parts.hostname in ("localhost", "127.0.0.1", "::1")
    if parts.scheme not in ("https", "http") or not parts.hostname or parts.username is not None:
        raise PushError(f"{option} {url!r} is no address", "give one such as https://canvas.example.edu")
    if parts.scheme == "http" and not local:
        raise PushError(f"{option} {url!r} would send the token unencrypted", "give the address with https://")
    return url.strip().rstrip("/")


def session_for(patience: Patience) -> requests.Session:
    session = requests.Session()
    prepare(session, patience)
    return session


def prepare(session: requests.Session, patience: Patience) -> None:
    """Time limits, back-off, silence; and ~/.netrc may not put another password in place of the token."""
    for name in ("canvasapi", "urllib3"):  # at DEBUG these log names, grades and the end of the token
        logging.getLogger(name).setLevel(logging.WARNING)
    session.auth = _unchanged
    for scheme in ("https://", "http://"):
        session.mount(scheme, PatientAdapter(patience))


def _unchanged(request: requests.PreparedRequest) -> requests.PreparedRequest:
    return request
