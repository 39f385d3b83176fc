"""The isolation of submissions, by attack: each is tried in a real child, in every mode and as every user at hand."""

import errno
import json
import os
import platform
import pwd
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import msgspec
import numpy
import pytest

import autograder
from autograder.isolation import Isolation, IsolationError, Layer, Limits, WarmParent, probe

sys.path.insert(0, str(Path(__file__).parent))
from isolation_driver import call, read_output, run_calls, start

if sys.platform != "linux":
    pytest.skip("isolation is a Linux matter; elsewhere only mode 'process' exists", allow_module_level=True)

MIB = 1 << 20
ROOT = os.geteuid() == 0
COURSE = Path(autograder.__file__).parents[1]
LAYERS = {layer.name: layer for layer in probe()}
MARKER = "ISOLATION_MARKER"


def _active(*names):
    return all(LAYERS[name].active for name in names)


NAMESPACES = _active("mount namespace", "process namespace", "network namespace", "scratch quota")
LANDLOCK = _active("landlock", "seccomp")
needs_namespaces = pytest.mark.skipif(not NAMESPACES, reason="this host has no namespaces")


# --- as whom: this interpreter, or one that everybody may run, as root or as an ordinary user


def _import_paths():
    places = {Path(module.__file__).parents[1] for module in (autograder, msgspec, numpy)}
    return os.pathsep.join(sorted(map(str, places)))


def _user_options(user):
    if user is None:
        return {}
    entry = pwd.getpwnam(user)
    return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}


def _environment():
    return {"PATH": "/usr/bin:/bin", "PYTHONPATH": _import_paths(), "PYTHONDONTWRITEBYTECODE": "1", "TMPDIR": "/tmp"}


def _public_python():
    """An interpreter outside of private homes that can import what the tests need, or None."""
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    for candidate in dict.fromkeys([sys.executable, *(f"{d}/{version}" for d in ("/usr/bin", "/usr/local/bin"))]):
        command = [candidate, "-c", "import autograder.isolation, numpy, isolation_driver"]
        environment = _environment()
        environment["PYTHONPATH"] += os.pathsep + str(Path(__file__).parent)
        try:
            result = subprocess.run(
                command, env=environment, cwd="/", capture_output=True, check=False, **_user_options("nobody")
            )
        except OSError:
            continue
        if result.returncode == 0:
            return candidate
    return None


PUBLIC_PYTHON = _public_python() if ROOT else None

SETTINGS = {}
if NAMESPACES:
    SETTINGS["namespaces"] = ("namespaces", None, None)
if LANDLOCK and not ROOT:
    SETTINGS["landlock"] = ("landlock", None, None)
if PUBLIC_PYTHON and LANDLOCK:
    SETTINGS["landlock-root"] = ("landlock", None, PUBLIC_PYTHON)
    SETTINGS["landlock-user"] = ("landlock", "nobody", PUBLIC_PYTHON)
if PUBLIC_PYTHON and _active("user namespace", "scratch quota"):
    SETTINGS["namespaces-user"] = ("namespaces", "nobody", PUBLIC_PYTHON)


def run_in(setting, calls):
    """(mode, outcomes) of calls in one setting."""
    isolation, user, python = SETTINGS[setting]
    if python is None:
        with start(isolation) as parent:
            parent.ready()
            return parent.mode, run_calls(parent, calls)
    request = json.dumps({"isolation": isolation, "preload": [], "calls": calls})
    result = subprocess.run(
        [python, str(Path(__file__).parent / "isolation_driver.py")],
        input=request,
        env=_environment(),
        cwd="/",
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
        **_user_options(user),
    )
    assert result.returncode == 0, result.stderr
    answer = json.loads(result.stdout)
    return answer["mode"], answer["out"]


# --- the attacks


def _public_folder():
    """A world-readable folder with a secret: only isolation can protect it."""
    folder = Path(tempfile.mkdtemp(prefix="isolation-test-"))
    folder.chmod(0o777)
    secret = folder / "solution.py"
    secret.write_text("answer = 42\n")
    secret.chmod(0o666)
    return folder, secret


