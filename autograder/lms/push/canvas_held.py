"""What Canvas holds: whether the assignment can be graded from here, who is in it, and what everybody has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

from autograder.lms.grades import Identity
from autograder.lms.numbers import exact
from autograder.lms.push.canvas_calls import Connection, NotThere
from autograder.lms.push.errors import PushError
from autograder.lms.push.held import Column, Held


class Reader:
    """Reads the assignment, the course's late policy and its students once, the submissions each time.

    `students`: whose SIS ids are looked up one by one where Canvas does not list any.
    """

    def __init__(self, canvas: Connection, students: Sequence[Identity], *, comments: bool) -> None:
        self._canvas, self._students, self._comments = canvas, students, comments
        self._column: Column | None = None
        self._users: list[Held] = []
        self._deducts = False

    def read(self) -> Column:
        if self._column is None:
            self._column = self._look_round()
        self._column.students = self._submissions()
        return self._column

    def comments(self) -> dict[str, list[str]]:
        """Of the staff, by student."""
        return {str(one.user_id): _comments(one) for one in self._list(["submission_comments"])}

    def _look_round(self) -> Column:
        """The assignment, the course's late policy and its students: read once."""
        with self._canvas.asking("see the assignment"):
            found = self._canvas.course.get_assignment(self._canvas.place.assignment)
        _require_usable(found)
        self._deducts, notes = self._late_policy()
        self._users = self._members()
        if getattr(found, "post_manually", False):
            notes.append("grades of this assignment are posted by hand: students see them when you post them in Canvas")
        full = getattr(found, "points_possible", None)
        return Column(
            title=f"{found.name} ({found.id})",
            students=[],
            maximum=None if full is None else exact(full),
            all_or_nothing=getattr(found, "grading_type", "") == "pass_fail",
            notes=notes,
        )

    def _late_policy(self) -> tuple[bool, list[str]]:
        try:
            with self._canvas.asking("see the course's late policy"):
                policy = self._canvas.course.get_late_policy()
        except NotThere:
            return False, ["Canvas has no late policy for this course"]
        deducts = bool(getattr(policy, "late_submission_deduction_enabled", False))
        which = "deducts points from late submissions" if deducts else "deducts nothing for lateness"
        return deducts, [f"the course's late policy in Canvas {which}"]

    def _members(self) -> list[Held]:
        with self._canvas.asking("list the students of the course"):
            users = list(self._canvas.course.get_users(enrollment_type=["student"], include=["email"]))
        found = {str(user.id): _member(user) for user in users}
        if not any(held.sis_id for held in found.values()):
            found |= self._by_sis_id(found)
        return list(found.values())

    def _by_sis_id(self, found: dict[str, Held]) -> dict[str, Held]:
        """Where the list has no SIS ids, because the token may not see them, each is looked up by itself."""
        known = {held.login.casefold() for held in found.values()} | {held.email.casefold() for held in found.values()}
        looked: dict[str, Held] = {}
        for student in self._students:
            ours = {student.login.casefold(), student.email.casefold()} - {""}
            if not student.sis_id or student.canvas_id in found or ours & known:
                continue
            try:
                with self._canvas.asking("find students by SIS id"):
                    user = self._canvas.course.get_user(student.sis_id, "sis_user_id")
            except NotThere:
                continue
            if str(user.id) in found:
                looked[str(user.id)] = _member(user, sis_id=student.sis_id)
        return looked

    def _submissions(self) -> list[Held]:
        given = {str(one.user_id): one for one in self._list(["submission_comments"] if self._comments else [])}
        return [_holding(user, given.get(user.key), deducts=self._deducts) for user in self._users]

    def _list(self, include: list[str]) -> list[Any]:
        with self._canvas.asking("see the submissions"):
            return list(self._canvas.assignment.get_submissions(include=["visibility", *include]))


def _require_usable(found: Any) -> None:
    """Raises PushError for an assignment in which grades of this kind would go astray."""
    problems = [
        (not getattr(found, "published", True), "is not published", "publish it"),
        (getattr(found, "grading_type", "") == "not_graded", "is not graded", "change how it is graded"),
        (
            getattr(found, "group_category_id", None)
            and not getattr(found, "grade_group_students_individually", False),
            "gives one grade to a whole group, the last one sent",
            "let it assign grades to each student individually",
        ),
        (
            getattr(found, "anonymize_students", False),
            "hides who is who until its grades are posted",
            "post them, or end anonymous grading",
        ),
        (
            getattr(found, "moderated_grading", False) and not getattr(found, "grades_published", False),
            "is in moderation: what is sent would be provisional",
            "publish the moderated grades first",
        ),
    ]
    for applies, fact, remedy in problems:
        if applies:
            raise PushError(f"the assignment {found.name!r} {fact}", f"{remedy} in Canvas")


def _member(user: Any, *, sis_id: str = "") -> Held:
    def text(name: str) -> str:
        value = getattr(user, name, None)
        return "" if value is None else str(value)

    return Held(str(user.id), text("name"), sis_id=sis_id or text("sis_user_id"), login=text("login_id"),
                email=text("email"))  # fmt: skip


def _holding(user: Held, submission: Any, *, deducts: bool) -> Held:
    if submission is None or getattr(submission, "assignment_visible", True) is False:
        return replace(user, state="not_assigned")
    score, taken = getattr(submission, "score", None), getattr(submission, "points_deducted", None)
    state: Literal["excused", "blank", "graded"] = "blank" if score is None else "graded"
    return replace(
        user,
        state="excused" if getattr(submission, "excused", False) else state,
        score=None if score is None else exact(score),
        deducted=None if taken is None or score is None else exact(taken),
        late=deducts and bool(getattr(submission, "late", False)),
        comments=tuple(_comments(submission)),
    )


def _comments(submission: Any) -> list[str]:
    """Of everybody but the student, who could otherwise write one that looks like ours."""
    given = getattr(submission, "submission_comments", None) or []
    return [str(one.get("comment", "")) for one in given if one.get("author_id") != submission.user_id]
