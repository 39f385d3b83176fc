"""Writing what was planned: files first, then nbgrader's gradebook, student by student; repeating it is harmless."""

from __future__ import annotations

from typing import Any

from autograder.errors import UsageError
from autograder.manifest import Assignment
from autograder.nbgrader_bridge.cells import is_ours
from autograder.nbgrader_bridge.plan import Change, Plan


def write(assignment: Assignment, gradebook: Any, plan: Plan) -> dict[str, str]:
    """Returns what was odd about a student's notebook. Raises UsageError when a file cannot be written.

    Points that people gave stay as they are. Whoever has handed in again gets the answers of the notebook back on the
    list of what people must grade, as after `nbgrader autograde`.
    """
    odd = {}
    for change in plan.changes:
        if change.is_new_student:
            _add_student(gradebook, change)
        try:
            problem = change.shelf.fill(gradebook, change.marks.outputs, anew=change.anew, module=assignment.module)
        except OSError as error:
            fact = f"{error.filename or change.shelf.folder} cannot be written: {error.strerror}"
            raise UsageError(fact, "correct that and repeat; students before this one are complete") from None
        if problem:
            odd[change.student] = problem
        _enter(gradebook, plan, change)
    return odd


def _add_student(gradebook: Any, change: Change) -> None:
    names = {}
    if change.identity is not None:
        found = {"first_name": change.identity.given, "last_name": change.identity.family}
        found |= {"email": change.identity.email}
        if not (change.identity.given or change.identity.family):
            found["last_name"] = change.identity.name
        names = {name: text for name, text in found.items() if text}
    gradebook.update_or_create_student(change.student, **names)


def _enter(gradebook: Any, plan: Plan, change: Change) -> None:
    id = plan.assignment
    submission = gradebook.update_or_create_submission(id, change.student, timestamp=change.timestamp)
    if change.again:
        for notebook in submission.notebooks:
            for grade in notebook.grades:
                if not is_ours(grade.name):
                    grade.auto_score, grade.needs_manual_grade = None, True
    for name, points in change.points.items():
        grade = gradebook.find_grade(name, plan.notebook, id, change.student)
        grade.auto_score = points
        grade.needs_manual_grade = grade.manual_score is not None
    for name, text in change.comments.items():
        gradebook.find_comment(name, plan.notebook, id, change.student).auto_comment = text
    gradebook.db.commit()