FOLDER, SECRET = _public_folder()


@pytest.fixture(scope="module", autouse=True)
def _cleanup():
    yield
    shutil.rmtree(FOLDER)


def _beside_packages():
    return [name for name in ("solutions", "tests", "docs", ".git", "pyproject.toml") if (COURSE / name).exists()]


FILE_ATTACKS = {
    "read a solution": ("read_file", {"path": str(SECRET)}),
    "read beside the packages": ("read_file", {"path": str(COURSE / "pyproject.toml")}),
    "list the course": ("list_names", {"path": str(COURSE), "names": _beside_packages()}),
    "list the solutions": ("list_folder", {"path": str(COURSE / "solutions")}),
    "list a folder": ("list_folder", {"path": str(FOLDER)}),
    "list /tmp": ("list_folder", {"path": "/tmp"}),
    "list the home": ("list_folder", {"path": os.path.expanduser("~")}),
    "read accounts": ("read_file", {"path": "/etc/passwd"}),
    "read process memory map": ("read_file", {"path": "/proc/self/maps"}),
    "read the grader's environment": ("read_file", {"path": f"/proc/{os.getpid()}/environ"}),
    "read the grader's command": ("read_file", {"path": f"/proc/{os.getpid()}/cmdline"}),
    "read kernel state": ("read_file", {"path": "/sys/kernel/notes"}),
    "write outside": ("write_file", {"path": str(FOLDER / "new")}),
    "overwrite a solution": ("write_file", {"path": str(SECRET)}),
    "write /tmp": ("write_file", {"path": "/tmp/isolation-attack"}),
    "write the root": ("write_file", {"path": "/attack"}),
    "write a terminal": ("write_file", {"path": "/dev/tty"}),
    "shared memory file": ("shared_memory_file", {}),
    "change a package": ("append_to_package", {}),
    "chmod a package": ("chmod_package", {}),
    "chmod its own file": ("chmod_own", {}),
    "utime a package": ("touch_package", {}),
    "xattr of a package": ("xattr_package", {}),
    "symbolic link out": ("symlink_out", {"path": str(SECRET)}),
    "hard link out": ("hardlink_out", {"path": str(SECRET)}),
    "climb out": ("climb", {"path": str(SECRET)}),
    "make a device": ("make_node", {}),
}
STAT_ATTACKS = {  # Landlock does not cover stat; docs/isolation.md says so
    "stat a solution": ("stat_file", {"path": str(SECRET)}),
    "stat the solutions": ("stat_file", {"path": str(COURSE / "solutions")}),
    "stat the home": ("stat_file", {"path": os.path.expanduser("~/.bashrc")}),
    "stat the grader": ("stat_file", {"path": f"/proc/{os.getpid()}"}),
}
PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_SECCOMP, PR_SET_CHILD_SUBREAPER, PR_SET_PTRACER = 1, 4, 22, 36, 0x59616D61
PROCESS_ATTACKS = {
    "fork": ("fork", {}),
    "shell": ("run_shell", {}),
    "posix_spawn": ("spawn_process", {}),
    "exec": ("replace_process", {}),
    "multiprocessing": ("worker_process", {}),
    "kill the grader": ("signal_process", {"pid": os.getpid(), "number": 9}),
    "probe the grader": ("signal_process", {"pid": os.getpid(), "number": 0}),
    "kill everybody": ("signal_everybody", {}),
    "SIGIO to the grader": ("signal_by_io", {"pid": os.getpid()}),
    "limit the grader": ("limit_process", {"pid": os.getpid()}),
    "move the grader": ("move_process", {"pid": os.getpid()}),
    "outlive the monitor": ("process_control", {"option": PR_SET_PDEATHSIG, "value": 0}),
    "become dumpable": ("process_control", {"option": PR_SET_DUMPABLE, "value": 1}),
    "choose a tracer": ("process_control", {"option": PR_SET_PTRACER, "value": 2**64 - 1}),
    "adopt orphans": ("process_control", {"option": PR_SET_CHILD_SUBREAPER, "value": 1}),
    "become root": ("become_root", {}),
    "keep capabilities": ("capabilities", {}),
    "raise its limits": ("raise_limits", {}),
    "inherit the environment": ("environment", {"marker": MARKER}),
}
SOCKETS = {
    "TCP": (socket.AF_INET, socket.SOCK_STREAM),
    "UDP": (socket.AF_INET, socket.SOCK_DGRAM),
    "TCP over IPv6": (socket.AF_INET6, socket.SOCK_STREAM),
    "raw": (socket.AF_INET, socket.SOCK_RAW, 1),
    "unix": (socket.AF_UNIX, socket.SOCK_STREAM),
    "unix datagram": (socket.AF_UNIX, socket.SOCK_DGRAM),
    "netlink": (socket.AF_NETLINK, socket.SOCK_RAW),
    "packet": (socket.AF_PACKET, socket.SOCK_RAW),
    "vsock": (socket.AF_VSOCK, socket.SOCK_STREAM),
    "kernel crypto": (socket.AF_ALG, socket.SOCK_SEQPACKET),
}
NETWORK_ATTACKS = {
    f"socket: {name}": ("make_socket", dict(zip(("family", "kind", "protocol"), map(int, numbers))))
    for name, numbers in SOCKETS.items()
} | {"socket pair": ("make_socket_pair", {})}
REFUSED_CALLS = """
    ptrace process_vm_readv process_vm_writev kcmp pidfd_open pidfd_getfd pidfd_send_signal process_madvise bpf
    perf_event_open userfaultfd add_key request_key keyctl mount umount2 pivot_root chroot move_mount open_tree fsopen
    fsconfig fsmount fspick mount_setattr unshare setns kexec_load reboot init_module finit_module delete_module swapon
    acct settimeofday clock_settime adjtimex sethostname syslog quotactl personality name_to_handle_at
    open_by_handle_at fanotify_init io_uring_setup io_uring_enter io_uring_register memfd_create shmget msgget semget
    mq_open execve execveat bind connect listen accept4 fchown fchmod fsetxattr utimensat setpriority
    sched_setscheduler sched_setattr ioprio_set migrate_pages move_pages rt_sigqueueinfo tkill setuid setgid setresuid
    setgroups capset seccomp clone3 mlockall vmsplice inotify_init1 landlock_create_ruleset setsid fork vfork
"""


