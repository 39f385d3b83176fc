"""The lint of an assignment's author: stub, solution and corpus must come out as declared.

The stub earns nothing, every check answering `not_implemented`; the solution earns everything; each wrong variant fails
the checks it names and loses only what depends on them; each right variant passes everything; each cheat earns
nothing but what it honestly computes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Literal

from autograder import record as rec
from autograder.errors import UsageError
from autograder.manifest import Assignment, Variant, load_corpus
from autograder.pool import Setup, Task, grade_many

TOTAL = 100.0
COUNTED = ("counts", "flops", "memory", "exactness")
COUNTED_SHARE = 1 / 3

Group = Literal["stub", "solution", "right", "wrong", "cheat"]


@dataclass(frozen=True)
class Row:
    """One program of the matrix: what came out and what is wrong with that (nothing, if `findings` is empty)."""

    id: str
    group: Group
    title: str
    record: rec.Record
    findings: list[str]


@dataclass
class Verdict:
    rows: list[Row] = field(default_factory=list)
    findings: list[str] = field(default_factory=list)
    """About the assignment as a whole."""
    warnings: list[str] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        return not self.findings and not any(row.findings for row in self.rows)


def verify(
    assignment: Assignment, *, jobs: int = 2, only: str | None = None, on_row: Callable[[Row], None] | None = None
) -> Verdict:
    """Grade stub, solution and corpus (or only the programs whose id contains `only`) and judge the outcome."""
    if assignment.solution_path is None:
        raise UsageError(f"{assignment.id} has no solution here: verify is for authors")
    variants = {variant.id: variant for variant in load_corpus(assignment)}
    programs = {name: data for name, data in _programs(assignment, variants).items() if only is None or only in name}
    if not programs:
        raise UsageError(
            f"nothing in {assignment.id} is called {only!r}; there are {', '.join(variants) or 'no variants'}"
        )
    verdict = Verdict()
    judge = _Judge(variants)
    setup = Setup(assignment.course.root, assignment.id, explain=False)
    tasks = [Task(name, data) for name, data in programs.items()]
    for record in grade_many(setup, tasks, jobs=jobs):
        row = judge.row(record)
        verdict.rows.append(row)
        if on_row is not None:
            on_row(row)
    order = list(programs)
    verdict.rows.sort(key=lambda row: order.index(row.id))
    if only is None:
        _whole(verdict, variants.values())
    return verdict


def _programs(assignment: Assignment, variants: dict[str, Variant]) -> dict[str, bytes]:
    from autograder.stubs import make_stub

    assert assignment.solution_path is not None
    return {
        "stub": make_stub(assignment).encode(),
        "solution": assignment.solution_path.read_bytes(),
        **{name: variant.source.encode() for name, variant in variants.items()},
    }


class _Judge:
    """What each program's record ought to look like."""

    def __init__(self, variants: dict[str, Variant]) -> None:
        self._variants = variants

    def row(self, record: rec.Record) -> Row:
        name = record.submission.id
        findings = [
            f"{check.id}: grader error: {check.failure.message}"
            for check in record.checks
            if isinstance(check.failure, rec.GraderFault)
        ]
        if name == "stub":
            return Row(name, "stub", "the stub", record, findings + self._stub(record))
        if name == "solution":
            return Row(name, "solution", "the solution", record, findings + self._all_pass(record))
        variant = self._variants[name]
        judged = {"right": self._all_pass, "wrong": self._wrong, "cheat": self._cheat}[variant.group](record)
        return Row(name, variant.group, variant.title, record, findings + judged)

    @staticmethod
    def _stub(record: rec.Record) -> list[str]:
        fine = ("not_implemented", "not_runnable")
        return [f"{check.id}: {check.status} for the stub" for check in record.checks if check.status not in fine]

    @staticmethod
    def _all_pass(record: rec.Record) -> list[str]:
        fine = ("passed", "not_runnable")
        return [f"{c.id}: {c.status}, punished although right" for c in record.checks if c.status not in fine]

    def _wrong(self, record: rec.Record) -> list[str]:
        variant = self._variants[record.submission.id]
        findings = [
            f"{name}: passed, or is no check; this variant must fail it"
            for name in variant.fails
            if not any(_named(check, name) and check.status != "passed" for check in record.checks)
        ]
        for check in record.checks:  # what was skipped depends on a check that did not pass
            declared = any(_named(check, name) for name in [*variant.fails, *variant.also])
            if check.status in ("passed", "skipped", "not_runnable") or declared:
                continue
            findings.append(f"{check.id}: {check.status}, punished for another check's fault")
        return findings

    def _cheat(self, record: rec.Record) -> list[str]:
        earns = self._variants[record.submission.id].earns
        return [
            f"{check.id}: a cheat earned {check.points:g} points"
            for check in record.checks
            if check.status == "passed" and not any(_named(check, name) for name in earns)
        ] + [
            f"{name}: declared as earned, but not passed"
            for name in earns
            if not any(_named(check, name) and check.status == "passed" for check in record.checks)
        ]


def _function(check: rec.CheckResult) -> str:
    return check.id.partition("[")[0]


def _named(check: rec.CheckResult, name: str) -> bool:
    return check.id == name or _function(check) == name


def _whole(verdict: Verdict, variants: Iterable[Variant]) -> None:
    solution = next(row for row in verdict.rows if row.id == "solution").record
    if abs(solution.max_score - TOTAL) > 1e-6:
        verdict.findings.append(f"the checks are worth {solution.max_score:g} points in all, not {TOTAL:g}")
    counted = sum(group.max for group in solution.totals.by_kind if group.name in COUNTED)
    if counted < COUNTED_SHARE * solution.max_score:
        verdict.findings.append(f"only {counted:g} points are for {', '.join(COUNTED)}: at least a third is asked for")
    failed = {_function(check) for row in verdict.rows if row.group == "wrong" for check in row.record.checks
              if check.status not in ("passed", "skipped", "not_runnable")}  # fmt: skip
    for name in dict.fromkeys(_function(check) for check in solution.checks):
        if name not in failed and any(True for _ in variants):
            verdict.warnings.append(f"{name}: no wrong variant fails it")
