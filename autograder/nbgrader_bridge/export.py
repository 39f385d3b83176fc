"""`nbgrader export --exporter=autograder.nbgrader_bridge.LmsExport`: nbgrader's grades into an LMS's own file.

The plugin's place in nbgrader: https://nbgrader.readthedocs.io/en/stable/plugins/export-plugin.html
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from nbgrader.plugins import ExportPlugin
from traitlets import Bool, Unicode
from traitlets import Dict as DictTrait

from autograder.errors import AutograderError, UsageError
from autograder.lms.grades import Grade, Identity
from autograder.lms.numbers import exact, parse, rounded
from autograder.lms.options import TARGETS, Options, Target
from autograder.lms.reconciliation import Entry
from autograder.lms.records import label
from autograder.lms.roster import RosterLine, read_roster

if TYPE_CHECKING:
    from autograder.lms.reconciliation import Outcome

_WIDE = 250
_SUFFIX = ".csv"


class LmsExport(ExportPlugin):  # type: ignore[misc]
    """Writes one assignment's grades for an LMS and prints what became of every student."""

    target = Unicode("csv", help=f"What the file is for: {', '.join(TARGETS)}.").tag(config=True)
    template = Unicode("", help="The LMS's own export; only its grade cells change.").tag(config=True)
    column = Unicode("", help="The grade column of the template, by id or title.").tag(config=True)
    roster = Unicode("", help="CSV: id (nbgrader's), name, login, email, sis_id, ... (docs/lms.md).").tag(config=True)
    match = DictTrait({}, help="Template column to the roster's column, where titles are unusual.").tag(config=True)
    match_names = Bool(False, help="Find the rest by full names that occur once.").tag(config=True)
    ignore_leading_zeros = Bool(False, help="Find the rest by digits without leading zeros.").tag(config=True)
    late = Unicode("deduct", help="deduct nbgrader's late penalty, or leave it out.").tag(config=True)
    missing_as_zero = Bool(False, help="Write 0 for who handed nothing in.").tag(config=True)
    rescale = Bool(False, help="Convert points to the column's maximum.").tag(config=True)
    max_points = Unicode("", help="The column's maximum, if the template does not tell.").tag(config=True)
    changed_only = Bool(False, help="Leave out rows for which nothing changes.").tag(config=True)
    allow_erase = Bool(False, help="Overwrite excuses, texts, and grades of who is missing here.").tag(config=True)
    allow_out_of_range = Bool(False, help="Write points below 0 or above the maximum.").tag(config=True)
    skip_ambiguous = Bool(False, help="Leave out students who cannot be told apart.").tag(config=True)
    skip_refused = Bool(False, help="Leave out values that the format cannot hold.").tag(config=True)

    def export(self, gradebook: Any) -> None:
        """Exit 0 when the file was written, 1 when nothing was written in doubt, 2 when something cannot be used."""
        try:
            outcome = self._export(gradebook)
        except AutograderError as error:
            self.log.error("%s", error)
            sys.exit(2)
        if outcome.data is None:
            sys.exit(1)

    def _export(self, gradebook: Any) -> Outcome:
        from rich.console import Console

        from autograder.lms.exporter import export
        from autograder.lms.outfile import written
        from autograder.lms.report import print_reconciliation

        assignment = self._assignment(gradebook)
        output = self._output(assignment)
        grades, waiting = grades_of(gradebook, assignment, self._lines(), [str(one) for one in self.student])
        template = self._read(self.template) if self.template else None
        outcome = export(cast(Target, self.target), template, grades, self._options(assignment), waiting)
        console = Console(highlight=False, width=None if sys.stdout.isatty() else _WIDE)
        print_reconciliation(console, outcome)
        if outcome.data is not None:
            with written(output, outcome.data):
                pass
            console.print(f"file: {output}", markup=False, soft_wrap=True)
        return outcome

    def _assignment(self, gradebook: Any) -> str:
        known = [str(one.name) for one in gradebook.assignments]
        asked = [str(one) for one in self.assignment] or known
        unknown = sorted(set(asked) - set(known))
        if unknown:
            raise UsageError(f"the gradebook has no assignment {', '.join(unknown)}", f"it has {', '.join(known)}")
        if len(asked) != 1:
            listed = ", ".join(asked) or "none"
            raise UsageError(f"one file holds one assignment, here are: {listed}", "name it: --assignment \"['hw1']\"")
        return asked[0]

    def _output(self, assignment: str) -> Path:
        output = Path(self.to or f"{assignment}-{self.target}{_SUFFIX}")
        if output.is_dir() or not output.parent.is_dir():
            raise UsageError(f"{output} cannot be written", "give a file in a folder that exists with --to")
        for name in (self.template, self.roster):
            if name and output.exists() and Path(name).exists() and os.path.samefile(output, name):
                raise UsageError(f"{output} is also an input", "choose another name with --to")
        return output

    def _lines(self) -> list[RosterLine]:
        return read_roster(Path(self.roster)) if self.roster else []

    @staticmethod
    def _read(name: str) -> bytes:
        try:
            return Path(name).read_bytes()
        except OSError as error:
            raise UsageError(f"{name}: {error.strerror}", "give the LMS's own export as LmsExport.template") from None

    def _options(self, assignment: str) -> Options:
        maximum = parse(self.max_points) if self.max_points else None
        if self.max_points and (maximum is None or maximum <= 0):
            raise UsageError(f"LmsExport.max_points {self.max_points!r} is no number of points", "for example 10")
        return Options(
            assignment=assignment,
            column=self.column or None,
            match=dict(self.match),
            match_names=self.match_names,
            ignore_leading_zeros=self.ignore_leading_zeros,
            late=cast(Literal["deduct", "leave"], self.late),
            missing_as_zero=self.missing_as_zero,
            rescale=self.rescale,
            column_max=maximum,
            changed_only=self.changed_only,
            allow_erase=self.allow_erase,
            allow_out_of_range=self.allow_out_of_range,
            allow_ambiguous=self.skip_ambiguous,
            allow_refused=self.skip_refused,
        )


