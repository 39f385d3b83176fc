"""From grades to the file an LMS imports: match, decide per student, write cells, read the result back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from autograder.errors import GraderError
from autograder.lms.decide import Decision, decide
from autograder.lms.errors import LmsError, TemplateError
from autograder.lms.fresh import fresh
from autograder.lms.grades import Grade, Identity
from autograder.lms.matching import Matches, match
from autograder.lms.options import TARGETS, Options, Target
from autograder.lms.rawcsv import Row
from autograder.lms.reconciliation import Entry, Outcome, Reconciliation, Status
from autograder.lms.records import label
from autograder.lms.selfcheck import Wanted, require_readable
from autograder.lms.targets import blackboard, brightspace, canvas, gradescope, moodle, nbgrader, plain
from autograder.lms.template import Template

_OPEN: dict[Target, Callable[[bytes, Options], Template]] = {
    "canvas": canvas.open_template,
    "moodle": moodle.open_gradebook,
    "moodle-worksheet": moodle.open_worksheet,
    "blackboard": blackboard.open_template,
    "brightspace": brightspace.open_template,
    "gradescope": gradescope.open_template,
    "nbgrader": nbgrader.open_template,
    "csv": plain.open_template,
}
_NOTES: dict[Target, Callable[[Template, list[Grade], Options], None]] = {
    "moodle": moodle.add_notes,
    "moodle-worksheet": moodle.add_notes,
    "brightspace": brightspace.add_notes,
}


def export(
    target: Target,
    template: bytes | None,
    grades: Sequence[Grade],
    options: Options | None = None,
    waiting: Sequence[Entry] = (),
) -> Outcome:
    """The file for `target` and what became of every student.

    `template` is the LMS's own export: only grade and feedback cells of it change. None where a file can be made from
    the roster (moodle, brightspace, gradescope, nbgrader, csv). `waiting` are entries of students without a grade, who
    get nothing and are listed, with their row where they have one.

    Raises LmsError (UsageError) for a template, column or option that cannot be used. `Outcome.data` is None when
    students are ambiguous, a grade would be erased or out of range, or a value cannot be written, unless the options
    allow it.
    """
    options = options or Options()
    if target not in TARGETS:
        raise LmsError(f"no target is called {target!r}", f"choose one of {', '.join(TARGETS)}")
    return _Export(target, template, list(grades), list(waiting), options).run()


class _Export:
    def __init__(
        self, target: Target, data: bytes | None, grades: list[Grade], waiting: list[Entry], options: Options
    ) -> None:
        self._target, self._grades, self._options = target, grades, options
        have = {grade.student.id for grade in grades}
        self._waiting = [entry for entry in waiting if entry.who is not None and entry.who.id not in have]
        self._beside = [entry for entry in waiting if entry not in self._waiting]
        self._people = [*(g.student for g in grades), *(entry.who for entry in self._waiting if entry.who)]
        self._new = data is None
        self._refused: list[tuple[Grade, str]] = []
        if data is None:
            data, self._refused = fresh(target, grades, options)
        self._data = data
        self._template = _OPEN[target](data, _for_a_new_file(options) if self._new else options)
        if not self._template.keys:
            raise TemplateError("no column of the template identifies students", "name one with --match 'COLUMN=id'")
        self._set_maximum()
        self._report = Reconciliation(target, self._template.title)
        self._decided: dict[int, Decision] = {}
        """Row to what happens to it."""

    def _set_maximum(self) -> None:
        template, given = self._template, self._options.column_max
        if given is not None:
            template.maximum = lambda _row: given
        unknown = bool(template.students) and all(template.maximum(row) is None for row in template.students)
        if unknown and self._options.rescale:
            raise LmsError("the template does not tell the column's maximum, so points cannot be converted",
                           "give it with --max")  # fmt: skip
        if unknown and not self._new:
            template.notes.append("the template does not tell the column's maximum: with --max it is compared")

    def run(self) -> Outcome:
        matches = match(self._template, self._people, self._options)
        self._decide(matches)
        self._list_rest(matches)
        if note := _NOTES.get(self._target):
            note(self._template, self._grades, self._options)
        self._report.notes = [*self._template.notes, *self._general_notes()]
        self._report.blocked = self._blocked(matches)
        data = None if self._report.blocked else self._write()
        return Outcome(data, self._report)

    # ------------------------------------------------------------------------------------------------------- deciding
    def _decide(self, matches: Matches) -> None:
        for number, grade in enumerate(self._grades):
            if number in matches.pairs:
                row = self._template.students[matches.pairs[number]]
                decision = decide(self._template, row, grade, self._options)
                how = matches.how.get(number, "")
                entry = replace(
                    decision.entry,
                    student=self._label(grade.student),
                    who=self._who(grade.student),
                    row=self._template.row_key(row),
                    line=0 if self._new else row.line,
                    reason="; ".join(filter(None, [decision.entry.reason, how])),
                )
                self._decided[id(row)] = replace(decision, entry=entry)
                self._report.entries.append(entry)

    def _label(self, student: Identity) -> str:
        return label(self._who(student))

    def _who(self, student: Identity) -> Identity:
        """The student, without a name where rows are blind."""
        return Identity(student.id) if self._template.blind else student

    def _list_rest(self, matches: Matches) -> None:
        entries, rows = self._report.entries, self._template.students
        listed = set(matches.pairs)
        taken = set(matches.pairs.values())
        for students, ambiguous in matches.ambiguous:
            listed |= set(students)
            taken |= set(ambiguous)
            lines = ", ".join(f"line {rows[row].line}" for row in ambiguous)
            ids = ", ".join(self._people[number].id for number in students)
            where = f"{ids} and the row{'s' if len(ambiguous) > 1 else ''} at {lines} share keys"
            entries += [self._entry("ambiguous", self._people[number], where) for number in students]
        entries += self._without_grade(matches, listed)
        hints = self._zero_hints()
        refused = {grade.student: reason for grade, reason in self._refused}
        for number, grade in enumerate(self._grades):
            if number in listed:
                continue
            if grade.student in refused:
                entries.append(self._entry("refused", grade.student, refused[grade.student]))
            elif self._new and grade.state != "graded":
                entries.append(self._entry("kept", grade.student, f"{grade.state.replace('_', ' ')}: no row"))
            else:
                reason = "; ".join(filter(None, [_or_state(grade), hints.get(number, "")]))
                entries.append(self._entry("not_in_template", grade.student, reason))
        for number, row in enumerate(rows):
            if number not in taken:
                name = "" if self._template.blind else self._template.name(row)
                was = row.value(self._template.column)
                entries.append(Entry("not_in_grades", name, self._template.row_key(row), was, line=row.line))

    def _entry(self, status: Status, student: Identity, reason: str) -> Entry:
        return Entry(status, self._label(student), reason=reason, who=self._who(student))

    def _without_grade(self, matches: Matches, listed: set[int]) -> list[Entry]:
        """Those who wait for a grade, each with the row that stays as it is for them."""
        named = [(entry, entry.who) for entry in self._beside]
        entries = [replace(e, student=self._label(who), who=self._who(who)) if who else e for e, who in named]
        for number, (entry, student) in enumerate(zip(self._waiting, self._people[len(self._grades) :], strict=True)):
            place = len(self._grades) + number
            entry = replace(entry, student=self._label(student), who=self._who(student))
            if place in matches.pairs:
                row = self._template.students[matches.pairs[place]]
                was, key = row.value(self._template.column), self._template.row_key(row)
                entry = replace(entry, row=key, line=row.line, was=was)
            if place in matches.pairs or place not in listed:
                entries.append(entry)
        return entries

    def _cells(self, row: Row) -> dict[int, str]:
        """What is written in this row."""
        decision = self._decided.get(id(row))
        return decision.cells if decision else {}

    def _zero_hints(self) -> dict[int, str]:
        """For students whom digits without leading zeros would find: someone's spreadsheet has eaten the zeros."""
        if self._options.ignore_leading_zeros:
            return {}
        loose = replace(self._options, ignore_leading_zeros=True)
        how = match(self._template, [grade.student for grade in self._grades], loose).how
        hint = "a row differs in leading zeros only: save the roster as text, or use --ignore-leading-zeros"
        return {number: hint for number, reason in how.items() if "zeros" in reason}

    def _general_notes(self) -> list[str]:
        template, notes = self._template, [self._late_note()]
        if template.feedback is None and any(grade.feedback for grade in self._grades):
            notes.append("this file has no feedback column: feedback is not exported")
        if len(template.sheet.line_ends) > 1:
            notes.append("the template mixes line ends; they were kept")
        blank = [row for row in template.students if template.holds(row).kind == "blank"]
        left = sum(template.column not in self._cells(row) for row in blank)
        if template.blank_erases and left and not self._options.changed_only and not self._new:
            risk = "importing them clears a grade given since the template was downloaded"
            notes.append(
                f"{left} rows stay without a grade: {risk}; import soon, or leave them out with --changed-only"
            )
        return notes

    def _late_note(self) -> str:
        """Where the late penalty is deducted: in one place."""
        late = sum(bool(grade.late_penalty) for grade in self._grades)
        who = f"{late} student{'s' if late > 1 else ''}"
        if not late:
            return "late penalty: nobody has one here"
        if self._options.late == "leave":
            return f"late penalty: left to the LMS, this file holds the points before it ({who})"
        again = "an LMS with a late policy of its own deducts again, use --late leave then"
        return f"late penalty: deducted in this file ({who}); {again}"

    def _blocked(self, matches: Matches) -> list[str]:
        report, options = self._report, self._options
        count = report.counts
        blocked = []
        if count["ambiguous"] and not options.allow_ambiguous:
            remedy = "repair the roster or download the template again, or leave them out with --skip-ambiguous"
            blocked.append(f"{count['ambiguous']} ambiguous: {remedy}")
        if count["would_erase"]:
            blocked.append(f"{count['would_erase']} would erase what the LMS holds: allow it with --allow-erase")
        if count["out_of_range"]:
            remedy = "correct the maximum (--rescale converts), or write them as they are with --allow-out-of-range"
            blocked.append(f"{count['out_of_range']} out of range: {remedy}")
        if count["refused"] and not options.allow_refused:
            blocked.append(f"{count['refused']} refused: correct them, or leave them out with --skip-refused")
        graded = [grade for grade in self._grades if grade.state == "graded"]
        if graded and not matches.pairs and not matches.ambiguous:
            keys = ", ".join(key.title for key in self._template.keys)
            remedy = "check which of them the roster holds, or name the right column with --match 'COLUMN=FIELD'"
            blocked.append(f"no student was found in the template by {keys}: {remedy}")
        return blocked

    # -------------------------------------------------------------------------------------------------------- writing
    def _write(self) -> bytes:
        sheet = self._template.sheet
        before = sheet.to_bytes()
        if before != self._data:
            raise GraderError("the template does not survive being read; nothing was written")
        for row in self._template.students:
            for column, text in self._cells(row).items():
                sheet.write(row, column, text)
        data = sheet.to_bytes(self._rows()) if self._options.changed_only else sheet.to_bytes()
        require_readable(self._target, self._template, before, data, self._wanted())
        return data

    def _rows(self) -> list[Row]:
        """All rows but those of students for whom nothing changes."""
        drop = {id(row) for row in [*self._template.students, *self._template.ignored] if not self._cells(row)}
        return [row for row in self._template.sheet.rows if id(row) not in drop]

    def _wanted(self) -> list[Wanted]:
        """What the LMS is to read in each row of the file."""
        before = {
            id(row): number for number, row in enumerate(row for row in self._template.sheet.rows if not row.blank)
        }
        rows = self._rows() if self._options.changed_only else self._template.sheet.rows
        after = {id(row): number for number, row in enumerate(row for row in rows if not row.blank)}
        return [
            Wanted(before[id(row)], after[id(row)], self._decided.get(id(row)))
            for row in self._template.students
            if id(row) in after
        ]


def _for_a_new_file(options: Options) -> Options:
    """--column named the column of the new file; it is found again by its title."""
    return replace(options, column=None, assignment=options.column or options.assignment)


def _or_state(grade: Grade) -> str:
    return "" if grade.state == "graded" else grade.state.replace("_", " ")