# Calls that are allowed with harmless arguments only; these are the others.
FILTERED_CALLS = {
    "ioctl that types into a terminal": ("ioctl", [0, 0x5412, 0]),
    "ioctl that asks for signals": ("ioctl", [0, 0x8901, 0]),
    "fcntl that grows a pipe": ("fcntl", [1, 1031, 1 << 20]),
    "fcntl that picks a signal": ("fcntl", [1, 10, 9]),
    "fcntl that watches a folder": ("fcntl", [0, 1026, 1]),
    "limits of the grader": ("prlimit64", [os.getpid(), 7, 0, 0]),
    "signal to a thread of the grader": ("tgkill", [os.getpid(), os.getpid(), 0]),
    "clone a process": ("clone", [17, 0, 0, 0, 0]),
    "clone into a user namespace": ("clone", [0x10000000 | 17, 0, 0, 0, 0]),
    "clone a thread into a network namespace": ("clone", [0x40000000 | 0x10000 | 0x800 | 0x100, 0, 0, 0, 0]),
}
# Through other numbers of the same processor: the kernel ends the process.
FATAL = {}


def _call_attacks():
    if not LAYERS["seccomp"].active:
        return {}
    import pyseccomp

    def number(name):
        return pyseccomp.resolve_syscall(pyseccomp.Arch.NATIVE, name)

    if platform.machine() == "x86_64":
        FATAL["32-bit system calls"] = ("old_abi_call", {})
        FATAL["x32 system calls"] = ("raw_call", {"number": 0x40000000 | number("getpid"), "arguments": []})
    plain = {
        f"call {name}": ("raw_call", {"number": number(name), "arguments": [-1, 0, 0, 0, 0, 0]})
        for name in REFUSED_CALLS.split()
        if number(name) >= 0
    }
    filtered = {
        title: ("raw_call", {"number": number(name), "arguments": arguments})
        for title, (name, arguments) in FILTERED_CALLS.items()
    }
    return plain | filtered | FATAL


