"""Declaring a check: what it is worth, what it judges, what it depends on."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, TypeVar, get_args

from autograder.errors import CheckFailed, NotWritten, SubmissionRaised
from autograder.record import Exception_, Kind, NoError, Visibility

_F = TypeVar("_F", bound=Callable[..., None])
_ATTRIBUTE = "__check__"


@dataclass(frozen=True)
class Spec:
    """The declaration of one check function; `title` is the first line of its docstring."""

    name: str
    title: str
    points: Fraction
    kind: Kind
    stub: str
    hint: str
    case: str | None = None
    depends: tuple[str, ...] = ()
    visibility: Visibility | None = None
    time_limit: float | None = None
    all_or_nothing: bool = False
    fresh: bool = False
    requires: tuple[str, ...] = ()

    def for_case(self, params: dict[str, Any]) -> Spec:
        """The declaration for one parametrised case: parameters named `stub` and `case` take precedence."""
        stub, case = params.get("stub"), params.get("case")
        return replace(
            self, stub=stub if isinstance(stub, str) else self.stub, case=case if isinstance(case, str) else self.case
        )


def check(
    *,
    points: float | Fraction,
    kind: Kind,
    stub: str,
    hint: str,
    case: str | None = None,
    depends: Sequence[Callable[..., None]] = (),
    visibility: Visibility | None = None,
    time_limit: float | None = None,
    all_or_nothing: bool = False,
    fresh: bool = False,
    requires: Sequence[str] = (),
) -> Callable[[_F], _F]:
    """Declare the pytest function below as a check (arguments: docs/writing-checks.md).

    Raises ValueError at import when the declaration is incomplete: an author's mistake, found by `autograder verify`.
    """
    if kind not in get_args(Kind):
        raise ValueError(f"kind {kind!r} is none of {', '.join(get_args(Kind))}")

    def declare(function: _F) -> _F:
        title = (function.__doc__ or "").strip().splitlines()
        if not title:
            raise ValueError(f"{function.__name__} needs a docstring: its first line is what the student reads")
        if not hint.strip():
            raise ValueError(f"{function.__name__} needs a hint")
        spec = Spec(
            name=function.__name__.removeprefix("test_"),
            title=title[0].rstrip("."),
            points=Fraction(points).limit_denominator(10_000),
            kind=kind,
            stub=stub,
            hint=" ".join(hint.split()),
            case=case,
            depends=tuple(_name_of(other, function.__name__) for other in depends),
            visibility=visibility,
            time_limit=time_limit,
            all_or_nothing=all_or_nothing,
            fresh=fresh,
            requires=tuple(requires),
        )
        setattr(function, _ATTRIBUTE, spec)
        return function

    return declare


def spec_of(function: Callable[..., Any]) -> Spec | None:
    """The declaration of a check function; None for an ordinary test."""
    return getattr(function, _ATTRIBUTE, None)


def _name_of(function: Callable[..., None], user: str) -> str:
    spec = spec_of(function)
    if spec is None:
        raise ValueError(f"{user} depends on {function!r}, which is not a check")
    return spec.name


@contextmanager
def raises(expected: str, match: str | None = None) -> Iterator[None]:
    """Require that the call inside raises `expected` or a subclass, with a message that matches the pattern `match`."""
    try:
        yield
    except NotWritten:
        raise
    except SubmissionRaised as raised:
        if expected in raised.bases and (match is None or re.search(match, raised.message, re.IGNORECASE)):
            return
        raise CheckFailed(
            Exception_(raised.type_name, raised.message, raised.frames, _wanted(expected, match))
        ) from None
    else:
        raise CheckFailed(NoError(expected, match))


def _wanted(expected: str, match: str | None) -> str:
    return expected if match is None else f"{expected} whose message matches {match!r}"
