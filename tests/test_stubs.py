"""What students receive of a module or a notebook: no solution, and a stub that asks for the work."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from autograder.course.errors import ManifestError
from autograder.manifest import load_course
from autograder.notebooks import release_notebook
from autograder.stubs import make_stub, stub_text

REPOSITORY = Path(__file__).parent.parent

SOLUTION = '''\
"""Moving averages."""

import math

### BEGIN SOLUTION
import functools

LIMIT = 1_000_003
### END SOLUTION


def mean(values):
    """The mean of the values."""
    ### BEGIN SOLUTION
    total = math.fsum(values)
    count = max(len(values), 1)
    return total / count
    ### END SOLUTION


### BEGIN SOLUTION
def _pairs(values):
    first = iter(values)
    second = iter(values)
    return zip(first, second)


### END SOLUTION
class Average:
    """A running average."""

    def __init__(self, width):
        self.width = width

    def __call__(self, value):
        if value is None:
            ### BEGIN SOLUTION
            return self.width * LIMIT
            ### END SOLUTION

        def weigh(x):
            ### BEGIN SOLUTION
            return x / self.width
            ### END SOLUTION

        return weigh(value)
'''

STUB = '''\
"""Moving averages."""

import math


def mean(values):
    """The mean of the values."""
    raise NotImplementedError("hw1: mean is not written yet")


class Average:
    """A running average."""

    def __init__(self, width):
        self.width = width

    def __call__(self, value):
        if value is None:
            raise NotImplementedError("hw1: Average.__call__ is not written yet")

        def weigh(x):
            raise NotImplementedError("hw1: Average.__call__.weigh is not written yet")

        return weigh(value)
'''


def cell(kind: str, source: str, nbgrader: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    metadata: dict[str, Any] = {"nbgrader": nbgrader} if nbgrader else {}
    extra = {"outputs": [{"output_type": "stream", "text": "42"}], "execution_count": 3} if kind == "code" else {}
    return {"cell_type": kind, "metadata": metadata, "source": source.splitlines(True), **extra, **more}


ANSWER = {"grade_id": "why", "solution": True, "grade": True, "points": 5, "locked": False, "schema_version": 3}
NOTEBOOK = {
    "nbformat": 4,
    "nbformat_minor": 5,
    "metadata": {"kernelspec": {"display_name": "Python 3", "name": "python3"}, "widgets": {"state": "secret"}},
    "cells": [
        cell("markdown", "# Averages", id="intro"),
        cell("code", "x = 1\nif x:\n    ### BEGIN SOLUTION\n    y = 2\n    ### END SOLUTION\nprint(y)", id="code"),
        cell("code", "assert y\n### BEGIN HIDDEN TESTS\nassert y == 2\n### END HIDDEN TESTS", id="tests"),
        cell("markdown", "Because a sum of many small terms loses digits.", ANSWER | {"checksum": "0" * 32}, id="why"),
        cell("markdown", "Plot it.\n=== BEGIN MARK SCHEME ===\n2 for axes\n=== END MARK SCHEME ===", id="task"),
    ],
}


def formatted(*paths: Path) -> str:
    """What ruff would change."""
    command = [sys.executable, "-m", "ruff", "format", "--diff", "--config", REPOSITORY / "pyproject.toml", *paths]
    return subprocess.run(command, capture_output=True, text=True, cwd=REPOSITORY, check=False).stdout


# --------------------------------------------------------------------------------------------------------------- stubs
def test_regions_become_errors_that_name_the_function_and_helpers_vanish() -> None:
    assert stub_text(Path("averages.py"), SOLUTION, "hw1") == STUB


def test_a_formatted_solution_gives_a_formatted_stub(tmp_path: Path) -> None:
    (tmp_path / "solution.py").write_text(SOLUTION)
    (tmp_path / "stub.py").write_text(STUB)
    assert formatted(tmp_path / "solution.py", tmp_path / "stub.py") == ""


BEGIN, END = "    ### BEGIN SOLUTION\n", "    ### END SOLUTION\n"
BAD_REGIONS = [
    (f"def f():\n{BEGIN}    x = 1\n{BEGIN}", 4, "begins inside the one that began in line 2"),
    (f"def f():\n{BEGIN}    return 1\n", 2, "never closed"),
    (f"def f():\n    return 1\n{END}", 3, "without a beginning"),
    ("def f():\n    ## BEGIN SOLUTION\n    return 1\n", 2, "not a marker"),
    ("def f():\n    ### begin solution\n    return 1\n", 2, "not a marker"),
    ("def f():\n    ### BEGIN SOLUTIONS\n    return 1\n", 2, "not a marker"),
    (f"def f():\n{BEGIN}    return 1  ### END SOLUTION\n", 3, "not a marker"),
    ("def f():\n### BEGIN SOLUTION\n    return 1\n### END SOLUTION\n", 2, "indented unlike the line after it"),
    (f"def f():\n{BEGIN}    return 1\n  ### END SOLUTION\n", 4, "indented differently"),
    (f"def f():\n    x = 1\n{BEGIN}{END}", 3, "empty"),
    ("class C:\n    ### BEGIN SOLUTION\n    x = 1\n    ### END SOLUTION\n", 1, "not valid Python"),
    ("def f():\n    ### BEGIN HIDDEN TESTS\n    x = 1\n    ### END HIDDEN TESTS\n", 2, "hidden tests in a module"),
]


@pytest.mark.parametrize(("text", "line", "message"), BAD_REGIONS, ids=[bad[2][:20] for bad in BAD_REGIONS])
def test_a_region_that_could_publish_a_solution_is_an_error(text: str, line: int, message: str) -> None:
    with pytest.raises(ManifestError, match=message) as raised:
        stub_text(Path("hw.py"), text, "hw1")
    assert raised.value.line == line


REAL = [path.parent.name for path in sorted(REPOSITORY.glob("solutions/*/assignment.yaml"))]


@pytest.mark.parametrize("id", REAL)
def test_the_stubs_of_this_course_are_formatted_and_ask_for_every_function(id: str, tmp_path: Path) -> None:
    assignment = load_course(REPOSITORY).assignment(id)
    text = make_stub(assignment)
    (tmp_path / assignment.module).write_text(text)
    assert formatted(tmp_path / assignment.module) == ""
    for name in assignment.stub_names:
        assert f'NotImplementedError("{id}: {name}' in text


# ----------------------------------------------------------------------------------------------------------- notebooks
def test_a_notebook_loses_answers_hidden_tests_and_outputs_and_keeps_its_metadata() -> None:
    text = release_notebook(Path("hw1.ipynb"), json.dumps(NOTEBOOK))
    released = json.loads(text)
    assert ["".join(item["source"]) for item in released["cells"]] == [
        "# Averages",
        "x = 1\nif x:\n    # YOUR CODE HERE\n    raise NotImplementedError()\nprint(y)",
        "assert y",
        "YOUR ANSWER HERE",
        "Plot it.",
    ]
    assert released["cells"][3]["metadata"]["nbgrader"] == ANSWER
    assert all(item["outputs"] == [] and item["execution_count"] is None for item in released["cells"][1:3])
    assert released["metadata"] == {"kernelspec": {"display_name": "Python 3", "name": "python3"}}
    assert text == release_notebook(Path("hw1.ipynb"), text), "releasing a released notebook changes nothing"
    nbformat = pytest.importorskip("nbformat")
    nbformat.validate(nbformat.reads(text, as_version=4))
    assert text.rstrip() == nbformat.writes(nbformat.reads(text, as_version=4)).rstrip()


@pytest.mark.parametrize("text", ["", "[]", '{"nbformat": 3}', '{"nbformat": 4, "cells": [1]}'])
def test_what_is_no_notebook_is_an_error_of_the_file(text: str) -> None:
    with pytest.raises(ManifestError, match="not a notebook"):
        release_notebook(Path("hw1.ipynb"), text)


def test_a_broken_region_in_a_notebook_names_its_cell() -> None:
    notebook = {**NOTEBOOK, "cells": [cell("code", "x = 1"), cell("code", "y = 1\n### BEGIN SOLUTION\nz = 1")]}
    with pytest.raises(ManifestError, match="cell 2, line 2: the region is never closed"):
        release_notebook(Path("hw1.ipynb"), json.dumps(notebook))