# First: later attacks open descriptors of their own.
ATTACKS = {"inherit descriptors": ("descriptors", {})}
ATTACKS |= FILE_ATTACKS | STAT_ATTACKS | PROCESS_ATTACKS | NETWORK_ATTACKS | _call_attacks()


@pytest.fixture(scope="module")
def outcomes():
    """All attacks of a setting, run once when its first test asks."""
    known = {}

    def of(setting):
        if setting not in known:
            os.environ[MARKER] = MARKER
            _, answers = run_in(setting, list(ATTACKS.values()))
            del os.environ[MARKER]
            known[setting] = dict(zip(ATTACKS, answers))
        return known[setting]

    return of


@pytest.mark.parametrize("attack", ATTACKS)
@pytest.mark.parametrize("setting", SETTINGS)
def test_attack_is_stopped(outcomes, setting, attack):
    if attack in STAT_ATTACKS and "landlock" in setting:
        pytest.skip("Landlock does not hide names; docs/isolation.md lists it")
    outcome = outcomes(setting)[attack]
    assert outcome["worked"] is None
    assert "broken" not in outcome, outcome
    if attack in FATAL:
        assert outcome["ended"] == signal.SIGSYS
    else:
        assert "ended" not in outcome, "the child must survive a refused call"


REAL = [
    *("read a solution", "read beside the packages", "list a folder", "list /tmp", "list the home", "read accounts"),
    *("read process memory map", "write outside", "chmod its own file", "symbolic link out", "climb out"),
    *("stat a solution", "stat the grader", "fork", "shell", "posix_spawn", "multiprocessing", "probe the grader"),
    *("SIGIO to the grader", "become dumpable", "adopt orphans", "socket: TCP", "socket: UDP", "socket: unix"),
    *("socket: netlink", "socket pair"),
]


def test_the_attacks_are_real():
    """Without isolation they work: what is tested above is the isolation, not a slip in the attack."""
    with start("process") as parent:
        answers = run_calls(parent, [ATTACKS[name] for name in REAL])
    assert [name for name, answer in zip(REAL, answers) if not answer["worked"]] == []


@pytest.mark.parametrize("setting", SETTINGS)
def test_honest_work_runs(setting):
    names = ("honest_threads", "honest_files", "honest_import", "whoami")
    _, (threads, files, imports, me) = run_in(setting, [(name, {}) for name in names])
    assert threads["worked"] == list(range(8))
    assert files["worked"] == [3, True, ["state"]]
    assert imports["worked"] == [True, [1]]
    assert me["worked"]["input"] == ""
    if setting.startswith("namespaces"):
        assert me["worked"]["pid"] == 1
    if ROOT and not setting.endswith("user"):
        assert me["worked"]["uid"] not in (0, os.getuid())


# --- one parent for the tests below, with torch


@pytest.fixture(scope="module")
def parent():
    with start("auto", preload=("torch", "torch.optim"), allow_process=True) as warm:
        warm.ready()
        yield warm


@pytest.fixture
def confined(parent):
    if parent.mode == "process":
        pytest.skip("this host offers no isolation")
    return parent


def test_torch_trains_saves_and_uses_threads(confined):
    [answer] = run_calls(confined, [("honest_torch", {"threads": 2})])
    assert answer == {"worked": [1, True, True, 512.0, 2.0]}


def test_children_start_alike(confined):
    first, second = (run_calls(confined, [("same_everywhere", {})]) for _ in range(2))
    assert first[0]["worked"] == second[0]["worked"]


def test_nothing_stays_for_the_next_child(confined):
    run_calls(confined, [("leave_traces", {})])
    assert run_calls(confined, [("scratch_leftovers", {})]) == [{"worked": None}]


