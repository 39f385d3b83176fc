"""What runs inside the child in test_isolation.py: attacks, hogs and honest work, called by name over the channel.

An attack returns a text when it worked, returns None or raises OSError when it was stopped. Anything else it raises
makes the test fail, so that an attack which never happened is not taken for one that was stopped.
"""

import ctypes
import errno
import json
import mmap
import multiprocessing
import os
import platform
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long


def main(channel, scratch):
    """Serve calls `{"name": ..., "arguments": {...}}`, one JSON document per line, until the grader hangs up."""
    with channel.makefile("rwb") as lines:
        for line in lines:
            call = json.loads(line)
            lines.write(json.dumps(answer(call["name"], call["arguments"])).encode() + b"\n")
            lines.flush()


def answer(name, arguments):
    try:
        return {"worked": globals()[name](**arguments)}
    except OSError as problem:
        return {"worked": None, "stopped": errno.errorcode.get(problem.errno, str(problem))}
    except BaseException as problem:
        return {"worked": None, "broken": f"{type(problem).__name__}: {problem}"}


# --- files


def read_file(path):
    with open(path, "rb") as source:
        return f"read {len(source.read(64))} bytes"


def list_folder(path):
    return f"listed {os.listdir(path)}"


def list_names(path, names):
    """A folder above the packages may exist; what lies beside them must not show."""
    return [name for name in os.listdir(path) if name in names] or None


def stat_file(path):
    return f"size {os.stat(path).st_size}"


def write_file(path):
    with open(path, "w") as target:
        target.write("x")
    return "written"


def append_to_package():
    import autograder

    with open(autograder.__file__, "a"):
        return "opened for writing"


def chmod_package():
    import autograder

    os.chmod(autograder.__file__, 0o777)
    return "mode changed"


def touch_package():
    import autograder

    os.utime(autograder.__file__)
    return "times changed"


def xattr_package():
    import autograder

    os.setxattr(autograder.__file__, "user.mark", b"1")
    return "attribute set"


def chmod_own():
    with open("own", "w"):
        pass
    os.chmod("own", 0o777)
    return "mode changed"


def symlink_out(path):
    os.symlink(path, "link")
    return read_file("link")


def hardlink_out(path):
    os.link(path, "hard")
    return "linked"


def climb(path):
    start = os.open(".", os.O_RDONLY | os.O_DIRECTORY)
    source = os.open("../" * 40 + path.lstrip("/"), os.O_RDONLY, dir_fd=start)
    return f"read {len(os.read(source, 64))} bytes"


def make_node():
    os.mknod("disk", 0o600 | 0o060000, os.makedev(254, 0))
    return "device made"


def shared_memory_file():
    with open("/dev/shm/left", "w") as target:
        target.write("x")
    return "left a file in /dev/shm"


def scratch_leftovers():
    return os.listdir(".") or None


def leave_traces():
    with open("trace", "w") as target:
        target.write("x")


# --- processes


def fork():
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    return "forked"


def run_shell():
    return subprocess.run(["/bin/sh", "-c", "echo hi"], check=False, capture_output=True).stdout.decode() or None


def spawn_process():
    return f"process {os.posix_spawn('/bin/true', ['true'], {})}"


def replace_process():
    os.execv(sys.executable, [sys.executable, "-c", "0"])


def worker_process():
    worker = multiprocessing.get_context("fork").Process(target=print)
    worker.start()
    return "started a worker"


def signal_process(pid, number):
    os.kill(pid, number)
    return "signal sent"


def signal_everybody():
    os.kill(-1, signal.SIGKILL)
    return "signals sent"


def signal_by_io(pid):
    """Have the kernel send a signal to the owner of a descriptor."""
    import fcntl

    reader, _ = os.pipe()
    fcntl.fcntl(reader, fcntl.F_SETOWN, pid)
    return "owner set"


def limit_process(pid):
    resource.prlimit(pid, resource.RLIMIT_CPU, (1, 1))
    return "limited"


def move_process(pid):
    os.sched_setaffinity(pid, {0})
    return "moved"


def process_control(option, value):
    ctypes.set_errno(0)
    if libc.prctl(option, ctypes.c_ulong(value), 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl")
    return "set"


def become_root():
    os.setuid(0)
    return "changed" if os.getuid() != 0 or os.access("/", os.W_OK) else None


def capabilities():
    """Every capability set must be empty."""
    header, data = ctypes.create_string_buffer(8), ctypes.create_string_buffer(24)
    ctypes.memmove(header, (0x20080522).to_bytes(4, sys.byteorder), 4)
    if libc.capget(header, data) != 0:
        raise OSError(ctypes.get_errno(), "capget")
    return None if data.raw == bytes(24) else data.raw.hex()


def raise_limits():
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard + 1, hard + 1))
    except ValueError:  # how Python names EPERM here
        return None
    return "raised"


def descriptors():
    """Open descriptors besides the standard ones; only the channel may be there."""
    found = []
    for number in range(3, 1024):
        try:
            os.fstat(number)
        except OSError:
            continue
        found.append(number)
    return found if len(found) > 1 else None


def environment(marker):
    libc.getenv.restype = ctypes.c_char_p
    found = [key for key, value in os.environ.items() if marker in value or marker in key]
    return found or (libc.getenv(marker.encode()) or b"").decode() or None


def raw_call(number, arguments):
    """A system call with arguments that do no harm; refused means EPERM or ENOSYS, not "wrong argument"."""
    ctypes.set_errno(0)
    result = libc.syscall(ctypes.c_long(number), *[ctypes.c_long(a) for a in arguments])
    code = ctypes.get_errno()
    if result == -1 and code in (errno.EPERM, errno.ENOSYS):
        raise OSError(code, "refused")
    return f"returned {result}, errno {errno.errorcode.get(code, code)}"


