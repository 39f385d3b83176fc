"""Calls to Canvas: the connection that canvasapi makes requests through, and its errors in words."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from canvasapi.assignment import Assignment
from canvasapi.course import Course
from canvasapi.exceptions import (
    CanvasException,
    Forbidden,
    InvalidAccessToken,
    RateLimitExceeded,
    ResourceDoesNotExist,
    Unauthorized,
)
from canvasapi.progress import Progress
from canvasapi.requester import Requester
from requests import RequestException

from autograder.lms.push.errors import PushError, TooBusy
from autograder.lms.push.patience import Patience, host_of, prepare
from autograder.lms.push.secrets import Secret


class NotThere(PushError):
    pass


class Lost(PushError):
    """No answer, or one that leaves open what happened."""


@dataclass(frozen=True)
class Place:
    """An assignment of a Canvas course, by the numbers in its page's address."""

    url: str
    course: int
    assignment: int

    @property
    def label(self) -> str:
        return f"{self.url}/courses/{self.course}/assignments/{self.assignment}"


class Connection:
    """canvasapi's objects for one assignment; use them inside `asking`."""

    def __init__(self, place: Place, token: Secret, patience: Patience) -> None:
        self.place, self._token = place, token
        self._requester = Requester(place.url, token.value)
        prepare(self._requester._session, patience)  # canvasapi itself sets no time limit and never asks twice
        self.course: Any = Course(self._requester, {"id": place.course})
        self.assignment: Any = Assignment(self._requester, {"id": place.assignment, "course_id": place.course})

    def progress(self, number: int) -> Any:
        return Progress(self._requester, {"id": number})

    def clean(self, text: str) -> str:
        """What Canvas said, short and without the token."""
        return self._token.hidden_in(" ".join(text.split()))[:200]

    @contextmanager
    def asking(self, what: str) -> Iterator[None]:
        """Raises PushError in place of canvasapi's errors, to which answers of the server are chained."""
        host = host_of(self.place.url)
        try:
            yield
        except RateLimitExceeded:
            raise _too_many(host) from None
        except InvalidAccessToken:
            raise PushError(f"{host} does not accept the token from {self._token.origin}",
                            "make one in Canvas under Account > Settings > New Access Token") from None  # fmt: skip
        except (Unauthorized, Forbidden) as error:
            if "rate limit exceeded" in str(error).casefold():
                raise _too_many(host) from None
            raise PushError(f"{host} does not let this token {what}",
                            f"use that of a teacher or TA of course {self.place.course}") from None  # fmt: skip
        except ResourceDoesNotExist:
            raise NotThere(f"{host} has nothing at courses/{self.place.course}/assignments/{self.place.assignment}",
                           "--course and --assignment are the numbers in that page's address") from None  # fmt: skip
        except CanvasException as error:
            broken = "status code 5" in str(error)
            kind = Lost if broken else PushError
            raise kind(f"{host}: {self.clean(str(error))}", "run the same command again later") from None
        except ValueError:  # also requests' error for what is no JSON
            raise Lost(f"{host} does not answer as Canvas does",
                       "check --url: the address of Canvas itself, without a path") from None  # fmt: skip
        except RequestException as error:
            raise Lost(f"{host} does not answer ({type(error).__name__})",
                       "check --url and the network, then run the same command again") from None  # fmt: skip
        except AttributeError:  # canvasapi, on a next page that is not below --url
            raise PushError(f"{host} names another address for the next page", "give that one with --url") from None


def _too_many(host: str) -> TooBusy:
    return TooBusy(f"{host} turns requests away as too many", "run the same command again later")