def test_two_children_live_side_by_side(confined):
    with confined.spawn() as first, confined.spawn() as second:
        assert first.pid != second.pid
        assert call(first, "signal_everybody", {})["worked"] is None
        assert call(first, "leave_traces", {}) == {"worked": None}
        assert call(second, "scratch_leftovers", {}) == {"worked": None}
        if ROOT:
            ids = {call(process, "whoami", {})["worked"]["uid"] for process in (first, second)}
            assert len(ids) == 2
        first.kill()
        assert call(second, "honest_threads", {})["worked"] == list(range(8))


def test_output_is_captured_line_by_line(confined):
    with confined.spawn() as process:
        call(process, "say", {"text": "déjà vu"})
        process.kill()
        assert read_output(process).decode() == "déjà vu\ndéjà vu\n"


def test_ending_of_the_entry_is_the_exit_code(confined):
    with confined.spawn() as process:
        process.channel.shutdown(socket.SHUT_WR)
        assert process.wait(10).code == 0
    with confined.spawn() as process:
        process.channel.sendall(b"not json\n")
        ending = process.wait(10)
        assert (ending.code, ending.signal, ending.limit) == (1, None, None)
        assert b"JSONDecodeError" in read_output(process)


def test_crash_and_exit_are_told_apart(confined):
    with confined.spawn() as process:
        assert call(process, "crash", {}) is None
        assert process.wait(10).signal == signal.SIGSEGV
    with confined.spawn() as process:
        assert call(process, "end_at_once", {"code": 5}) is None
        assert process.wait(10).code == 5


# --- limits


def limited(parent, name, arguments=None, **limits):
    """(answer, exit) of one call in a child with limits; the exit is None when the child lived on."""
    with parent.spawn(Limits(**limits)) as process:
        answer = call(process, name, arguments or {})
        return answer, (process.wait(10) if answer is None else None)


def test_memory_hog_is_ended_and_named(confined):
    answer, ending = limited(confined, "hog_memory", {"step": MIB}, memory_bytes=128 * MIB)
    if answer is None:
        assert (ending.limit, ending.limit_value) == ("memory", 128 * MIB)
    else:  # the resource limit was faster than the monitor
        assert answer["broken"].startswith("MemoryError")


def test_hidden_memory_hog_is_ended_and_named(confined):
    _, ending = limited(confined, "hog_shared_memory", {"step": MIB}, memory_bytes=128 * MIB)
    assert (ending.signal, ending.limit) == (signal.SIGKILL, "memory")
    assert ending.max_rss_bytes > 128 * MIB


def test_huge_request_is_refused_and_the_child_lives(confined):
    answer, ending = limited(confined, "ask_for", {"size": 30 << 30})
    assert (answer, ending) == ({"worked": "MemoryError"}, None)


def test_thread_bomb_is_ended_and_named(confined):
    answer, ending = limited(confined, "hog_threads", threads=8)
    assert answer is None
    assert (ending.signal, ending.limit, ending.limit_value) == (signal.SIGKILL, "threads", 8)


def test_processor_time_is_limited_and_named(confined):
    _, ending = limited(confined, "loop_forever", cpu_seconds=1)
    assert (ending.signal, ending.limit, ending.limit_value) == (signal.SIGKILL, "cpu", 1)
    assert ending.cpu_seconds >= 1


@pytest.mark.parametrize("name", ["sleep_forever", "loop_forever", "stop_itself", "print_forever"])
def test_wall_time_is_limited_and_named(confined, name):
    _, ending = limited(confined, name, wall_seconds=0.3)
    assert (ending.signal, ending.limit, ending.limit_value) == (signal.SIGKILL, "wall", 0.3)


@pytest.mark.parametrize("name", ["sleep_forever", "loop_forever", "stop_itself", "print_forever"])
def test_kill_returns_when_the_child_is_gone(confined, name):
    with confined.spawn() as process:
        assert call(process, name, {}, seconds=0.1) is None
        started = time.monotonic()
        process.kill()
        assert time.monotonic() - started < 5
        assert process.wait(0).signal == signal.SIGKILL
        assert process.wait(0).limit is None
        with pytest.raises(ProcessLookupError):
            os.kill(process.pid, 0)


