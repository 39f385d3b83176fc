"""Which cells stand for the checks: one grade cell per check, and one cell for remarks per function of the module.

nbgrader scores a cell at a time, so a check has a cell; the cases of a parametrised check share it. The id of a cell
follows from the check alone, so that a record finds its cells, and tells a student nothing about a hidden check.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from autograder.checks.declare import spec_of
from autograder.errors import GraderError
from autograder.manifest import Assignment

if TYPE_CHECKING:
    import pytest

CHECK, REMARKS = "check-", "checks-"
"""How the ids of our cells begin; no cell of an author may."""
SEVERAL = "several"
"""Stands for the function where the cases of one check judge several."""
POINTS_DIGITS = 4


@dataclass
class CheckCell:
    """A check, and what its cell is worth."""

    title: str
    public: bool
    points: float
    function: str
    """The check's name without `test_`."""
    stubs: set[str] = field(default_factory=set)

    @property
    def section(self) -> str:
        return section_of(self.stubs)

    @property
    def grade_id(self) -> str:
        return grade_id(self.function, self.stubs)


def section_of(stubs: Iterable[str]) -> str:
    """The function under which a check is shown."""
    names = sorted(stubs)
    return names[0] if len(names) == 1 else SEVERAL


def grade_id(function: str, stubs: Iterable[str]) -> str:
    """The cell of a check: nbgrader allows letters, digits, `-` and `_`."""
    digest = hashlib.sha256(function.encode()).hexdigest()[:8]
    return f"{CHECK}{_plain(section_of(stubs))}-{digest}"


def remarks_id(section: str) -> str:
    return f"{REMARKS}{_plain(section)}"


def is_ours(name: str) -> bool:
    """Whether a cell of this id stands for checks."""
    return name.startswith((CHECK, REMARKS))


def _plain(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9_]", "-", text)


def function_of(check_id: str) -> str:
    """The check of a case: `values[float16]` is a case of `values`."""
    return check_id.partition("[")[0]


def check_cells(assignment: Assignment) -> list[CheckCell]:
    """The checks of an assignment, public and hidden, function by function in the manifest's order; runs none.

    Raises GraderError when the checks cannot be imported.
    """
    import pytest

    from autograder.checks.collected import arguments

    collector = _Collector(assignment)
    paths = [path for path in (assignment.public_checks, assignment.hidden_checks) if path is not None]
    code = pytest.main([*arguments(assignment.course.root, paths, None), "--collect-only"], plugins=[collector])
    if collector.broken or code != pytest.ExitCode.OK:
        problems = "\n".join(collector.broken) or f"pytest ended with {code!r}"
        raise GraderError(f"the checks of {assignment.id} cannot be imported:\n{problems}")
    order = {name: number for number, name in enumerate([*assignment.stub_names, SEVERAL])}
    return sorted(collector.cells.values(), key=lambda cell: order.get(cell.section, len(order)))


class _Collector:
    """A plugin of pytest that notes what was collected."""

    def __init__(self, assignment: Assignment) -> None:
        self._public = assignment.public_checks
        self.cells: dict[str, CheckCell] = {}
        self.broken: list[str] = []

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.broken.append(str(report.longrepr))

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        for item in items:
            spec = spec_of(getattr(item, "function", len))
            if spec is None:
                self.broken.append(f"{item.nodeid} is no check")
                continue
            points = round(float(spec.points), POINTS_DIGITS)
            cell = self.cells.setdefault(spec.name, CheckCell(spec.title, item.path == self._public, points, spec.name))
            params = item.callspec.params if hasattr(item, "callspec") else {}
            cell.stubs.add(spec.for_case(dict(params)).stub)
