"""`collect` on what students really hand in instead of the module: taken where certain, listed where not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from collect_support import STUBS, Cli, Course, Files, Result, folder, module, zipped

PARTIAL = b"def finalize(state):\n    return state\n"
BROKEN = module("broken") + b"def (:\n"
CP1252 = "# caf\u00e9\n".encode("cp1252") + module()
CLEAR: dict[str, tuple[Files, bytes]] = {
    "browser copy": ({"softmax (1).py": module("a")}, module("a")),
    "capital": ({"Softmax.PY": module("a")}, module("a")),
    "own name": ({"my_hw1.py": module("a"), "helpers.py": "def f(): pass\n"}, module("a")),
    "hidden ending": ({"softmax.py.txt": module("a")}, module("a")),
    "own name, wrong syntax": ({"hw one.py": BROKEN}, BROKEN),
    "deep": ({"hw1/final/really/softmax.py": module("a")}, module("a")),
    "module and helper that defines one": ({"all.py": module("a"), "util.py": PARTIAL}, module("a")),
    "one function only": ({"work.py": PARTIAL, "notes.md": "# notes"}, PARTIAL),
    "exact name beside drafts": ({"softmax.py": module("a"), "softmax_old.py": module("b")}, module("a")),
    "the same twice": ({"softmax.py": module("a"), "zip.zip": zipped({"x/softmax.py": module("a")})}, module("a")),
    "tests that import it": ({"softmax.py": module("a"), "tests/test_it.py": "from softmax import *"}, module("a")),
    "byte order mark": ({"softmax.py": b"\xef\xbb\xbf" + module("a")}, b"\xef\xbb\xbf" + module("a")),
    "declared encoding": ({"softmax.py": b"# coding: cp1252\n" + CP1252}, b"# coding: cp1252\n" + CP1252),
    "windows lines": ({"softmax.py": module("a").replace(b"\n", b"\r\n")}, module("a").replace(b"\n", b"\r\n")),
    "defined by assignment": ({"w.py": "".join(f"{name} = len\n" for name in STUBS)},
                              "".join(f"{name} = len\n" for name in STUBS).encode()),
    "defined inside if and try": ({"w.py": b"if True:\n    try:\n        " + module().replace(b"\n", b"\n        ")
                                   + b"pass\n    except OSError:\n        pass\n"},
                                  b"if True:\n    try:\n        " + module().replace(b"\n", b"\n        ")
                                  + b"pass\n    except OSError:\n        pass\n"),
    "wrong syntax": ({"softmax.py": BROKEN}, BROKEN),
}  # fmt: skip
NOTEBOOK = json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": []})
ODD: dict[str, tuple[Files, str, bytes | None]] = {
    "nothing": ({"": ""}, "it is empty", None),
    "empty file": ({"softmax.py": b" \n"}, "softmax.py is empty, not Python", None),
    "pdf": ({"softmax.py": b"%PDF-1.7\n%\xe2\xe3"}, "is a PDF, not Python", None),
    "docx": ({"softmax.py": b"PK\x03\x04docx"}, "an Office document", None),
    "web page": ({"softmax.py": b"<!DOCTYPE html><html>"}, "is a web page", None),
    "compiled": ({"softmax.py": b"\xa7\r\r\n\x00\x00\x00\x00"}, "zero bytes", None),
    "report only": ({"report.pdf": b"%PDF-1.7"}, "no softmax.py: it holds report only/report.pdf", None),
    "several": ({"a/softmax.py": module("1"), "b/softmax.py": module("2")}, "several files may be the module", None),
    "several by content": ({"one.py": module("1"), "two.py": module("2")}, "several files may be the module", None),
    "empty beside the real one": ({"softmax.py": b"", "final.py": module("f")}, "several files may be", None),
    "notebook": ({"hw1.ipynb": NOTEBOOK}, "a notebook (notebook/hw1.ipynb)", None),
    "notebook as python": ({"softmax.py": NOTEBOOK}, "is a notebook, not Python", None),
    "too large": ({"softmax.py": b"#" * (5 << 20)}, "larger than 4,194,304 bytes", None),
    "cp1252": ({"softmax.py": CP1252}, "not UTF-8", CP1252),
    "utf-16": ({"softmax.py": module().decode().encode("utf-16")}, "not UTF-8 (utf-16)",
               module().decode().encode("utf-16")),
    "damaged beside a copy": ({"softmax.py": b"#" * (5 << 20), "copy/softmax.py": module("c")}, "larger than", None),
    "other assignment": ({"softmax.py": "def flash(): pass\n"}, "defines none of", b"def flash(): pass\n"),
}  # fmt: skip


@pytest.fixture(scope="module")
def klass(tmp_path_factory: pytest.TempPathFactory, cli: Cli) -> Result:
    """All of them in one class."""
    root = tmp_path_factory.mktemp("class")
    (root / "course").mkdir()
    files = {
        f"{name}/{path}": content
        for name, (held, *_) in (*CLEAR.items(), *ODD.items())
        for path, content in held.items()
    }
    source = folder(root / "s", files)
    (source / "linked").mkdir()
    (source / "linked/softmax.py").symlink_to("/etc/passwd")
    (source / "linked/other.py").write_bytes(module("not chosen instead"))
    (source / "stranger").symlink_to("/etc")
    return Course(root / "course", cli).collect(source)


@pytest.mark.parametrize("name", CLEAR)
def test_what_is_certain_is_taken_byte_for_byte(klass: Result, name: str) -> None:
    assert klass.students.get(name) == CLEAR[name][1], klass.lines(f"{name}:")
    assert not klass.lines(f"{name}:")


@pytest.mark.parametrize("name", ODD)
def test_what_is_not_is_listed(klass: Result, name: str) -> None:
    _, says, kept = ODD[name]
    assert any(says in line for line in klass.lines(f"{name}:")), klass.lines(f"{name}:")
    assert klass.students.get(name) == kept


def test_links_are_refused_and_nothing_else_is_taken_for_them(klass: Result) -> None:
    assert "a symbolic link, not followed" in klass.lines("linked:")[0]
    assert "linked" not in klass.students
    assert any("stranger: a symbolic link" in line for line in klass.lines("not placed"))


def test_counts_and_private_files(klass: Result) -> None:
    placed = len(CLEAR) + sum(kept is not None for *_, kept in ODD.values())
    assert klass.lines("collected")[0].split()[:2] == ["collected", str(placed)]
    assert klass.code == 1
    for path in (klass.out, *klass.out.rglob("*")):
        assert path.stat().st_mode & 0o777 == (0o700 if path.is_dir() else 0o600), path


def test_renames_are_noted(klass: Result) -> None:
    assert "note: browser copy: renamed from browser copy/softmax (1).py" in klass.text
    assert klass.record["students"]["own name"]["module_entry"] == "own name/my_hw1.py"


def _notebook(*sources: str | list[str], version: int = 4) -> str:
    key = "source" if version == 4 else "input"
    cells: list[dict[str, Any]] = [{"cell_type": "markdown", key: "# Title"}]
    cells += [{"cell_type": "code", key: source, "outputs": [], "metadata": {}} for source in sources]
    body = {"cells": cells} if version == 4 else {"worksheets": [{"cells": cells}]}
    return json.dumps({"nbformat": version, "nbformat_minor": 5, "metadata": {}, **body})


def test_notebooks_where_the_assignment_takes_them(tmp_path: Path, cli: Cli) -> None:
    (tmp_path / "course").mkdir()
    code = module("nb").decode()
    magic = [
        "%matplotlib inline\n", "!pip install numpy\n", "import numpy as np\n", "files = !ls\n",
        "if True:\n", "    %time x = 1\n", "y = (7\n", "  % 4)\n", "np.exp?\n",
    ]  # fmt: skip
    files: dict[str, bytes | str] = {
        "plain/hw1.ipynb": _notebook(magic, code, "%%bash\necho hi", "%%time\nz = 2"),
        "old/hw1.ipynb": _notebook(code, version=3),
        "renamed/softmax.py": _notebook(code),
        "both/softmax.py": module("py"),
        "both/hw1.ipynb": _notebook(code),
        "two/a.ipynb": _notebook(code),
        "two/b.ipynb": _notebook(code + "\n1"),
        "wrong/hw1.ipynb": "{" * 100_000,
        "wrong2/hw1.ipynb": '{"nbformat": 4, "cells": 7}',
    }
    done = Course(tmp_path / "course", cli, notebooks=True).collect(folder(tmp_path / "s", files))
    assert set(done.students) == {"plain", "old", "renamed", "both"}, done.text
    assert done.students["both"] == module("py")
    assert (done.out / "plain/original.ipynb").read_text() == files["plain/hw1.ipynb"]
    text = done.students["plain"].decode()
    for line in ("# %matplotlib inline", "# !pip install numpy", "# files = !ls", "    pass  # %time x = 1", "  % 4)",
                 "# np.exp?", "# %%bash", "# echo hi", "# %%time", "z = 2"):  # fmt: skip
        assert line in text.splitlines(), line
    compile(text, "softmax.py", "exec")
    assert "several files may be the module" in done.lines("two:")[0]
    assert "note: plain: taken from the notebook plain/hw1.ipynb" in done.text


def test_what_was_collected_can_be_graded(klass: Result) -> None:
    """The folder is what `grade` takes: it finds each module, and nothing where collect found none."""
    from autograder.errors import UsageError
    from autograder.manifest import load_course
    from autograder.running import find_module

    assignment = load_course(klass.out.parent.parent).assignment("hw1")
    for student in klass.students:
        assert find_module(assignment, klass.out / student).parent == klass.out / student
    for path in klass.out.iterdir():
        if path.is_dir() and path.name not in klass.students:
            with pytest.raises(UsageError):
                find_module(assignment, path)