def test_endless_print_is_read_up_to_a_cap(confined):
    with confined.spawn() as process:
        assert call(process, "print_forever", {}, seconds=0.1) is None
        assert len(read_output(process, cap=MIB)) == MIB
        process.kill()


@needs_namespaces
def test_full_disk_stops_at_the_quota(confined):
    answer, _ = limited(confined, "fill_disk", disk_bytes=4 * MIB)
    written, reason = answer["worked"]
    assert reason == "ENOSPC"
    assert 3 * MIB < written <= 4 * MIB


@needs_namespaces
def test_number_of_files_is_limited(confined):
    answer, _ = limited(confined, "many_files", disk_files=50)
    assert answer["worked"] == [50, "ENOSPC"]


def test_file_size_is_limited(confined):
    answer, _ = limited(confined, "grow_file", file_bytes=MIB)
    assert answer["worked"] == [MIB, "EFBIG"]


def test_open_files_are_limited(confined):
    answer, _ = limited(confined, "open_many", open_files=32)
    count, reason = answer["worked"]
    assert reason == errno.errorcode[errno.EMFILE]
    assert count < 32


def test_failure_beside_a_full_disk_is_named(confined):
    _, ending = limited(confined, "full_disk_then_fail", disk_bytes=4 * MIB)
    assert (ending.limit, ending.limit_value) == ("disk", 4 * MIB)


# --- what stays


def _expected_kept(ending):
    assert ending.files["plain"] == b"one"
    assert ending.files["sub/inner/nested"] == b"two"
    assert not {"stolen", "alias"} & ending.files.keys()
    assert not any(b"answer" in content for content in ending.files.values())
    assert not any(path.startswith("sub/root") for path in ending.files)
    assert ending.dropped_files >= 4  # three links and the odd name


def test_kept_files_survive_a_kill_and_follow_no_link(confined):
    with confined.spawn(keep_files=True) as process:
        assert call(process, "write_results", {"secret": str(SECRET)}) == {"worked": None}
        process.kill()
        _expected_kept(process.wait(0))
    with confined.spawn() as process:
        process.kill()
        assert process.wait(0).files == {}


def _helper_descriptors(parent):
    return len(os.listdir(f"/proc/{parent._helper.pid}/fd"))


def test_many_children_leak_nothing():
    mode = "auto"
    with start(mode, allow_process=True) as parent:
        before = None
        for serial in range(100):
            with parent.spawn(keep_files=True) as process:
                assert call(process, "leave_traces", {}) == {"worked": None}
                if serial % 2:
                    process.channel.shutdown(socket.SHUT_WR)
                    assert process.wait(10).files == {"trace": b"x"}
            now = (len(os.listdir("/proc/self/fd")), _helper_descriptors(parent), Path("/proc/mounts").read_text())
            if serial == 10:
                before = now
        assert now == before
        children = Path(f"/proc/{parent._helper.pid}/task/{parent._helper.pid}/children").read_text().split()
        assert len(children) <= 1  # the last monitor may be on its way out


