"""The warm parent: imports the libraries once, leaves the host, then forks a monitor per request. Sees no secret.

It starts with a clean environment and no path but those it is given, and serves until the grader closes its socket.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import select
import shutil
import signal
import socket
import sys
import tempfile
from collections.abc import Sequence

import msgspec

from autograder.isolation import _child, _frames, _host, _limits, _monitor, _namespaces, _places, _seccomp
from autograder.isolation._types import Isolation, IsolationError, Layer

_PARENT_CHECK_MS = 1000


def main(arguments: list[str]) -> None:
    """Serve the grader over the socket whose descriptor is the only argument."""
    gc.disable()  # until all is imported: nothing of it is garbage
    os.umask(0o022)  # the folders made for children, which are other users, must be readable whatever the grader's mask
    control = socket.socket(fileno=int(arguments[0]))
    body, _ = _frames.receive(control)
    if body is None:
        return
    config = msgspec.msgpack.decode(body, type=_frames.Config)
    try:
        parent = _WarmParent(config)
    except Exception as problem:
        text = str(problem) if isinstance(problem, IsolationError) else f"{type(problem).__name__}: {problem}"
        _frames.send(control, _frames.Ready(error=text))
        return
    try:
        _frames.send(control, _frames.Ready(parent.cell.mode, parent.layers, parent.cell.scratch))
        parent.serve(control)
    finally:
        parent.clean_up()


class _WarmParent:
    def __init__(self, config: _frames.Config) -> None:
        shown = _places.plan([*_places.interpreter_places(), *config.visible_paths])
        found = _host.survey(shown)
        mode = _host.choose(Isolation(config.isolation), found, config.allow_process)
        self._proc = _limits.open_proc()
        first_user, self._claim = _host.claim_users() if _has_users(mode, found) else (0, None)
        self.cell = _cell(mode, found, shown, first_user)
        self.layers = _layers(mode, found, self.cell)
        namespaces = mode is Isolation.NAMESPACES
        if namespaces and self._proc is not None:
            # Before the imports: a process with threads cannot enter a user namespace.
            _namespaces.leave_host(self._proc, found.needs_user)
        _seccomp.missing()  # loads the library while its files and helper programs can be reached
        self._entry = _warm_up(config)
        if namespaces:
            _namespaces.enter_minimal_root(shown)
        if first_user:
            _require_visible(shown.places, first_user)
        # What the import system remembers of directory listings would tell names that are hidden now.
        sys.path_importer_cache.clear()
        gc.freeze()  # collections in children would otherwise copy every page
        gc.enable()
        if not namespaces:  # last, for a failure above would leave it behind
            self.cell = msgspec.structs.replace(self.cell, scratch=_scratch_folder(config.temporary))

    def serve(self, control: socket.socket) -> None:
        """Fork a monitor per request until the grader is gone."""
        grader = os.getppid()
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # monitors leave no zombies
        poller = select.poll()
        poller.register(control, select.POLLIN)
        while os.getppid() == grader:
            if not poller.poll(_PARENT_CHECK_MS):
                continue
            body, fds = _frames.receive(control, 3)
            if body is None or len(fds) != 3:
                break
            request = msgspec.msgpack.decode(body, type=_frames.Spawn)
            if os.fork() == 0:
                control.close()
                _monitor.run(self.cell, request, (fds[0], fds[1], fds[2]), self._entry, self._proc)
            for descriptor in fds:
                os.close(descriptor)

    def clean_up(self) -> None:
        """Wait for the monitors, which end with the grader, and remove the folder of their scratch directories."""
        with contextlib.suppress(ChildProcessError):
            while True:
                os.waitpid(-1, 0)
        if self.cell.scratch:
            shutil.rmtree(self.cell.scratch, ignore_errors=True)


def _has_users(mode: Isolation, found: _host.Survey) -> bool:
    """Whether children get user ids of their own: the namespace of an ordinary user has only one."""
    one_user = mode is Isolation.NAMESPACES and found.needs_user
    return mode is not Isolation.PROCESS and not one_user and found.active("own user id")


def _scratch_folder(temporary: str) -> str:
    folder = tempfile.mkdtemp(prefix="autograder-", dir=temporary)
    os.chmod(folder, 0o711)  # children reach their own directory in it and cannot list it
    return folder


def _cell(mode: Isolation, found: _host.Survey, shown: _places.Plan, first_user: int) -> _child.Cell:
    confined = mode is not Isolation.PROCESS
    return _child.Cell(
        mode=mode,
        scratch="",
        landlock=confined and found.active("landlock"),
        seccomp=confined and found.active("seccomp"),
        first_user=first_user,
        needs_user=mode is Isolation.NAMESPACES and found.needs_user,
        readable=[*shown.places, *_places.DEVICES],
        devices=["/dev/null"],
    )


def _layers(mode: Isolation, found: _host.Survey, cell: _child.Cell) -> list[Layer]:
    """The layers of the host, with those that this mode leaves out marked so."""
    used = {
        "user namespace": cell.needs_user,
        "landlock": cell.landlock,
        "seccomp": cell.seccomp,
        "own user id": cell.first_user > 0,
        **dict.fromkeys(_host.NAMESPACE_LAYERS, mode is Isolation.NAMESPACES),
    }
    layers = []
    for layer in found.layers:
        if layer.active and not used.get(layer.name, True):
            layer = msgspec.structs.replace(layer, active=False, detail=f"available; not used in mode '{mode}'")
        layers.append(layer)
    return layers


def _warm_up(config: _frames.Config) -> _child.Entry:
    sys.path += [path for path in config.import_paths if path not in sys.path]
    for name in config.preload:
        _imported(name)
    if "torch" in sys.modules:
        from autograder.isolation import _torch_warmup

        _torch_warmup.run(with_optimizers="torch.optim" in config.preload)
    module, _, attribute = config.entry.partition(":")
    entry: _child.Entry = getattr(_imported(module), attribute or "main")
    return entry


def _imported(name: str) -> object:
    try:
        return importlib.import_module(name)
    except Exception as problem:
        raise IsolationError(
            f"the warm parent cannot import {name}: {type(problem).__name__}: {problem}; "
            f"check the installation with: {sys.executable} -c 'import {name}'"
        ) from problem


def _require_visible(places: Sequence[str], user: int) -> None:
    """Children run as another user: it must be able to read the interpreter."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        _host.become(user)
        hidden = next((place for place in places if not os.access(place, os.R_OK)), "")
        os.write(writer, os.fsencode(hidden))
        os._exit(0)
    os.close(writer)
    with open(reader, "rb") as source:
        hidden = os.fsdecode(source.read())
    os.waitpid(pid, 0)
    if hidden:
        raise IsolationError(
            f"{hidden} cannot be read by the user that submissions run as (id {user}), because it or a "
            f"folder above it is closed to others; install Python outside of private homes, or open it: chmod o+rx"
        )
