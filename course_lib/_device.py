"""What a metered device is: one class, served from the grader's process or held locally.

A device has one public interface and two back ends. *Local*: the data and the ledger live in the object itself.
*Remote*: the object holds a `Link`; every use is a request to the process that owns the local device, which serves and
counts it. The class decides between the two in one place, so that a student cannot tell them apart by behaviour.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Protocol, Self


class Link(Protocol):
    """The remote end of a device, as seen from the process that only holds a handle."""

    def request(self, op: str, *args: Any) -> Any:
        """Send `op`, wait for the answer; IndexError, TypeError, ValueError, RuntimeError and their named subclasses
        (`GuardError`, ...) raised by the serving device are raised here."""

    def post(self, op: str, *args: Any) -> None:
        """Send `op` without waiting; it is served before any later request. Only for operations that were
        validated here and cannot fail for an honest caller."""


class Device(ABC):
    """Base of Memory, HBM and Compiler."""

    kind: ClassVar[str]
    """Short name on the wire; also the key under which the class is registered."""

    @abstractmethod
    def _describe(self) -> dict[str, Any]:
        """Plain data that a remote handle needs (sizes, dtype names); never the contents."""

    @abstractmethod
    def _serve(self, op: str, args: tuple[Any, ...]) -> Any:
        """Serve one request of an *untrusted* remote end: check the types and ranges of `args` as if hostile.

        Errors of honest use raise IndexError, TypeError, ValueError, RuntimeError (they travel back); anything that
        the remote class could not have sent raises `ProtocolViolation`.
        """

    @classmethod
    @abstractmethod
    def _attach(cls, link: Link, description: dict[str, Any]) -> Self:
        """The remote object for `description`, in the process that holds only the handle."""

    @abstractmethod
    def _outcome(self) -> list[Any]:
        """What a program left behind: the contents first, then how it got there (counts); for telling two apart."""

    def _view(self, state: Any) -> Any:
        """The view (an HBMArray) that `state` describes; called on both sides, hostile input when serving."""
        raise ProtocolViolation(f"{self.kind} has no views")


class DeviceView(ABC):
    """Part of a device that travels as (device, plain state): an HBMArray."""

    @property
    @abstractmethod
    def _device(self) -> Device: ...

    @abstractmethod
    def _state(self) -> Any:
        """Plain data (ints, strings, lists) from which `device._view(state)` makes this view again."""


class ProtocolViolation(Exception):
    """The remote end sent what an unmodified course_lib cannot send; the process is not worth talking to."""