def _gone(pid, seconds):
    """Whether a process ends within some seconds."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    poller = select.poll()
    poller.register(handle, select.POLLIN)
    ended = bool(poller.poll(seconds * 1000))
    os.close(handle)
    return ended


GRADER = """
import os, sys
sys.path[:0] = sys.argv[1].split(os.pathsep)
from isolation_driver import call, start
parent = start("auto", allow_process=True)
process = parent.spawn()
print(parent._helper.pid, process.pid, flush=True)
call(process, "sleep_forever", {}, seconds=60)
"""


@pytest.mark.parametrize("victim", ["grader", "warm parent"])
def test_nothing_survives_its_parent(victim):
    paths = os.pathsep.join([str(Path(__file__).parent), _import_paths()])
    with subprocess.Popen([sys.executable, "-c", GRADER, paths], stdout=subprocess.PIPE, text=True) as grader:
        helper, child = map(int, grader.stdout.readline().split())
        os.kill(grader.pid if victim == "grader" else helper, signal.SIGKILL)
        assert _gone(child, 10)
        assert _gone(helper, 10)
        grader.kill()


def test_closing_the_parent_ends_its_children():
    parent = start("auto", allow_process=True)
    process = parent.spawn()
    assert call(process, "sleep_forever", {}, seconds=0.05) is None
    pid, helper = process.pid, parent._helper.pid
    parent.close()
    parent.close()
    assert _gone(pid, 1)
    assert _gone(helper, 1)
    assert process.wait(0).signal == signal.SIGKILL


@needs_namespaces
def test_scratch_lives_in_memory_with_namespaces(parent):
    assert parent._ready.scratch == ""


# --- set-up


def test_process_mode_runs_and_cleans_up():
    with start("process") as parent:
        with parent.spawn(Limits(disk_files=20), keep_files=True) as process:
            assert parent.mode == "process"
            assert call(process, "honest_files", {})["worked"] == [3, True, ["state"]]
            assert call(process, "environment", {"marker": "PYTEST_CURRENT_TEST"})["worked"] is None
            assert call(process, "descriptors", {})["worked"] is None
            assert call(process, "write_results", {"secret": str(SECRET)}) == {"worked": None}
            process.kill()
            _expected_kept(process.wait(0))
        with parent.spawn(Limits(disk_files=20)) as process:
            call(process, "many_files", {}, seconds=0.5)
            ending = process.wait(10)
            assert (ending.limit, ending.limit_value) == ("disk", 20)
        scratch = Path(parent._ready.scratch)
        assert list(scratch.iterdir()) == []
    assert not scratch.exists()


def test_warm_parent_returns_before_the_imports_end():
    started = time.monotonic()
    with start("auto", preload=("torch",), allow_process=True):
        assert time.monotonic() - started < 1  # torch alone takes longer


def test_failed_import_is_told_with_a_remedy():
    with (
        start("auto", preload=("no_such_library",), allow_process=True) as parent,
        pytest.raises(IsolationError, match=r"cannot import no_such_library.*check the installation"),
    ):
        parent.ready()


def test_unknown_entry_is_told():
    with (
        WarmParent(preload=(), entry="no_such_entry:main", allow_process=True) as parent,
        pytest.raises(IsolationError, match="no_such_entry"),
    ):
        parent.spawn()


def test_dead_warm_parent_is_told():
    with start("auto", allow_process=True) as parent:
        parent.ready()
        parent._helper.kill()
        parent._helper.wait()
        with pytest.raises(IsolationError, match=r"warm parent|monitor"):
            parent.spawn()


def test_unknown_isolation_is_refused():
    with pytest.raises(ValueError, match="airtight"):
        WarmParent(isolation="airtight")


def test_probe_tells_every_layer():
    for layer in LAYERS.values():
        assert isinstance(layer, Layer)
        assert layer.detail
        assert layer.purpose
        assert layer.lost
    assert {"mount namespace", "landlock", "seccomp", "own user id", "cgroups", "resource limits"} <= LAYERS.keys()


def test_active_layers_are_reported(parent):
    states = {layer.name: layer.active for layer in parent.layers}
    assert states.keys() == LAYERS.keys()
    if parent.mode == "namespaces":
        assert states["mount namespace"]
        assert states["landlock"] == LAYERS["landlock"].active


def test_auto_never_means_process(monkeypatch):
    from autograder.isolation import _host

    nothing = _host.Survey([Layer(name, False, "not here") for name in LAYERS], False)
    assert _host.choose(Isolation.AUTO, nothing, allow_process=True) == Isolation.PROCESS
    for wanted in (Isolation.AUTO, Isolation.NAMESPACES, Isolation.LANDLOCK):
        with pytest.raises(IsolationError, match=r"not possible on this host.*not here.*doctor"):
            _host.choose(wanted, nothing, allow_process=wanted != Isolation.AUTO)


@pytest.mark.skipif(not ROOT or not LANDLOCK, reason="needs root")
def test_python_in_a_private_home_is_told():
    if all(os.stat(folder).st_mode & 0o001 for folder in Path(sys.base_prefix).parents):
        pytest.skip("this interpreter is open to everybody")
    with start("landlock") as parent, pytest.raises(IsolationError, match="cannot be read by the user"):
        parent.ready()
