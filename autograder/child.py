"""The submission's side of the wire: imports the student's module and runs calls, inside the isolated process.

Nothing here is trusted by the grader and nothing here is secret: this file, course_lib and the student's module share
one interpreter, so the student's code may change any of it. What it can do with that is send other frames, and frames
are all that the grader believes in: a device request is counted, a returned value is compared, anything else ends the
process.
"""

from __future__ import annotations

import builtins
import importlib.util
import os
import socket
import sys
import threading
import types
import weakref
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from autograder import wire
from autograder.values import Decoder, Encoder, Unsendable
from course_lib._device import Device

FOLDER = "submission"
"""Folder of the scratch directory that holds the student's module."""


class _Link:
    """The remote end of one device (course_lib._device.Link)."""

    def __init__(self, connection: Connection, device: int) -> None:
        self._connection, self._device = connection, device

    def request(self, op: str, *args: Any) -> Any:
        return self._connection.device(self._device, op, args, reply=True)

    def post(self, op: str, *args: Any) -> None:
        self._connection.device(self._device, op, args, reply=False)


class Connection:
    """Frames over the socket, devices and references of this process."""

    def __init__(self, channel: socket.socket) -> None:
        self._channel = channel
        self._codec = wire.Codec(wire.ToChild)
        self._lock = threading.RLock()
        self._posted = bytearray()
        self._devices: weakref.WeakValueDictionary[int, Device] = weakref.WeakValueDictionary()
        self._references: dict[int, Any] = {}
        self._next_reference = 1
        self.encode = Encoder(self._handle_of, self.hold)
        self.decode = Decoder(self._attach, lambda ref: self._references[ref.id])

    def receive(self) -> Any:
        while True:
            frame = self._codec.next()
            if frame is not None:
                return frame
            data = self._channel.recv(wire.CHUNK)
            if not data:
                os._exit(0)  # the grader is done with this process
            self._codec.feed(data)

    def send(self, frame: Any) -> None:
        packed = self._codec.pack(frame)
        with self._lock:
            self._flush(packed)

    def _flush(self, last: bytes = b"") -> None:
        if self._posted:
            last, self._posted = bytes(self._posted) + last, bytearray()
        self._channel.sendall(last)

    def device(self, device: int, op: str, args: tuple[Any, ...], *, reply: bool) -> Any:
        encoded = [arg if type(arg) in wire.PLAIN else self.encode(arg) for arg in args]
        packed = self._codec.pack(wire.Request(device, op, encoded, reply))
        with self._lock:
            if not reply:  # sent with the next request, in order
                self._posted += packed
                if len(self._posted) > 1 << 16:
                    self._flush()
                return None
            self._flush(packed)
            answer = self.receive()
        if isinstance(answer, wire.Answer):
            value = answer.value
            return value if type(value) in wire.PLAIN else self.decode(value)
        raise _exception(answer.type)(answer.message)

    def release(self, references: list[int]) -> None:
        for reference in references:
            self._references.pop(reference, None)

    def reference(self, number: int) -> Any:
        return self._references[number]

    def hold(self, value: Any) -> wire.Ref:
        number = self._next_reference
        self._next_reference += 1
        self._references[number] = value
        return wire.Ref(number, type(value).__name__[:80])

    def _attach(self, handle: wire.Handle) -> Device:
        known = self._devices.get(handle.id)
        if known is not None:
            return known
        description = {} if handle.description is None else self.decode(handle.description)
        device = device_class(handle.kind)._attach(_Link(self, handle.id), description)
        self._devices[handle.id] = device
        device_numbers[device] = handle.id
        return device

    def _handle_of(self, device: Device) -> wire.Handle:
        number = device_numbers.get(device)
        if number is None:
            raise Unsendable(f"a {type(device).__name__} made by the submission itself cannot be returned")
        return wire.Handle(number)


device_numbers: weakref.WeakKeyDictionary[Device, int] = weakref.WeakKeyDictionary()


DEVICES = {"memory": "Memory", "hbm": "HBM", "compiler": "Compiler"}
"""Device classes of course_lib by their kind on the wire."""


def device_class(kind: str) -> type[Device]:
    """The class of one kind; the modules of the others, which take their time to import, are left alone."""
    import course_lib

    found: type[Device] = getattr(course_lib, DEVICES[kind])
    return found


def _exception(name: str) -> type[Exception]:
    import course_lib

    found = getattr(builtins, name, None)
    if found is None and name in course_lib.__all__:
        found = getattr(course_lib, name)
    return found if isinstance(found, type) and issubclass(found, Exception) else RuntimeError


