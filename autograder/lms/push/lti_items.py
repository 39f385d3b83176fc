"""Line items and members of an LTI platform: the column to write to, and who is in the course.

LTI Assignment and Grade Services 2.0, 3.2 "Line item service": https://www.imsglobal.org/spec/lti-ags/v2p0
LTI Names and Role Provisioning Services 2.0: https://www.imsglobal.org/spec/lti-nrps/v2p0
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from autograder.lms.numbers import exact, spelled
from autograder.lms.push.errors import Busy, Denied, PushError, Unanswered
from autograder.lms.push.held import Held
from autograder.lms.push.lti_calls import ITEMS, ITEMS_READ, MEMBERS, Calls, with_query
from autograder.lms.push.patience import Patience, host_of

_ITEM = "application/vnd.ims.lis.v2.lineitem+json"
_LIST = "application/vnd.ims.lis.v2.lineitemcontainer+json"
_MEMBERS = "application/vnd.ims.lti-nrps.v2.membershipcontainer+json"
_TRIES = 3


@dataclass(frozen=True)
class Item:
    url: str
    """Empty for one that is still to be made."""
    label: str
    maximum: Decimal


@dataclass(frozen=True)
class Wanted:
    """A line item by what the tool called it, in the list at `url`."""

    url: str
    resource_id: str
    tag: str = ""
    label: str = ""

    def fits(self, item: dict[str, Any]) -> bool:
        """Platforms may ignore the filters of a request."""
        return item.get("resourceId") == self.resource_id and (not self.tag or item.get("tag") == self.tag)


def read_item(calls: Calls, url: str, maximum: Decimal | None) -> Item:
    """`maximum`: what to take it for, whatever the platform says."""
    if maximum is not None:
        return Item(url, "", maximum)
    found = calls.get(url, _ITEM, ITEMS_READ)
    try:
        return _item({**found.json(), "id": url})
    except (ValueError, TypeError):
        raise PushError(f"{host_of(url)} has no line item there", "take the address from the tool's launch") from None


def find_item(calls: Calls, wanted: Wanted, scope: str = ITEMS_READ) -> Item | None:
    """None when there is none. Raises PushError when more than one fits: nothing is guessed."""
    more = {"resource_id": wanted.resource_id, **({"tag": wanted.tag} if wanted.tag else {})}
    pages = calls.pages(with_query(wanted.url, **more), _LIST, scope)
    items = [one for page in pages if isinstance(page, list) for one in page if isinstance(one, dict)]
    fitting = [_item(one) for one in items if wanted.fits(one)]
    if len(fitting) > 1:
        listed = ", ".join(f"{item.label} ({item.url})" for item in fitting)
        raise PushError(f"{len(fitting)} line items have resource id {wanted.resource_id!r}: {listed}",
                        "name one with --lineitem")  # fmt: skip
    return fitting[0] if fitting else None


def create_item(calls: Calls, wanted: Wanted, maximum: Decimal, patience: Patience) -> Item:
    """Makes one, once: whoever gets no answer looks whether it is there. Raises PushError when that does not work."""
    body = {"label": wanted.label, "scoreMaximum": float(maximum), "resourceId": wanted.resource_id}
    if wanted.tag:
        body["tag"] = wanted.tag
    host = host_of(wanted.url)
    for tried in range(1, _TRIES + 1):
        try:
            answer = calls.post(wanted.url, json.dumps(body).encode(), _ITEM, ITEMS)
        except Denied as error:
            raise PushError(
                f"{host} makes no line item: {error}", "make it there, and name it with --lineitem"
            ) from None
        except Unanswered:
            patience.pause(tried, f"{host} did not answer")
            if found := find_item(calls, wanted, ITEMS):
                return found
        except Busy as busy:
            patience.pause(tried, f"{host} is busy", busy.pause)
        else:
            return _item(answer.json())
    raise PushError(f"{host} does not answer", "run the same command again later")


def _item(given: dict[str, Any]) -> Item:
    full = given.get("scoreMaximum")
    if not isinstance(full, int | float) or full <= 0:
        raise PushError(f"the platform does not say what {given.get('label', 'the line item')!r} is out of",
                        "give it with --max")  # fmt: skip
    return Item(str(given["id"]), str(given.get("label", "")), exact(full))


def describe(item: Item) -> str:
    return f"{item.label or 'line item'}, out of {spelled(item.maximum)}"


def read_members(calls: Calls, url: str) -> list[Held]:
    """The active learners."""
    pages = calls.pages(with_query(url, role="http://purl.imsglobal.org/vocab/lis/v2/membership#Learner"), _MEMBERS,
                        MEMBERS)  # fmt: skip
    members = [one for page in pages if isinstance(page, dict) for one in page.get("members", [])]
    return [_member(one) for one in members if one.get("status", "Active") == "Active" and _learns(one)]


def _learns(member: dict[str, Any]) -> bool:
    return any(str(role).rpartition("#")[2] in ("Learner", "Student") for role in member.get("roles", ["Learner"]))


def _member(member: dict[str, Any]) -> Held:
    def text(name: str) -> str:
        return str(member.get(name) or "")

    return Held(text("user_id"), text("name"), sis_id=text("lis_person_sourcedid"), email=text("email"))
