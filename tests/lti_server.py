"""An LTI 1.3 platform with one course: tokens, line items, scores, results and members, by Moodle's or Canvas's rules.

LTI Assignment and Grade Services 2.0 https://www.imsglobal.org/spec/lti-ags/v2p0, Names and Role Provisioning Services
2.0 https://www.imsglobal.org/spec/lti-nrps/v2p0, 1EdTech Security Framework 1.0
https://www.imsglobal.org/spec/security/v1p0/
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal
from urllib.parse import parse_qs

import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from push_server import Reply, Request, Server

CLIENT, KEY_ID = "10000000000042", "tool-key-1"
_SCOPES = "https://purl.imsglobal.org/spec/lti-ags/scope/"
_MEMBERS = "https://purl.imsglobal.org/spec/lti-nrps/scope/contextmembership.readonly"
_STAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3,6}(Z|[+-]\d\d:\d\d)")
SUBMISSION = "https://canvas.instructure.com/lti/submission"


@dataclass
class Learner:
    user: str
    name: str = ""
    sourced: str = ""
    email: str = ""
    score: float | None = None
    changed: datetime | None = None
    """Of the newest score, as the platform compares it."""
    comments: list[str] = field(default_factory=list)
    accepted: list[dict[str, Any]] = field(default_factory=list)
    """Every score that was taken, in order."""


def new_key() -> tuple[str, Any]:
    """A private key in PEM form, and the public one."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    form, kind = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    return key.private_bytes(serialization.Encoding.PEM, form, kind).decode(), key.public_key()