class Harness:
    """Serves one submission until its process ends."""

    def __init__(self, channel: socket.socket, scratch: str) -> None:
        self._connection = Connection(channel)
        self._scratch = Path(scratch)
        self._modules: dict[str, Any] = {}
        hbm: Any = sys.modules.get("course_lib.hbm")
        self._meter = None if hbm is None else hbm.HBM._meter  # before the student's module could put another there
        self._own: dict[str, str] = {}

    def run(self) -> None:
        while True:
            frame = self._connection.receive()
            if isinstance(frame, wire.Load):
                self._reply(partial(self._load, frame))
            elif isinstance(frame, wire.Call):
                self._connection.release(frame.release)
                self._reply(partial(self._call, frame))

    def _reply(self, action: Callable[[], Any]) -> None:
        connection = self._connection
        try:
            value, measured = action()
            reply: Any = wire.Return(value if isinstance(value, wire.Ref) else connection.encode(value), measured)
            del value
        except BaseException as error:
            reply = self._raised(error)
        _flush_output()
        try:
            connection.send(reply)
        except ValueError as error:  # larger than a frame may be
            connection.send(wire.Raised("ValueError", ["ValueError", "Exception"], str(error), []))

    # ---------------------------------------------------------------------------------------------------- loading
    def _load(self, frame: wire.Load) -> tuple[None, None]:
        if frame.cpu is not None and hasattr(os, "sched_setaffinity"):
            os.sched_setaffinity(0, {frame.cpu})
        for name, data in frame.files.items():
            target = self._scratch / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
        folder = self._scratch / FOLDER
        folder.mkdir(exist_ok=True)
        module_file, driver_file = folder / frame.module, folder / "driver.py"
        module_file.write_bytes(frame.source)
        self._own = {str(module_file): "module"}
        driver = None
        if (
            frame.driver is not None
        ):  # before the student's first line, so that it sees course_lib and torch as they are
            driver_file.write_bytes(frame.driver)
            driver = _import_file("_driver", driver_file)
            self._modules["driver"] = types.SimpleNamespace(**vars(driver))  # as it is now, whatever becomes of it
        student = _import_file(module_file.stem, module_file)
        self._modules["student"] = student
        if driver is not None:
            driver.student = student  # type: ignore[attr-defined]
        return None, None

    # ---------------------------------------------------------------------------------------------------- calling
    def _call(self, frame: wire.Call) -> tuple[Any, dict[str, int] | None]:
        connection = self._connection
        owner: Any = (
            self._modules[frame.target] if isinstance(frame.target, str) else connection.reference(frame.target)
        )
        if frame.kind == "has":
            return hasattr(owner, frame.name), None
        target: Any = owner if not frame.name else getattr(owner, frame.name)
        if frame.kind == "get":
            return target, None
        args = [connection.decode(arg) for arg in frame.args]
        kwargs = {key: connection.decode(value) for key, value in frame.kwargs.items()}
        if isinstance(target, type):  # an object of a class stays here, whatever the class derives from
            return connection.hold(target(*args, **kwargs)), None
        device = metered([*args, *kwargs.values()])
        if device is None:
            return target(*args, **kwargs), None
        meter = self._meter or type(device)._meter
        result, measured = meter(device, target, *args, **kwargs)
        return result, {name: int(getattr(measured, name)) for name in wire.MEASURED}

    # ---------------------------------------------------------------------------------------------------- failing
    def _raised(self, error: BaseException) -> wire.Raised:
        frames, traceback = [], error.__traceback__
        while traceback is not None:
            code = traceback.tb_frame.f_code
            if self._own.get(code.co_filename) == "module":
                frames.append(wire.Where(traceback.tb_lineno, code.co_name))
            traceback = traceback.tb_next
        bases = [base.__name__ for base in type(error).__mro__]
        try:
            message = str(error)
        except BaseException:
            message = "(the exception's own __str__ fails)"
        line = error.lineno if isinstance(error, SyntaxError) else None
        return wire.Raised(type(error).__name__, bases, message[:4000], frames[-12:], line)


def metered(args: list[Any]) -> Any | None:
    """The HBM among the arguments whose owner wants to know what the kernel does on chip."""
    return next((arg for arg in args if isinstance(arg, Device) and getattr(arg, "_measured", False)), None)


def _import_file(name: str, path: Path) -> types.ModuleType:
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"cannot import {path.name}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _flush_output() -> None:
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BaseException:  # the student may have replaced or closed it; nothing depends on it
            continue


def main(channel: socket.socket, scratch: str) -> None:
    """Entry point called by the isolation layer once every restriction is in place."""
    sys.dont_write_bytecode = True
    torch: Any = sys.modules.get("torch")
    if torch is not None:  # refuses in a process whose parent has computed; a hand-in that asks for it is not wrong
        torch.set_num_interop_threads = lambda count: None
    Harness(channel, scratch).run()
