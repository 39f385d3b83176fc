"""Hand-ins of hw1 that are broken in the ways in which students' files are; each with what the grader must say.

A snippet is appended to the solution, so that exactly one function is broken unless the whole file is given.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Broken:
    """`hits`: the stub that must suffer; every other stub keeps its points. `status` of at least one of its checks."""

    snippet: str
    hits: str
    status: str
    says: str
    """Text that the explanation of one of the stub's checks must contain."""


IGNORE_SIGNALS = """
    import signal
    for number in range(1, 32):
        try:
            signal.signal(number, signal.SIG_IGN)
        except (OSError, ValueError):
            pass
"""

ONE_FUNCTION: dict[str, Broken] = {
    "infinite_loop": Broken(
        f"def softmax_online(x, y):{IGNORE_SIGNALS}    while True:\n        pass",
        "softmax_online",
        "timed_out",
        "time limit of 3 s",
    ),
    "sleeps_forever": Broken(
        "def softmax_online(x, y):\n    import threading\n    threading.Event().wait()",
        "softmax_online",
        "timed_out",
        "time limit of 3 s reached: softmax_online",
    ),
    "prints_a_gigabyte": Broken(
        "def softmax_safe(x, y):\n    for _ in range(1024):\n        print('x' * (1 << 20))",
        "softmax_safe",
        "over_limit",
        "output limit of 4 MiB",
    ),
    "allocates_30_gb": Broken(
        "def block_state(S, V):\n    return torch.ones(30 << 27)",
        "block_state",
        "over_limit",
        "memory limit of 512 MiB",
    ),
    "hogs_memory_slowly": Broken(
        "def block_state(S, V):\n    kept = []\n    while True:\n        kept.append(bytearray(1 << 24))",
        "block_state",
        "over_limit",
        "memory limit of 512 MiB",
    ),
    "os_exit_0": Broken(
        "def merge_states(a, b):\n    import os\n    os._exit(0)",
        "merge_states",
        "crashed",
        "exit code 0 during merge_states",
    ),
    "sys_exit": Broken("def merge_states(a, b):\n    raise SystemExit(0)", "merge_states", "crashed", "SystemExit: 0"),
    "segmentation_fault": Broken(
        "def finalize(state):\n    import ctypes\n    ctypes.string_at(0)",
        "finalize",
        "crashed",
        "signal 11 during finalize",
    ),
    "endless_recursion": Broken(
        "def finalize(state):\n    return finalize(state)", "finalize", "crashed", "RecursionError"
    ),
    "fork_bomb": Broken(
        "def softmax_naive(x, y):\n    import os\n    while True:\n        os.fork()",
        "softmax_naive",
        "forbidden",
        "PermissionError",
    ),
    "keyboard_interrupt": Broken(
        "def softmax_naive(x, y):\n    raise KeyboardInterrupt", "softmax_naive", "crashed", "KeyboardInterrupt"
    ),
    "wrong_signature": Broken("def softmax_safe(x):\n    return x", "softmax_safe", "crashed", "TypeError"),
    "not_a_function": Broken("softmax_safe = 3", "softmax_safe", "crashed", "'int' object is not callable"),
    "deleted": Broken("del softmax_online", "softmax_online", "crashed", "softmax_online"),
    "returns_none": Broken("def block_state(S, V):\n    return None", "block_state", "failed", "None"),
    "returns_text": Broken("def finalize(state):\n    return 'done', 'done'", "finalize", "failed", "str"),
    "returns_a_million_levels": Broken(
        "def finalize(state):\n    out = []\n    for _ in range(100_000):\n        out = [out]\n    return out",
        "finalize",
        "crashed",
        "nested",
    ),
    "returns_itself": Broken(
        "def finalize(state):\n    out = []\n    out.append(out)\n    return out, out", "finalize", "crashed", "nested"
    ),
    "control_characters": Broken(
        "def finalize(state):\n    raise ValueError('\\x1b[2J\\x1b[1;1H' + '\\u202e' + 'gone')",
        "finalize",
        "crashed",
        "\\x1b",
    ),
    "error_without_text": Broken(
        "class Silent(Exception):\n    def __str__(self):\n        raise RuntimeError\n\n"
        "def finalize(state):\n    raise Silent",
        "finalize",
        "crashed",
        "Silent",
    ),
    "closes_every_descriptor": Broken(
        "def finalize(state):\n    import os\n    os.closerange(0, 200)\n    return None",
        "finalize",
        "crashed",
        "finalize",
    ),
    "fills_the_disk": Broken(
        "def finalize(state):\n    with open('full', 'wb') as file:\n"
        "        while True:\n            file.write(bytes(1 << 20))",
        "finalize",
        "over_limit",
        "disk limit of 64 MiB",
    ),
}

