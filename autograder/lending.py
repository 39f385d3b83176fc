"""What a process of a submission is lent and what is held of it: devices by handle, its objects by reference."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any, Protocol

from autograder import wire
from autograder.values import Decoder, Encoder
from course_lib._device import Device, ProtocolViolation

MAX_REFERENCES = 10_000
"""Objects of one process that the grader may hold at a time."""


class Caller(Protocol):
    """Whoever can call into the process that an object lives in (worker.Worker.call)."""

    def __call__(
        self,
        target: str | int,
        name: str,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        *,
        kind: str = "call",
        shown: str,
    ) -> Any: ...


class Reference:
    """An object that lives in the submission's process: call it, or read its attributes."""

    def __init__(self, loans: Loans, number: int, type_name: str) -> None:
        self._loans, self._number, self._type = loans, number, type_name
        weakref.finalize(self, loans.forget, number)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._loans.call(self._number, "", args, kwargs, shown=self._type)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self._loans.call(self._number, name, (), {}, kind="get", shown=f"{self._type}.{name}")

    def __repr__(self) -> str:
        return f"<{self._type} object of the submission>"


class Loans:
    """The devices and references of one process, and the values that carry them."""

    def __init__(self, call: Caller, pack: Callable[[wire.ToChild], bytes]) -> None:
        self.call, self._pack = call, pack
        self._devices: dict[int, Device] = {}
        self._lent: dict[int, int] = {}
        self._next_device = 1
        self._dropped: list[int] = []
        self._live_references = 0
        self.encode = Encoder(self._lend, self._reference_of)
        self.decode = Decoder(self._device_of, self._refer)

    def serve(self, request: wire.Request) -> bytes | None:
        """Serve one use of a device; the packed answer, None when none is wanted.

        Raises ProtocolViolation for what course_lib cannot have sent.
        """
        device = self._devices.get(request.device)
        if device is None:
            return self._refuse_stale(request)
        try:
            args = [arg if type(arg) in wire.PLAIN else self.decode(arg) for arg in request.args]
            answer = device._serve(request.op, tuple(args))
            if not request.reply:
                return None
            return self._pack(wire.Answer(answer if type(answer) in wire.PLAIN else self.encode(answer)))
        except (IndexError, TypeError, ValueError, RuntimeError, MemoryError) as error:
            if not request.reply:
                raise ProtocolViolation(f"{request.op}: {error}") from None
            return self._pack(wire.Refusal(type(error).__name__, str(error)))

    def _refuse_stale(self, request: wire.Request) -> bytes | None:
        """A device kept from an earlier check no longer exists; using it is an error of the student, not an attack."""
        if not 0 < request.device < self._next_device:
            raise ProtocolViolation(f"device {request.device} was never lent")
        if not request.reply:
            return None
        return self._pack(wire.Refusal("RuntimeError", "this device belongs to an earlier call and is gone"))

    def recall(self) -> None:
        """End the loan of every device: a new check begins."""
        self._devices.clear()
        self._lent.clear()

    def dropped(self) -> list[int]:
        """References that nobody here holds any more, since the last time."""
        dropped, self._dropped = self._dropped, []
        return dropped

    def forget(self, number: int) -> None:
        self._live_references -= 1
        self._dropped.append(number)

    def _lend(self, device: Device) -> wire.Handle:
        number = self._lent.get(id(device))
        if number is None:
            number, self._next_device = self._next_device, self._next_device + 1
            self._lent[id(device)], self._devices[number] = number, device
        description = self.encode(device._describe())
        assert isinstance(description, wire.Mapping)
        return wire.Handle(number, device.kind, description)

    def _device_of(self, handle: wire.Handle) -> Device:
        device = self._devices.get(handle.id)
        if device is None:
            raise ProtocolViolation(f"device {handle.id} is not lent")
        return device

    def _reference_of(self, value: Any) -> wire.Value:
        if isinstance(value, Reference) and value._loans is self:
            return wire.Ref(value._number)
        raise TypeError(f"a {type(value).__name__} cannot travel to a submission")

    def _refer(self, ref: wire.Ref) -> Reference:
        self._live_references += 1
        if self._live_references > MAX_REFERENCES:
            raise ProtocolViolation(f"more than {MAX_REFERENCES:,} live references")
        return Reference(self, ref.id, ref.type[: wire.MAX_NAME])
