"""Whatever grades come in: the other cells stay, and what the LMS reads is exactly what was meant."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from decimal import Decimal

from hypothesis import given, settings
from hypothesis import strategies as st
from test_lms_samples import AMA, CLASS, VARIANTS

from autograder.lms import Grade, Options, export
from autograder.lms.readers import canvas as read_canvas
from autograder.lms.readers import nbgrader as read_nbgrader
from autograder.lms.readers import plain as read_plain

text = st.text(alphabet=st.sampled_from("aé ,;\t\"\\\r\n=-'ש\u2028\x85\x00#|"), max_size=15)
points = st.decimals(0, 10, places=4) | st.sampled_from(
    [Decimal("1E-9"), Decimal("1E+1"), Decimal("3.0000000000000004")]
)


@st.composite
def classes(draw: st.DrawFn) -> list[Grade]:
    grades = []
    for student in draw(st.lists(st.sampled_from(CLASS), unique=True)):
        state = draw(st.sampled_from(["graded", "graded", "missing", "excused", "not_assigned"]))
        score = draw(points) if state == "graded" else None
        said = draw(st.none() | text) if state == "graded" else None
        late = draw(st.none() | st.decimals(0, 3, places=2)) if state == "graded" else None
        grades.append(Grade(student, state, score, Decimal(10), said, late, "2026-09-14 10:00:00"))  # type: ignore[arg-type]
    return grades


@settings(max_examples=80, deadline=None)
@given(st.sampled_from(sorted(VARIANTS)), classes(), st.booleans(), st.booleans(), st.booleans())
def test_every_export_is_read_back_or_refused(
    name: str, grades: list[Grade], zero: bool, erase: bool, only: bool
) -> None:
    """The export itself reads its file back with the independent reader and raises if anything is not as meant."""
    target, data, options = VARIANTS[name]
    outcome = export(target, data, grades, replace(options, missing_as_zero=zero, allow_erase=erase, changed_only=only))
    report = outcome.reconciliation
    assert (outcome.data is None) == bool(report.blocked)
    assert len([e for e in report.entries if e.status != "not_in_grades"]) == len(grades)
    if outcome.data is not None and not only:
        again = export(target, outcome.data, grades, replace(options, missing_as_zero=zero, allow_erase=erase))
        assert again.data == outcome.data
        assert not again.reconciliation.of("written")


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(["moodle", "brightspace", "gradescope", "nbgrader", "csv"]), classes(), text)
def test_every_new_file_too(target: str, grades: list[Grade], name: str) -> None:
    if not any(grade.state == "graded" for grade in grades):
        return
    grades = [replace(grade, student=replace(grade.student, given=name)) for grade in grades]
    outcome = export(target, None, grades, Options(assignment="lab1", allow_refused=True))  # type: ignore[arg-type]
    if outcome.data is None:
        assert all("no student was found" in reason or "erase" in reason for reason in outcome.reconciliation.blocked)
        return
    kept = [
        g for g in grades if g.student.id not in {e.student.split()[0] for e in outcome.reconciliation.of("refused")}
    ]
    expected = {
        g.student.id: max(Decimal(0), g.score - (g.late_penalty or 0)).quantize(Decimal("1e-6"))
        for g in kept
        if g.score is not None
    }
    if target == "csv":
        assert {s.key: s.score for s in read_plain.read(outcome.data) if s.kind == "score"} == expected
    if target == "nbgrader":
        seen = {s.key.removeprefix("lab1/"): s.score for s in read_nbgrader.read(outcome.data) if s.kind == "score"}
        assert seen == expected


@settings(max_examples=60, deadline=None)
@given(st.text(alphabet=st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=12), points)
def test_names_of_every_script_stay_in_canvas(name: str, score: Decimal) -> None:
    out = io.StringIO()
    title = f"{name} (551)"
    rows = [["Student", "ID", "SIS User ID", "SIS Login ID", "Section", title], [name, "910001", "00451", "x", "", ""]]
    csv.writer(out, lineterminator="\n").writerows(rows)
    if (
        any(word in title for word in ("Current", "Final", "Override"))
        or "Points Possible" in name
        or "read only" in name
    ):
        return
    outcome = export(
        "canvas", out.getvalue().encode(), [Grade(AMA, "graded", score, Decimal(10))], Options(column="551")
    )
    assert outcome.data is not None
    (seen,) = read_canvas.read(outcome.data, title)
    assert seen.score == score.quantize(Decimal("0.01"), rounding="ROUND_HALF_UP")
    assert outcome.data.startswith(out.getvalue().encode()[:-1])
