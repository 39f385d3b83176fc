"""One student, one row: what happens to the cells. Missing, zero, excused and not assigned all differ."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Literal

from autograder.lms import numbers
from autograder.lms.feedback import for_cell
from autograder.lms.grades import Grade
from autograder.lms.options import Options
from autograder.lms.rawcsv import CannotEncode, Row, encode
from autograder.lms.reconciliation import Entry, Status
from autograder.lms.template import Existing, Template


@dataclass(frozen=True)
class Decision:
    """`cells` is empty unless something is written; `value` and `feedback` are what the LMS is to read then."""

    entry: Entry
    cells: dict[int, str] = field(default_factory=dict)
    value: Decimal | Literal["excused"] | None = None
    feedback: str | None = None


def decide(template: Template, row: Row, grade: Grade, options: Options) -> Decision:
    """Never raises for a value: what cannot be written is a decision too."""
    held = template.holds(row)
    was = row.value(template.column)
    if (
        template.state is not None
        and grade.state != "graded"
        and not (grade.state == "missing" and options.missing_as_zero)
    ):
        return _say_state(template.state, row, grade, held, was)
    problem = _not_written(template, row, grade, held, options)
    if problem is not None:
        return Decision(replace(problem, was=was))
    if grade.state == "excused":
        return _excuse(template, row, grade, held, options)
    return _score(template, row, grade, held, options)


def _say_state(column: int, row: Row, grade: Grade, held: Existing, was: str) -> Decision:
    """In a table with a column for it, the state is written out and the score stays empty."""
    state = grade.state.replace("_", " ")
    if held.kind != "blank":
        return Decision(Entry("kept", "", was=was, reason=f"{state}; the template holds a grade, which stays"))
    if row.value(column).strip() == grade.state:
        return Decision(Entry("unchanged", "", was=was, reason=state))
    value: Literal["excused"] | None = "excused" if grade.state == "excused" else None
    return Decision(Entry("written", "", was=was, becomes=grade.state), {column: grade.state}, value)


def _entry(status: Status, reason: str = "", becomes: str = "") -> Entry:
    return Entry(status, "", becomes=becomes, reason=reason)


def _not_written(template: Template, row: Row, grade: Grade, held: Existing, options: Options) -> Entry | None:
    """Why the row stays as it is whatever the score."""
    as_zero = options.missing_as_zero and not template.missing_is_zero
    writes = grade.state in ("graded", "excused") or (grade.state == "missing" and as_zero)
    if not writes:
        state = grade.state.replace("_", " ")
        holds = "" if held.kind in ("blank", "not_assigned") else "; the LMS holds a grade, which stays"
        return _entry("kept", state + holds)
    if reason := template.locked(row):
        return _entry("skipped", reason)
    if held.kind == "not_assigned":
        return _entry("skipped", "not assigned to this student in the LMS, which would not take a grade")
    if held.kind == "word":
        return _entry("refused", "the column holds words: it is no item with points")
    if grade.state == "excused" and template.excused is None:
        return _entry("skipped", template.no_excuse)
    return None


def _excuse(template: Template, row: Row, grade: Grade, held: Existing, options: Options) -> Decision:
    was, text = row.value(template.column), template.excused or ""
    if held.kind == "excused":
        return Decision(replace(_entry("unchanged"), was=was))
    entry = replace(_entry("written", becomes=text), was=was)
    if held.kind != "blank" and not options.allow_erase:
        return Decision(replace(entry, status="would_erase", reason="excused here, but the LMS holds a grade"))
    return Decision(entry, {template.column: text}, "excused")


def _score(template: Template, row: Row, grade: Grade, held: Existing, options: Options) -> Decision:
    was = row.value(template.column)
    exact, status, reason = _points(template, row, grade, options)
    if status is not None:
        becomes = "" if exact is None or not exact.is_finite() else numbers.spelled(exact, template.sign)
        return Decision(replace(_entry(status, reason, becomes), was=was))
    assert exact is not None
    value = numbers.rounded(exact, template.decimals if options.decimals is None else options.decimals)
    if unfit := template.unfit(row, grade, value):
        return Decision(replace(_entry("refused", unfit, numbers.spelled(value, template.sign)), was=was))
    cells = _score_cells(template, row, grade, held, value)
    entry = replace(_entry("written" if cells else "unchanged", becomes=numbers.spelled(value, template.sign)), was=was)
    entry = replace(entry, rounded=value != exact, reason=f"from {_short(exact)}" if value != exact else "")
    if cells and not options.allow_erase and (loss := _loss(grade, held, value)):
        return Decision(replace(entry, status="would_erase", reason=loss))
    return _with_feedback(template, row, grade, options, Decision(entry, cells, value))


def _points(template: Template, row: Row, grade: Grade, options: Options) -> tuple[Decimal | None, Status | None, str]:
    """The exact points for this column, or the status and reason that stop them."""
    full = template.maximum(row)
    if grade.score is None:  # missing, to be written as zero
        return Decimal(0), None, ""
    if not grade.score.is_finite() or (grade.max_score is not None and not grade.max_score.is_finite()):
        return None, "refused", f"{grade.score} out of {grade.max_score} is no grade"
    penalty = (grade.late_penalty or Decimal(0)) if options.late == "deduct" else Decimal(0)
    if grade.score < 0 and not options.allow_out_of_range:
        return grade.score, "out_of_range", "below 0"
    points = max(Decimal(0), grade.score - penalty) if penalty else grade.score
    if options.rescale and full is not None and grade.max_score:
        points = points * full / grade.max_score
    elif (
        full is not None and grade.max_score is not None and full != grade.max_score and not options.allow_out_of_range
    ):
        return (
            points,
            "out_of_range",
            f"out of {numbers.spelled(grade.max_score)} here, out of {numbers.spelled(full)} there",
        )
    limit = full if full is not None else grade.max_score
    if limit is not None and points > limit and not options.allow_out_of_range:
        return points, "out_of_range", f"above {numbers.spelled(limit)}"
    return points, None, ""


def _score_cells(template: Template, row: Row, grade: Grade, held: Existing, value: Decimal) -> dict[int, str]:
    """The cells that change. A cell that says this number already keeps its spelling."""
    cells = {}
    if held.kind != "number" or held.value is None or numbers.rounded(held.value, _digits(value)) != value:
        cells[template.column] = numbers.spelled(value, template.sign)
    for column, text in template.companions(row, grade, value).items():
        old = row.value(column)
        if old != text and (numbers.parse(old) is None or numbers.parse(old) != numbers.parse(text)):
            cells[column] = text
    return cells


def _short(value: Decimal) -> str:
    text = f"{value:f}"
    return text if len(text) <= 14 else f"{text[:12]}..."


def _digits(value: Decimal) -> int:
    exponent = value.as_tuple().exponent
    return -exponent if isinstance(exponent, int) else 0


def _loss(grade: Grade, held: Existing, value: Decimal) -> str:
    if held.kind == "excused":
        return "the student is excused in the LMS"
    if held.kind == "text":
        return "the LMS holds a text here, not a number"
    if grade.state == "missing" and held.kind == "number" and held.value != value:
        return "nothing was handed in here, but the LMS holds a grade"
    return ""


def _told(grade: Grade, options: Options) -> str:
    """The feedback, with the late penalty where this file deducts it: else its points are not those of the cell."""
    text = grade.feedback or ""
    late = grade.late_penalty if grade.state == "graded" and options.late == "deduct" else None
    return f"{text}; {numbers.spelled(late)} off for lateness" if text and late else text


def _with_feedback(template: Template, row: Row, grade: Grade, options: Options, decision: Decision) -> Decision:
    column = template.feedback
    if column is None or grade.feedback is None or not options.feedback:
        return decision
    text = for_cell(_told(grade, options), php=template.php, formulas=template.escape_formulas)
    old = row.value(column)
    if text == old.replace("\r\n", "\n"):
        return decision
    if not text.strip() and not options.allow_erase:
        entry = replace(decision.entry, status="would_erase", reason="an empty feedback would erase the LMS's text")
        return Decision(entry)
    try:
        encode(text, template.sheet.dialect)
        text.encode(template.sheet.encoding)
    except (CannotEncode, UnicodeEncodeError) as error:
        return Decision(replace(decision.entry, status="refused", reason=f"feedback: {error}"))
    said = "replaces the LMS's feedback" if old.strip() else "feedback"
    reason = "; ".join(filter(None, [decision.entry.reason, said]))
    entry = replace(decision.entry, status="written", reason=reason, feedback=True)
    return Decision(entry, {**decision.cells, column: text}, decision.value, text)
