"""How helper processes of the grader start: a clean environment and an import path without the course folder."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

import msgspec

# Packages come from where the grader has them: before any other installed copy, but after the standard library, which
# nothing in a course folder can shadow.
_BOOTSTRAP = (
    "import sys, json, importlib\n"
    "module, imports, arguments = json.loads(sys.argv[1])\n"
    "site = next((n for n, path in enumerate(sys.path) if '-packages' in path), len(sys.path))\n"
    "sys.path[site:site] = [path for path in imports if '-packages' not in path]\n"
    "sys.path += [path for path in imports if path not in sys.path]\n"
    "importlib.import_module(module).main(arguments)\n"
)


def command(module: str, imports: Sequence[str], arguments: Sequence[str]) -> list[str]:
    """The command line that runs `module.main(arguments)` in this interpreter, without user site or current folder."""
    packed = msgspec.json.encode([module, list(imports), list(arguments)]).decode()
    return [sys.executable, "-P", "-s", "-c", _BOOTSTRAP, packed]


def environment() -> dict[str, str]:
    """All that a helper inherits: nothing of the grader's own environment but where shared libraries lie."""
    variables = {
        "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        "LANG": "C.UTF-8",
        "PYTHONDONTWRITEBYTECODE": "1",
        # Sets of strings iterate in the same order in every run: same submission, same record.
        "PYTHONHASHSEED": "0",
        "PYTHONUTF8": "1",
        # A parent warmed with two threads leaves forked children with a pool that never answers.
        "OMP_NUM_THREADS": "1",
        "MKL_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        # Each arena of the C library reserves address space, which RLIMIT_AS counts.
        "MALLOC_ARENA_MAX": "4",
    }
    for name in ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"):
        if name in os.environ:
            variables[name] = os.environ[name]
    return variables