ONE_FUNCTION |= {
    "starts_a_program": Broken(
        "def finalize(state):\n    import subprocess\n    subprocess.run(['true'])",
        "finalize",
        "forbidden",
        "starts no programs",
    ),
    "opens_a_connection": Broken(
        "def finalize(state):\n    import socket\n    socket.create_connection(('192.0.2.1', 80))",
        "finalize",
        "forbidden",
        "opens no connections",
    ),
    "returns_an_endless_number": Broken(
        "def finalize(state):\n    return 1 << 16_000, 1 << 16_000", "finalize", "crashed", "integer too long"
    ),
    "returns_a_long_number": Broken(
        "def finalize(state):\n    return 1 << 13_000, 1 << 13_000", "finalize", "failed", "int"
    ),
    "asynchronous": Broken("async def finalize(state):\n    return state", "finalize", "failed", "coroutine"),
}

FORGE = """
    import gc, struct
    import msgspec
    from autograder import child, wire
    connection = next(found for found in gc.get_objects() if isinstance(found, child.Connection))
    def forge(frame):
        body = msgspec.msgpack.encode(frame)
        connection._channel.sendall(struct.pack("<I", len(body)) + body)
"""

ONE_FUNCTION |= {
    "impossible_shape": Broken(
        f"def finalize(state):{FORGE}    forge(wire.Return(wire.Array('float32', [0, 2**63], b'')))\n    return state",
        "finalize",
        "crashed",
        "no answer",
    ),
    "a_million_tensors": Broken(
        f"def finalize(state):{FORGE}"
        "    forge(wire.Return(wire.Sequence([wire.Tensor('bool', [0], b'')] * 500_000)))\n    return state",
        "finalize",
        "crashed",
        "no answer",
    ),
    "never_reads": Broken(
        f"def softmax_safe(x, y):{FORGE}"
        "    body = msgspec.msgpack.encode(wire.Request(child.device_numbers[x], 'loads', [], True))\n"
        "    while True:\n        connection._channel.sendall((struct.pack('<I', len(body)) + body) * 1000)",
        "softmax_safe",
        "timed_out",
        "time limit of 3 s",
    ),
    "endless_type_name": Broken(
        "def finalize(state):\n    raise type('A' * 5_000_000, (Exception,), {})('x')", "finalize", "crashed", "AAAA"
    ),
    "sets_interop_threads": Broken(
        "torch.set_num_interop_threads(2)\ndef finalize(state):\n    return None", "finalize", "failed", "None"
    ),
}

WHOLE_FILE: dict[str, tuple[bytes, str, str]] = {
    "syntax_error": (b"import torch\n\ndef softmax_naive(x, y)\n    pass\n", "crashed", "line 3"),
    "indentation_error": (b"def softmax_naive(x, y):\npass\n", "crashed", "IndentationError"),
    "missing_import": (b"import a_package_nobody_has\n", "crashed", "torch, numpy, course_lib"),
    "exits_at_import": (b"import sys\nsys.exit(0)\n", "crashed", "SystemExit"),
    "dies_at_import": (b"import os\nos._exit(0)\n", "crashed", "exit code 0 during import softmax.py"),
    "loops_at_import": (b"while True:\n    pass\n", "timed_out", "import softmax.py"),
    "empty": (b"", "crashed", "the file is empty"),
    "not_utf8": (b"name = 'caf\xe9'\n", "crashed", "byte 11 is not UTF-8"),
    "null_bytes": (b"def softmax_naive(x, y):\n    \x00\n", "crashed", "zero bytes"),
    "a_pdf": (b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj\n<< /Type /Catalog >>\n", "crashed", "this is a PDF"),
    "a_zip": (b"PK\x03\x04\x14\0\0\0\x08\0", "crashed", "unpack it"),
    "a_notebook": (b'{"cells": [], "metadata": {}, "nbformat": 4}\n', "crashed", "this is a notebook"),
    "a_run_notebook": (
        b'{\n "cells": [{"execution_count": null}],\n "metadata": {}\n}\n',
        "crashed",
        "this is a notebook",
    ),
    "cells_of_a_notebook": (b"%matplotlib inline\nimport torch\n", "crashed", "commands of a notebook"),
    "a_web_page": (b"\n<!DOCTYPE html>\n<html></html>\n", "crashed", "download the raw file"),
    "merge_conflict": (b"<<<<<<< HEAD\nimport torch\n=======\n>>>>>>> main\n", "crashed", "merge conflict"),
    "curly_quotes": ("name = \u201csoftmax\u201d\n".encode(), "crashed", "straight ones"),
    "utf16": ("import torch\n".encode("utf-16"), "crashed", "save the file as UTF-8"),
}

RIGHT_FILES = ("byte_order_mark", "windows_line_ends", "closed_stdout", "prints_politely")
