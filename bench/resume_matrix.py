"""hw5's resume matrix: a run is killed in the save after every step, at every moment of that save, and goes on.

Usage: python bench/resume_matrix.py [--module solutions/hw5/training.py]

Every cell is three processes: one that trains and is killed inside `save`, one that restores what is at the path and
trains to the end, and the uninterrupted one that both are compared with, bit for bit: losses, parameters, the
optimizer's state, the sampler, the global generator, after every step. A cell says after how many steps the checkpoint
that was found was made, and `=` when everything is equal.
"""

from __future__ import annotations

import argparse
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import torch
from rich.console import Console
from rich.table import Table

from autograder.budget import Budget
from autograder.errors import CheckFailed, Outcome
from autograder.isolation import WarmParent
from autograder.manifest import find_course
from autograder.state import import_file, source_of
from autograder.submission import Context

ROOT = Path(__file__).parent.parent
WRITES = (-1, 1), (-1, 1000), (-1, 20_000)
"""Deaths by a write beyond so many bytes, besides those at each event."""


class Matrix:
    """The rows are steps after which the run is saved, the columns moments of the save."""

    def __init__(self, checks: Any, context: Context) -> None:
        self.checks, self.context, self.submission = checks, context, context.proxy
        rng = np.random.default_rng(5)
        self.setup = checks.Setup(rng, torch.Generator().manual_seed(5))
        self.whole = self.setup.uninterrupted(self.submission)
        self.old = [self._checkpoint(step) for step in range(self.setup.plan.total + 1)]
        _, self.events, self.size = checks._rehearsal(self.submission, self.setup)

    def _checkpoint(self, step: int) -> bytes:
        with self.submission.fresh() as process:
            run = self.setup.begin(process)
            process.driver.follow(run, step)
            process.driver.save(run)
            content: bytes = self.checks._written(process)
            return content

    @property
    def deaths(self) -> list[tuple[str, tuple[int, int | None]]]:
        named = [(f"{event}", (number, None)) for number, event in enumerate(self.events)]
        writes = [(f"write beyond {limit:,} B", (at, limit)) for at, limit in (*WRITES, (-1, self.size - 1))]
        return [*named, *writes, ("after it", (len(self.events), None))]

    def cell(self, step: int, at: int, limit: int | None) -> str:
        """What was found and whether the run went on exactly."""
        path, total = self.checks.CHECKPOINT, self.setup.plan.total
        with self.submission.fresh(files={path: self.old[step - 1]}) as victim:
            run = self.setup.begin(victim)
            victim.driver.follow(run, step)
            with suppress(Outcome):
                victim.driver.dying_save(run, at, limit)
            content = victim.files()[path]
        found = step - 1 if content == self.old[step - 1] else step
        try:
            with self.submission.fresh(files={path: content}) as later:
                run, completed = self.setup.restore(later)
                if completed != found:
                    return f"{completed}?"
                state = ([], later.driver.state(run))
                self.checks._compare(([], self.whole[found][1]), state, None, "restored")
                for number, got in enumerate(self.checks._follow(later, run, found, total), found):
                    self.checks._compare(self.whole[number + 1], got, number, "restored")
        except CheckFailed as failure:
            return f"[red]{found} {failure}[/]"
        return f"{found} ="


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--module", type=Path, default=ROOT / "solutions/hw5/training.py")
    assignment = find_course(ROOT).assignment("hw5")
    data = parser.parse_args().module.read_bytes()
    torch.set_num_threads(1)
    checks = import_file("checks_of_hw5", ROOT / "solutions/hw5/test_hidden.py")
    with WarmParent(preload=assignment.preloaded) as parent:
        context = Context(parent, source_of(assignment, data))
        context.begin(Budget(3600.0, 1 << 20), fresh=False)
        matrix = Matrix(checks, context)
        total = matrix.setup.plan.total
        table = Table(
            "killed at", *(f"save after {step}" for step in range(1, total + 1)), title="resume matrix of hw5"
        )
        cells = 0
        for name, (at, limit) in matrix.deaths:
            row = [matrix.cell(step, at, limit) for step in range(1, total + 1)]
            cells += len(row)
            table.add_row(name, *row)
        context.close()
    console = Console(width=150)
    console.print(table)
    console.print(f"{cells} kills; a cell is the checkpoint that was found, = when the run went on from it bit for bit")


if __name__ == "__main__":
    main()
