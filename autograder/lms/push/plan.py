"""What a push would do to every student, decided by the rules of the export, and what it would send for that."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Literal

from autograder.lms import numbers
from autograder.lms.decide import Decision, decide
from autograder.lms.grades import Grade, Identity
from autograder.lms.matching import Matches, match
from autograder.lms.options import Options
from autograder.lms.push.held import Column, Held, as_template, cell_of
from autograder.lms.rawcsv import Row
from autograder.lms.reconciliation import Entry, Reconciliation, Status
from autograder.lms.records import Collected, label
from autograder.lms.template import Template


@dataclass(frozen=True)
class Send:
    """What goes out for one student."""

    key: str
    """The LMS's number of the user."""
    student: str
    """For messages."""
    value: Decimal | Literal["excused"] | None = None
    """None: the grade stands, only the comment goes out."""
    comment: str = ""
    submitted: str = ""
    """Time of the hand-in, `YYYY-MM-DD HH:MM:SS` UTC, where it is known."""

    @property
    def mark(self) -> str:
        return self.comment.rpartition(" ")[2].rstrip("]") if self.comment else ""

    def left(self, held: Held | None, plan: Plan) -> Send | None:
        """What of this the LMS does not have yet; None when it has everything."""
        if held is None:
            return self
        value = None if self._has(held, plan.late) else self.value
        arrived = held.mark(plan.assignment) == self.mark if plan.shows_comments else value is None
        comment = "" if arrived else self.comment
        return replace(self, value=value, comment=comment) if value is not None or comment else None

    def _has(self, held: Held, late: Literal["deduct", "leave"]) -> bool:
        if self.value is None or self.value == "excused":
            return self.value is None or held.state == "excused"
        got = numbers.parse(cell_of(held, late)) if held.state == "graded" else None
        exponent = self.value.as_tuple().exponent
        digits = max(0, -exponent) if isinstance(exponent, int) else 0
        return got is not None and numbers.rounded(got, digits) == self.value


@dataclass(frozen=True)
class Plan:
    report: Reconciliation
    sends: tuple[Send, ...]
    assignment: str
    late: Literal["deduct", "leave"]
    shows_comments: bool
    """Whether the LMS tells which comments it has. Where it does not, one goes out only together with a grade."""


def signed(text: str, assignment: str) -> str:
    """The comment with a line by which a later push knows it again, however the LMS formats the text."""
    digest = hashlib.sha256(f"{assignment}\0{text}".encode()).hexdigest()[:12]
    return f"{text}\n\n[autograder {assignment} {digest}]"


def make_plan(target: str, column: Column, collected: Collected, options: Options) -> Plan:
    """Whoever has no grade yet (`collected.no_grades`) gets nothing and is listed."""
    return _Planner(target, column, collected, options).plan()