class Platform(Server):
    """Its first line item is at `lineitem`, with a query as in Moodle's addresses."""

    def __init__(self, public: Any, *learners: Learner, rules: Literal["moodle", "canvas"] = "moodle") -> None:
        super().__init__()
        self._public, self.rules = public, rules
        self.learners = {one.user: one for one in learners}
        self.items: list[dict[str, Any]] = [{"label": "Tiles", "scoreMaximum": 10.0, "resourceId": "old"}]
        self.page_size = 2
        self.life = 3600
        """Seconds that a token is good for."""
        self.tokens: dict[str, str] = {}
        """Token to scope; take one out and it has expired."""
        self.refuses: set[str] = set()
        """Last words of scopes that are not given."""
        self._seen: set[str] = set()

    @property
    def token_url(self) -> str:
        return f"{self.url}/token"

    @property
    def lineitems(self) -> str:
        return f"{self.url}/2/lineitems?type_id=7"

    @property
    def lineitem(self) -> str:
        return self._address(0)

    @property
    def members(self) -> str:
        return f"{self.url}/2/memberships?type_id=7"

    def handle(self, request: Request) -> Reply:
        if request.path == "/token":
            return self._token(request)
        scope = self.tokens.get(request.headers.get("Authorization", "").removeprefix("Bearer "))
        if scope is None or request.args("type_id") != ["7"]:
            return Reply(401, {"error": "invalid_token"})
        place = re.fullmatch(r"/2/lineitems/(\d+)/lineitem(/scores|/results)?", request.path)
        if request.path == "/2/memberships":
            return self._memberships(request, scope)
        if request.path == "/2/lineitems":
            return self._lineitems(request, scope)
        if place is None or int(place[1]) >= len(self.items):
            return Reply(404, {"error": "not found"})
        number = int(place[1])
        if place[2] is None:
            return self._if(scope, "lineitem.readonly", Reply(200, self._item(number)))
        if place[2] == "/results":
            return self._results(request, scope, number)
        return self._score(request, scope, number) if request.method == "POST" else Reply(405)

    def _token(self, request: Request) -> Reply:
        form = {name: values[0] for name, values in parse_qs(request.body.decode()).items()}
        try:
            assert form["grant_type"] == "client_credentials"
            assert form["client_assertion_type"] == "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
            assert jwt.get_unverified_header(form["client_assertion"])["kid"] == KEY_ID
            said = jwt.decode(form["client_assertion"], self._public, algorithms=["RS256"], audience=self.token_url,
                              options={"require": ["iss", "sub", "aud", "iat", "exp", "jti"]})  # fmt: skip
            assert said["iss"] == said["sub"] == CLIENT
            assert said["jti"] not in self._seen
        except (AssertionError, KeyError, jwt.PyJWTError):
            return Reply(400, {"error": "invalid_client", "error_description": form.get("client_assertion")})
        self._seen.add(said["jti"])
        if form["scope"].rpartition("/")[2] in self.refuses:
            return Reply(400, {"error": "invalid_scope"})
        token = f"token-{len(self._seen)}-of-the-platform"
        self.tokens[token] = form["scope"]
        body = {"access_token": token, "token_type": "Bearer", "expires_in": self.life, "scope": form["scope"]}
        return Reply(200, body)

    def _if(self, scope: str, needed: str, reply: Reply) -> Reply:
        known = {f"{_SCOPES}{needed}", f"{_SCOPES}{needed.removesuffix('.readonly')}", needed}
        return reply if scope in known else Reply(403, {"error": "insufficient_scope"})

    def _address(self, number: int) -> str:
        return f"{self.url}/2/lineitems/{number}/lineitem?type_id=7"

    def _item(self, number: int) -> dict[str, Any]:
        return {"id": self._address(number), **self.items[number]}

    def _lineitems(self, request: Request, scope: str) -> Reply:
        """Filters are ignored, as a platform may."""
        if request.method == "POST":
            assert request.headers["Content-Type"] == "application/vnd.ims.lis.v2.lineitem+json"
            self.items.append(json.loads(request.body))
            return self._if(scope, "lineitem", Reply(201, self._item(len(self.items) - 1)))
        shown = [self._item(number) for number in range(len(self.items))]
        return self._if(scope, "lineitem.readonly", self.page(request, shown, self.page_size))

    def _results(self, request: Request, scope: str, number: int) -> Reply:
        shown = [self._result(one, number) for one in self.learners.values() if one.changed is not None]
        return self._if(scope, "result.readonly", self.page(request, shown, self.page_size))

    def _result(self, one: Learner, number: int) -> dict[str, Any]:
        result: dict[str, Any] = {"id": f"{self._address(number)}/results/{one.user}", "userId": one.user}
        full = self.items[number]["scoreMaximum"]
        if self.rules == "canvas" and one.score is not None:
            result |= {"resultScore": one.score, "resultMaximum": full}
        if self.rules == "moodle" and one.score:  # Moodle shows a 0 like no grade
            result |= {"resultScore": one.score, "resultMaximum": full, "timestamp": one.changed.isoformat()}
        return result

    def _score(self, request: Request, scope: str, number: int) -> Reply:
        if f"{_SCOPES}score" != scope:
            return Reply(403, {"error": "insufficient_scope"})
        if request.headers["Content-Type"] != "application/vnd.ims.lis.v1.score+json":
            return Reply(400, b"No context or unsupported content type")
        score = json.loads(request.body)
        if not _STAMP.fullmatch(score["timestamp"]) or ("scoreGiven" in score and "scoreMaximum" not in score):
            return Reply(400, b"Incorrect score received" + request.body)
        one = self.learners.get(score["userId"])
        if one is None:
            moodle = Reply(400, b"Incorrect score received" + request.body)
            return moodle if self.rules == "moodle" else Reply(422, {"errors": {"message": "User not found in course"}})
        stamp = datetime.fromisoformat(score["timestamp"])
        if refused := self._too_old(one, stamp):
            return refused
        one.changed = stamp.replace(microsecond=0) if self.rules == "moodle" else stamp
        fully = score["gradingProgress"] == "FullyGraded" and "scoreGiven" in score
        one.score = score["scoreGiven"] / score["scoreMaximum"] * self.items[number]["scoreMaximum"] if fully else None
        one.accepted.append(score)
        if "comment" in score:
            # Canvas adds each comment, Moodle keeps the last
            one.comments = [*(one.comments if self.rules == "canvas" else []), score["comment"]]
        return Reply(200, {"resultUrl": f"{self._address(number)}/results/{one.user}"})

    def _too_old(self, one: Learner, stamp: datetime) -> Reply | None:
        if one.changed is None:
            return None
        if self.rules == "moodle" and one.changed >= stamp.replace(microsecond=0):
            return Reply(409, b"Refusing score with an earlier timestamp for item 3 and user " + one.user.encode())
        if self.rules == "canvas" and one.changed > stamp:
            text = f"Provided timestamp of {stamp} before last updated timestamp of {one.changed}"
            return Reply(400, {"errors": {"message": text}})
        return None

    def graded_by_hand(self, user: str, score: float) -> None:
        self.learners[user].score = score
        self.learners[user].changed = datetime.now(UTC)

    def _memberships(self, request: Request, scope: str) -> Reply:
        roles = ["http://purl.imsglobal.org/vocab/lis/v2/membership#Learner"]
        people = [
            {"user_id": one.user, "name": one.name, "lis_person_sourcedid": one.sourced, "email": one.email,
             "status": "Active", "roles": roles}
            for one in self.learners.values()
        ]  # fmt: skip
        people += [
            {"user_id": "90", "name": "A Teacher", "lis_person_sourcedid": "00451", "status": "Active",
             "roles": ["http://purl.imsglobal.org/vocab/lis/v2/membership#Instructor"]},
            {"user_id": "91", "name": "Gone", "lis_person_sourcedid": "00452", "status": "Inactive", "roles": roles},
        ]  # fmt: skip
        reply = self.page(request, people, self.page_size)
        reply.body = {"id": self.members, "members": reply.body}
        return self._if(scope, _MEMBERS, reply)