def grades_of(
    gradebook: Any, assignment: str, roster: Sequence[RosterLine], students: Sequence[str]
) -> tuple[list[Grade], list[Entry]]:
    """nbgrader's students with their grades; whoever a person must still grade is in the second list instead."""
    from nbgrader.api import MissingEntry

    lines = {line.student.id: line for line in roster}
    grades, waiting = [], []
    for student in gradebook.students:
        if students and student.id not in students:
            continue
        line = lines.get(student.id)
        identity = _identity(student, line)
        try:
            submission = gradebook.find_submission(assignment, student.id)
        except MissingEntry:
            grades.append(Grade(identity, (line.state if line else None) or "missing"))
            continue
        if submission.needs_manual_grade:
            reason = "cells wait for a person: finish them in formgrader"
            waiting.append(Entry("pending", label(identity), reason=reason, who=identity))
            continue
        if line and line.state in ("excused", "not_assigned"):
            grades.append(Grade(identity, line.state))
            continue
        penalty = _points(submission.late_submission_penalty or 0.0)
        submitted = submission.timestamp.strftime("%Y-%m-%d %H:%M:%S") if submission.timestamp else ""
        full = _points(submission.max_score)
        grades.append(Grade(identity, "graded", _points(submission.score), full, None, penalty, submitted))
    return grades, waiting


def _identity(student: Any, line: RosterLine | None) -> Identity:
    """The roster's keys; names and address as nbgrader has them where the roster does not say."""
    if line is not None:
        return line.student
    return Identity(
        student.id, given=student.first_name or "", family=student.last_name or "", email=student.email or ""
    )


def _points(value: float) -> Decimal:
    """The number that was meant: nbgrader adds points in binary, which leaves 0.30000000000000004."""
    return rounded(exact(float(value)), 9)