def old_abi_call():
    """getpid through the 32-bit entry of x86-64, which uses other numbers."""
    code = mmap.mmap(-1, 4096, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=7)
    code.write(b"\xb8\x14\x00\x00\x00\xcd\x80\xc3")  # mov eax, 20; int 0x80; ret
    run = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(code)))
    return f"pid {run()}"


# --- network


def make_socket(family, kind, protocol=0):
    socket.socket(family, kind, protocol).close()
    return "socket made"


def make_socket_pair():
    for end in socket.socketpair():
        end.close()
    return "pair made"


# --- hogs: each returns what stopped it, or is ended


def hog_memory(step):
    blocks = []
    while True:
        block = bytearray(step)
        block[:: mmap.PAGESIZE] = b"x" * len(range(0, step, mmap.PAGESIZE))
        blocks.append(block)


def ask_for(size):
    try:
        bytearray(size)
    except MemoryError:
        return "MemoryError"
    return "got it"


def hog_shared_memory(step):
    blocks = []
    while True:
        block = mmap.mmap(-1, step)
        block.write(b"x" * step)
        blocks.append(block)


def hog_threads():
    gate = threading.Event()
    count = 0
    while True:
        try:
            threading.Thread(target=gate.wait, daemon=True).start()
            count += 1
        except RuntimeError:
            gate.wait()


def loop_forever():
    for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:
        signal.signal(number, signal.SIG_IGN)
    while True:
        pass


def sleep_forever():
    while True:
        time.sleep(1000)


def stop_itself():
    os.kill(os.getpid(), signal.SIGSTOP)
    sleep_forever()


def print_forever():
    line = "x" * 65535
    while True:
        print(line)


def fill_disk():
    """Bytes and errno at the end of the disk."""
    written = 0
    try:
        for serial in range(10_000):
            with open(f"fill{serial}", "wb", buffering=0) as target:
                for _ in range(16):
                    written += target.write(bytes(1 << 16))
    except OSError as problem:
        return [written, errno.errorcode[problem.errno]]
    return [written, ""]


def grow_file():
    written = 0
    try:
        with open("big", "wb", buffering=0) as target:
            while True:
                written += target.write(bytes(1 << 16))
    except OSError as problem:
        return [written, errno.errorcode[problem.errno]]


def many_files():
    made = 0
    try:
        while True:
            os.close(os.open(f"f{made}", os.O_CREAT | os.O_WRONLY))
            made += 1
    except OSError as problem:
        return [made, errno.errorcode[problem.errno]]


def open_many():
    held = []
    try:
        while True:
            held.append(os.open("/dev/null", os.O_RDONLY))
    except OSError as problem:
        for descriptor in held:
            os.close(descriptor)
        return [len(held), errno.errorcode[problem.errno]]


def full_disk_then_fail():
    fill_disk()
    os._exit(3)


# --- what the grader finds afterwards


def write_results(secret):
    """Plain files, links of both kinds, odd names, a closed folder and a deep tree; then wait to be killed."""
    os.makedirs("sub/inner")
    for name, content in (("plain", "one"), ("sub/inner/nested", "two"), ("plain.link-target", "three")):
        with open(name, "w") as target:
            target.write(content)
    os.symlink(secret, "stolen")
    os.symlink("/", "sub/root")
    os.symlink("plain", "alias")
    with open(b"bad\xff", "w"):
        pass
    os.mkdir("closed", 0)
    deep = os.open(".", os.O_RDONLY)
    for _ in range(200):
        os.mkdir("d", dir_fd=deep)
        deep, old = os.open("d", os.O_RDONLY, dir_fd=deep), deep
        os.close(old)


# --- honest work


def honest_threads():
    results = []
    workers = [threading.Thread(target=results.append, args=(n,)) for n in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return sorted(results)


def honest_files():
    with tempfile.TemporaryFile() as file:
        file.write(b"abc")
        file.seek(0)
        content = file.read()
    with open("state.tmp", "wb") as target:
        target.write(content)
        target.flush()
        os.fsync(target.fileno())
    os.replace("state.tmp", "state")
    return [os.path.getsize("state"), os.getcwd() == os.environ["HOME"], os.listdir(".")]


def honest_import():
    import colorsys  # not loaded by the warm parent
    import sqlite3

    return [colorsys.rgb_to_hsv(0, 0, 0) == (0, 0, 0), sqlite3.connect(":memory:").execute("select 1").fetchone()]


def honest_torch(threads):
    """Train for some steps, save and load, with several threads."""
    import numpy as np
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.GELU(), torch.nn.Linear(64, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    x = torch.randn(512, 64)
    losses = []
    for _ in range(5):
        optimizer.zero_grad()
        loss = model(x).square().mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    torch.save(model.state_dict(), "model.pt")
    again = torch.load("model.pt", weights_only=True)
    large = torch.ones(512, 512) @ torch.ones(512, 512)
    return [before, losses[-1] < losses[0], sorted(again) == sorted(model.state_dict()), large[0, 0].item(),
            float(np.linalg.norm(np.ones(4)))]  # fmt: skip


def same_everywhere():
    """What chance gives; equal in every child."""
    import random

    import numpy as np

    return [random.random(), float(np.random.rand()), list({"a", "b", "c", "d", "e"})]


def whoami():
    return {"pid": os.getpid(), "uid": os.getuid(), "machine": platform.machine(), "input": os.read(0, 1).decode()}


def say(text):
    print(text)
    print(text, file=sys.stderr)


def give_up():
    sys.exit(7)


def crash():
    ctypes.string_at(0)


def end_at_once(code):
    os._exit(code)
