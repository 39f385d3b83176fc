"""What this host can enforce: every layer tried in a forked process, for `autograder doctor` and to choose a mode."""

from __future__ import annotations

import os
import resource
import socket
import subprocess
import sys
from collections.abc import Callable

import msgspec

from autograder.isolation import _kernel, _landlock, _launch, _limits, _namespaces, _places, _seccomp
from autograder.isolation._types import Isolation, IsolationError, Layer

# User ids between the ranges that systemd hands out (its UIDs-GIDs document lists 60706-61183 as unused), in blocks:
# one block per warm parent, one id per living child.
_FIRST_USER = 60800
_BLOCKS = 24
SLOTS = 16

NAMESPACE_LAYERS = ("mount namespace", "process namespace", "network namespace", "scratch quota")
_TEXTS = {
    "user namespace": (
        "lets an ordinary user build the namespaces below",
        "grading as an ordinary user falls back to Landlock and seccomp",
    ),
    "mount namespace": (
        "files outside the interpreter, the libraries and the scratch directory do not exist",
        "names, sizes and times of outside files can be probed",
    ),
    "process namespace": (
        "no other process can be seen, signalled or traced, and all of a child ends with it",
        "protection of other processes rests on seccomp alone",
    ),
    "network namespace": ("there is no network", "protection of the network rests on seccomp alone"),
    "scratch quota": (
        "a full disk or too many files hit the child only",
        "disk use is measured every 0.2 s, a fast writer can exceed it",
    ),
    "landlock": (
        "the kernel refuses files outside an allow-list",
        "file protection rests on the mount namespace alone",
    ),
    "seccomp": (
        "system calls outside an allow-list fail: fork, exec, sockets, tracing, shared memory, io_uring",
        "forks, sockets of unusual families and hidden shared memory are possible inside the namespaces",
    ),
    "own user id": (
        "every child runs as a user of its own that owns nothing",
        "children run as the user who grades",
    ),
    "resource limits": (
        "processor time, memory, threads, open files and file sizes are bounded",
        "only the monitor's readings bound a child",
    ),
    "monitor readings": (
        "memory and threads are measured every 50 ms, so that the limit that was hit can be named",
        "only resource limits bound memory and threads",
    ),
    "cgroups": (
        "a second bound on memory and threads (not used: the layers above bound both)",
        "nothing; a cgroup for every child would cost more than all other layers together",
    ),
}


class Survey(msgspec.Struct, frozen=True):
    """The layers of this host, and whether namespaces need a user namespace."""

    layers: list[Layer]
    needs_user: bool

    def active(self, name: str) -> bool:
        return any(layer.active for layer in self.layers if layer.name == name)

    def reason(self, name: str) -> str:
        return next(layer.detail for layer in self.layers if layer.name == name)


def survey(shown: _places.Plan) -> Survey:
    """Try every layer, each in a process of its own."""
    proc = _limits.open_proc()
    if sys.platform != "linux" or proc is None:
        reason = f"needs Linux with /proc; this is {sys.platform}"
        results = {name: (name == "resource limits", "" if name == "resource limits" else reason) for name in _TEXTS}
        return Survey([_layer(name, *results[name]) for name in _TEXTS], False)
    needs_user = bool(_failure(lambda: _namespaces.leave_host(proc, False)))

    def rooted(action: Callable[[int, bool], None]) -> Callable[[], None]:
        def attempt() -> None:
            _namespaces.leave_host(proc, needs_user)
            _namespaces.enter_minimal_root(shown)
            action(proc, needs_user)

        return attempt

    attempts: dict[str, Callable[[], object]] = {
        "user namespace": lambda: _namespaces.leave_host(proc, True),
        "mount namespace": rooted(_try_hiding),
        "process namespace": rooted(_try_process_namespace),
        "network namespace": lambda: _try_network_namespace(proc, needs_user),
        "scratch quota": rooted(_try_quota),
        "landlock": _try_landlock,
        "seccomp": _try_seccomp,
        "own user id": _try_user,
        "resource limits": lambda: resource.setrlimit(resource.RLIMIT_CORE, (0, 0)),
        "monitor readings": lambda: _require(_limits.usage(proc, os.getpid()) is not None, "/proc is not readable"),
    }
    layers = []
    for name, attempt in attempts.items():
        failure = _failure(attempt)
        layers.append(_layer(name, not failure, failure or _detail(name)))
    layers.append(_layer("cgroups", False, _cgroups()))
    os.close(proc)
    return Survey(layers, needs_user)


def _layer(name: str, active: bool, detail: str) -> Layer:
    purpose, lost = _TEXTS[name]
    return Layer(name, active, detail, purpose, lost)


