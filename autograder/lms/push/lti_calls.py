"""Requests to an LTI platform's services: the right token, pages, and errors in words.

LTI Assignment and Grade Services 2.0: https://www.imsglobal.org/spec/lti-ags/v2p0
"""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

import requests

from autograder.lms.push.errors import Busy, Denied, PushError, Unanswered
from autograder.lms.push.lti_tokens import Tokens
from autograder.lms.push.patience import LOST, asked_pause, host_of, turned_away

_AGS = "https://purl.imsglobal.org/spec/lti-ags/scope"
SCORE, RESULTS = f"{_AGS}/score", f"{_AGS}/result.readonly"
ITEMS, ITEMS_READ = f"{_AGS}/lineitem", f"{_AGS}/lineitem.readonly"
MEMBERS = "https://purl.imsglobal.org/spec/lti-nrps/scope/contextmembership.readonly"
_PAGES = 1000


def below(url: str, name: str) -> str:
    """The service `name` of a line item: before the query, which Moodle's addresses have (`?type_id=1`)."""
    parts = urlsplit(url)
    return urlunsplit(parts._replace(path=f"{parts.path.rstrip('/')}/{name}"))


def with_query(url: str, **more: str) -> str:
    parts = urlsplit(url)
    return urlunsplit(parts._replace(query=urlencode([*parse_qsl(parts.query), *more.items()])))


class Calls:
    """`reading` asks again what got no answer, `writing` (without back-off) leaves that to the caller."""

    def __init__(self, tokens: Tokens, reading: requests.Session, writing: requests.Session) -> None:
        self._tokens, self._reading, self._writing = tokens, reading, writing

    def get(self, url: str, accept: str, scope: str) -> requests.Response:
        """Raises PushError for whatever is no answer."""
        host = host_of(url)
        try:
            response = self._with_token(self._reading, "GET", url, scope, {"Accept": accept})
        except LOST as error:
            raise PushError(f"{host} does not answer ({type(error).__name__})",
                            "check the address and the network, then run the same command again") from None  # fmt: skip
        if response.status_code in (401, 403):
            raise PushError(f"{host} does not let this tool read {urlsplit(url).path} ({response.status_code})",
                            f"allow it the scope {scope} there") from None  # fmt: skip
        if response.status_code == 404:
            raise PushError(f"{host} has nothing at {urlsplit(url).path}", "check the address of the line item")
        if not response.ok:
            raise PushError(f"{host} answers {response.status_code}", "run the same command again later")
        return response

    def pages(self, url: str, accept: str, scope: str) -> list[Any]:
        """The JSON of every page. Raises PushError for a page elsewhere: the token is not sent to another server."""
        found: list[Any] = []
        start, following = url, url
        seen = set[str]()
        while following and following not in seen and len(found) < _PAGES:
            seen.add(following)
            response = self.get(following, accept, scope)
            try:
                found.append(response.json())
            except ValueError:
                raise PushError(f"{host_of(url)} does not answer with JSON", "check the address") from None
            following = response.links.get("next", {}).get("url", "")
            if following and urlsplit(following)[:2] != urlsplit(start)[:2]:
                raise PushError(f"{host_of(url)} names {host_of(following)} for the next page", "its set-up is wrong: "
                                "ask who runs it")  # fmt: skip
        return found

    def post(self, url: str, body: bytes, kind: str, scope: str) -> requests.Response:
        """Raises Busy when nothing was done, Denied with the platform's reason, Unanswered when what became of the
        request is not known.
        """
        try:
            response = self._with_token(self._writing, "POST", url, scope, {"Content-Type": kind}, body)
        except LOST:
            raise Unanswered from None
        if turned_away(response):
            raise Busy(asked_pause(response))
        if response.ok:
            return response
        if response.status_code >= 500:
            raise Unanswered
        raise Denied(self._said(response, scope))

    def _with_token(
        self, session: requests.Session, method: str, url: str, scope: str, headers: dict[str, str], body: bytes = b""
    ) -> requests.Response:
        """With a new token once when the one at hand is not accepted any more."""
        for last in (False, True):
            bearer = {"Authorization": f"Bearer {self._tokens.get(scope).value}"}
            response = session.request(method, url, headers={**headers, **bearer}, data=body or None,
                                       allow_redirects=False)  # fmt: skip
            if response.status_code != 401 or last:
                break
            self._tokens.forget(scope)
        return response

    def _said(self, response: requests.Response, scope: str) -> str:
        """The platform's words up to where they repeat what was sent."""
        text = " ".join((response.text or response.reason or "").split())
        text = self._tokens.get(scope).hidden_in(text)
        for start in ('{"userId"', '{"scoreGiven"'):
            text = text.partition(start)[0]
        return f"{response.status_code} {text[:200]}".strip()