class _Planner:
    def __init__(self, target: str, column: Column, collected: Collected, options: Options) -> None:
        self._column, self._grades, self._options = column, collected.grades, options
        have = {grade.student.id for grade in self._grades}
        self._waiting = [one for one in collected.no_grades if one.who is not None and one.who.id not in have]
        self._beside = [one for one in collected.no_grades if one not in self._waiting]
        self._people = [*(grade.student for grade in self._grades), *(one.who for one in self._waiting if one.who)]
        if options.column_max is not None:
            column.maximum = options.column_max
        self._template: Template = as_template(column, options.late)
        self._report = Reconciliation(target, column.title, notes=list(column.notes))
        self._sends: list[Send] = []

    def plan(self) -> Plan:
        matches = self._match()
        rows = self._template.students
        for number, grade in enumerate(self._grades):
            if number in matches.pairs:
                place = matches.pairs[number]
                self._one(grade, rows[place], self._column.students[place], matches.how.get(number, ""))
        self._list_rest(matches)
        self._report.notes += self._late_notes()
        self._report.blocked = self._blocked(matches)
        options = self._options
        return Plan(self._report, tuple(self._sends), options.assignment, options.late, self._column.shows_comments)

    def _match(self) -> Matches:
        if not self._template.students:
            return Matches()
        return match(self._template, self._people, self._options)

    def _one(self, grade: Grade, row: Row, held: Held, how: str) -> None:
        decision = decide(self._template, row, grade, self._options)
        writes = bool(decision.cells)
        comment = self._comment(grade, held, decision)
        entry = replace(
            decision.entry,
            student=label(grade.student),
            who=grade.student,
            row=held.key,
            status="written" if comment and decision.entry.status == "unchanged" else decision.entry.status,
            reason="; ".join(filter(None, [decision.entry.reason, self._late(grade, held, decision), how,
                                           "comment" if comment else ""])),
            feedback=bool(comment),
        )  # fmt: skip
        self._report.entries.append(entry)
        if writes or comment:
            value = decision.value if writes else None
            self._sends.append(Send(held.key, label(grade.student), value, comment, grade.submitted))

    def _comment(self, grade: Grade, held: Held, decision: Decision) -> str:
        """Signed, and empty when there is none, or the LMS has it."""
        taken = decision.entry.status == "written" or (
            self._column.shows_comments and decision.entry.status == "unchanged"
        )
        if not (self._options.feedback and grade.feedback and grade.feedback.strip() and taken):
            return ""
        if not self._column.shows_comments:
            return grade.feedback.strip()
        text = signed(grade.feedback.strip(), self._options.assignment)
        return text if Send("", "", comment=text).mark != held.mark(self._options.assignment) else ""

    def _late(self, grade: Grade, held: Held, decision: Decision) -> str:
        """Who deducts what for lateness: said wherever a score is concerned."""
        if decision.entry.status not in ("written", "unchanged") or grade.state != "graded":
            return ""
        if self._options.late == "deduct":
            penalty = numbers.spelled(grade.late_penalty) if grade.late_penalty else ""
            return f"late: {penalty} deducted here" if penalty else ""
        if held.late or held.deducted:
            return "late: the LMS deducts"
        return "late: left to the LMS, which does not deduct" if grade.late_penalty else ""

    def _late_notes(self) -> list[str]:
        """Where late penalties are deducted: in one place."""
        late = sum(bool(grade.late_penalty) for grade in self._grades)
        if self._options.late == "leave":
            return ["late penalty: left to the LMS's late policy; what is sent is the score before it"]
        if not late:
            return ["late penalty: nobody has one here"]
        notes = [f"late penalty: deducted here ({late} student{'' if late == 1 else 's'})"]
        if not self._column.tells_policy:
            notes.append("this interface does not tell whether the LMS has a late policy, which would deduct again: "
                         "use --late leave then")  # fmt: skip
        return notes

    def _list_rest(self, matches: Matches) -> None:
        entries, held = self._report.entries, self._column.students
        listed, taken = set(matches.pairs), set(matches.pairs.values())
        for students, places in matches.ambiguous:
            listed |= set(students)
            taken |= set(places)
            ids = ", ".join(self._people[number].id for number in students)
            reason = f"{ids} and the LMS's {', '.join(held[place].key for place in places)} share keys"
            entries += [_entry("ambiguous", self._people[number], reason) for number in students]
        entries += self._without_grade(matches, listed)
        for number, grade in enumerate(self._grades):
            if number not in listed:
                state = "" if grade.state == "graded" else grade.state.replace("_", " ")
                entries.append(_entry("not_in_template", grade.student, state))
        for place, one in enumerate(held):
            if place not in taken:
                was = cell_of(one, self._options.late)
                entries.append(Entry("not_in_grades", one.name, one.key, was))

    def _without_grade(self, matches: Matches, listed: set[int]) -> list[Entry]:
        """Those who wait for a grade, with what the LMS has of them, which stays."""
        entries = list(self._beside)
        for place, entry in enumerate(self._waiting, len(self._grades)):
            if place in matches.pairs:
                held = self._column.students[matches.pairs[place]]
                entries.append(replace(entry, row=held.key, was=cell_of(held, self._options.late)))
            elif place not in listed:
                entries.append(entry)
        return entries

    def _blocked(self, matches: Matches) -> list[str]:
        count, options = self._report.counts, self._options
        reasons = [
            (count["ambiguous"] and not options.allow_ambiguous, f"{count['ambiguous']} ambiguous: repair the roster, "
             "or leave them out with --skip-ambiguous"),
            (count["would_erase"], f"{count['would_erase']} would erase what the LMS holds: allow it with "
             "--allow-erase"),
            (count["out_of_range"], f"{count['out_of_range']} out of range: correct the maximum (--rescale converts), "
             "or send them as they are with --allow-out-of-range"),
            (count["refused"] and not options.allow_refused, f"{count['refused']} refused: correct them, or leave them "
             "out with --skip-refused"),
            (self._nobody(matches), "no student was found in the LMS: check the roster's keys and the course"),
        ]  # fmt: skip
        return [text for applies, text in reasons if applies]

    def _nobody(self, matches: Matches) -> bool:
        graded = any(grade.state == "graded" for grade in self._grades)
        return graded and not matches.pairs and not matches.ambiguous


def _entry(status: Status, student: Identity, reason: str) -> Entry:
    return Entry(status, label(student), reason=reason, who=student)