def _failure(attempt: Callable[[], object]) -> str:
    """Run an attempt in a forked process; empty when it works, else what failed."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        text = ""
        try:
            attempt()
        except BaseException as problem:
            text = str(problem) or type(problem).__name__
        os.write(writer, text.encode("utf-8", "replace")[:4096])
        os._exit(1 if text else 0)
    os.close(writer)
    with open(reader, "rb") as source:
        text = source.read().decode("utf-8", "replace")
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    return text or (f"the trial ended with status {status}" if status else "")


def _require(truth: bool, otherwise: str) -> None:
    if not truth:
        raise IsolationError(otherwise)


def _try_process_namespace(proc: int, needs_user: bool) -> None:
    _namespaces.leave_siblings(proc, needs_user)
    child = os.fork()
    if child == 0:
        os._exit(0 if os.getpid() == 1 else 1)
    _require(os.waitpid(child, 0)[1] == 0, "a new process namespace did not start at process 1")


def _try_hiding(proc: int, needs_user: bool) -> None:
    _require(not os.path.exists("/proc"), "the old root is still visible")


def _try_network_namespace(proc: int, needs_user: bool) -> None:
    _namespaces.leave_host(proc, needs_user)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as trial:
        # Connecting a datagram socket sends nothing; it only looks for a route (to an address kept for documents).
        _require(trial.connect_ex(("192.0.2.1", 9)) != 0, "a new network namespace has a route to the outside")


def _try_quota(proc: int, needs_user: bool) -> None:
    _namespaces.leave_siblings(proc, needs_user)
    _namespaces.mount_scratch(1 << 16, 8, 0)
    target = os.open(f"{_namespaces.SCRATCH}/fill", os.O_CREAT | os.O_WRONLY)
    written = 0
    try:
        while written <= 1 << 16:
            written += os.write(target, bytes(1 << 12))
    except OSError:
        return
    raise IsolationError("a file system with a size limit took more than its size")


def _try_landlock() -> None:
    ruleset = _landlock.prepare(["/usr"], None)
    _kernel.no_new_privileges()
    _landlock.enforce(ruleset)
    try:
        os.listdir("/")
    except PermissionError:
        return
    raise IsolationError("the kernel accepted the rules and did not apply them")


def _try_seccomp() -> None:
    _require(not _seccomp.missing(), _seccomp.missing())
    _kernel.no_new_privileges()
    _seccomp.enforce()
    try:
        socket.socket()
    except PermissionError:
        return
    raise IsolationError("the kernel accepted the filter and did not apply it")


def _try_user() -> None:
    _require(os.geteuid() == 0, "only root can give every child a user id of its own")
    become(_FIRST_USER)


def become(user: int) -> None:
    """Turn this root process into a user without any group."""
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)


def claim_users() -> tuple[int, socket.socket | None]:
    """(first user id, claim) of a block that no other warm parent of this host uses while the claim is open.

    Threads are counted per user id: shared ids would let one child use up the threads of another. When all blocks are
    taken, one is shared.
    """
    for block in range(_BLOCKS):
        claim = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        try:
            # An abstract name: unique on the host, gone with its process.
            claim.bind(f"\0autograder-users-{block}")
        except OSError:
            claim.close()
        else:
            return _FIRST_USER + block * SLOTS, claim
    return _FIRST_USER + os.getpid() % _BLOCKS * SLOTS, None


def _detail(name: str) -> str:
    return f"ABI {_landlock.abi()}" if name == "landlock" else "works"


def _cgroups() -> str:
    if os.access("/sys/fs/cgroup/cgroup.procs", os.W_OK):
        return "version 2 is writable here; not used"
    if os.access("/sys/fs/cgroup/pids", os.W_OK):
        return "version 1 (pids) is writable here; not used"
    return "not writable here; not used"


def probe() -> list[Layer]:
    """Each layer of this host, for `autograder doctor`: tried in a separate, single-threaded process."""
    imports, shown = _places.package_places(("autograder", "msgspec"))
    command = _launch.command("autograder.isolation._host", imports, shown)
    result = subprocess.run(command, env=_launch.environment(), capture_output=True, timeout=60, check=False)
    if result.returncode != 0:
        raise IsolationError(f"the layers of this host could not be tried: {result.stderr.decode(errors='replace')}")
    return msgspec.json.decode(result.stdout, type=list[Layer])


def choose(wanted: Isolation, found: Survey, allow_process: bool) -> Isolation:
    """The mode to run in; IsolationError when the host cannot do what is asked."""
    namespaces = all(found.active(name) for name in NAMESPACE_LAYERS)
    landlock = found.active("landlock") and found.active("seccomp")
    if wanted is Isolation.PROCESS:
        return wanted
    if namespaces and wanted in (Isolation.AUTO, Isolation.NAMESPACES):
        return Isolation.NAMESPACES
    if landlock and wanted in (Isolation.AUTO, Isolation.LANDLOCK):
        return Isolation.LANDLOCK
    if wanted is Isolation.AUTO and allow_process:
        return Isolation.PROCESS
    needed: dict[Isolation, tuple[str, ...]] = {
        Isolation.NAMESPACES: NAMESPACE_LAYERS,
        Isolation.LANDLOCK: ("landlock", "seccomp"),
    }
    names = needed.get(wanted, (*NAMESPACE_LAYERS, "landlock", "seccomp"))
    missing = "; ".join(f"{name}: {found.reason(name)}" for name in names if not found.active(name))
    raise IsolationError(
        f"isolation '{wanted}' is not possible on this host ({missing}). "
        "`autograder doctor` explains each layer; --isolation=process runs code you trust without protection"
    )


def main(shown: list[str]) -> None:
    """Entry of the trial process: print the layers as JSON."""
    found = survey(_places.plan([*_places.interpreter_places(), *shown]))
    sys.stdout.buffer.write(msgspec.json.encode(found.layers))
