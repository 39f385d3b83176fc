"""A Canvas of one course and one assignment, as far as its REST API describes what a push uses.

Canvas LMS REST API: Submissions https://developerdocs.instructure.com/services/canvas/resources/submissions,
Progress https://developerdocs.instructure.com/services/canvas/resources/progress, Pagination
https://developerdocs.instructure.com/services/canvas/basics/file.pagination
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl

from push_server import Reply, Request, Server

TOKEN = "7~canvas-token-of-a-test"
GRADER = 9
_POINTS = re.compile(r"[+-]?\d+(\.\d+)?")


@dataclass
class Student:
    id: int
    name: str
    sis: str = ""
    login: str = ""
    score: float | None = None
    """As it counts."""
    deducted: float | None = None
    excused: bool = False
    late: bool = False
    assigned: bool = True
    comments: list[dict[str, Any]] = field(default_factory=list)
    posted: list[str] = field(default_factory=list)
    """Every grade that was ever posted for them, in order."""

    def texts(self) -> list[str]:
        return [comment["comment"] for comment in self.comments]


@dataclass
class Job:
    id: int
    data: dict[str, dict[str, str]]
    waits: int
    """Requests until it runs."""
    state: str = "queued"
    message: str | None = None


class Canvas(Server):
    def __init__(self, *students: Student, points: float = 10.0) -> None:
        super().__init__()
        self.students = {one.id: one for one in students}
        self.assignment: dict[str, Any] = {
            "id": 2, "course_id": 1, "name": "Tiles", "points_possible": points, "grading_type": "points",
            "published": True, "post_manually": False,
        }  # fmt: skip
        self.late_policy: dict[str, Any] | None = None
        self.page_size = 2
        self.job_waits = 1
        self.slow_jobs: dict[int, int] = {}
        """Number of a job to how many requests it waits for instead."""
        self.dies_after: list[int] = []
        """For each of the next jobs: after how many students it fails."""
        self.ignores: set[int] = set()
        """Students whose grades Canvas silently does not change (a closed grading period)."""
        self.leaves: int | None = None
        """Who is taken out of the assignment when grades come in."""
        self.shows_sis = True
        self.jobs: dict[int, Job] = {}

    def handle(self, request: Request) -> Reply:
        if request.headers.get("Authorization") != f"Bearer {TOKEN}":
            return Reply(401, {"errors": [{"message": "Invalid access token."}]}, {"WWW-Authenticate": "Bearer"})
        self._run_jobs()
        reply = self._route(request)
        reply.headers.setdefault("X-Rate-Limit-Remaining", "600.0")
        return reply

    def _route(self, request: Request) -> Reply:
        path = request.path.removeprefix("/api/v1/")
        if path == "courses/1/assignments/2":
            return Reply(200, self.assignment)
        if path == "courses/1/late_policy":
            return Reply(200, {"late_policy": self.late_policy}) if self.late_policy else _nothing()
        if path == "courses/1/search_users":
            return self.page(request, [self._user(one) for one in self.students.values()], self.page_size)
        if path.startswith("courses/1/users/sis_user_id:"):
            found = [one for one in self.students.values() if one.sis == path.rpartition(":")[2]]
            return Reply(200, self._user(found[0])) if found else _nothing()
        if path == "courses/1/assignments/2/submissions":
            shown = [self._submission(one, request) for one in self.students.values() if one.assigned]
            return self.page(request, shown, self.page_size)
        if path == "courses/1/assignments/2/submissions/update_grades":
            return self._update(request)
        if path.startswith("progress/"):
            job = self.jobs.get(int(path.rpartition("/")[2]))
            return Reply(200, _progress(job)) if job else _nothing()
        return _nothing()

    def _user(self, one: Student) -> dict[str, Any]:
        user = {"id": one.id, "name": one.name, "login_id": one.login or None}
        return {**user, "sis_user_id": one.sis or None} if self.shows_sis else user

    def _submission(self, one: Student, request: Request) -> dict[str, Any]:
        shown = {
            "id": one.id * 10, "user_id": one.id, "assignment_id": 2, "score": one.score, "excused": one.excused,
            "late": one.late, "points_deducted": one.deducted, "assignment_visible": True,
            "submitted_at": "2026-10-01T10:00:00Z", "workflow_state": "graded",
        }  # fmt: skip
        if "submission_comments" in request.args("include[]"):
            shown["submission_comments"] = one.comments
        return shown

    def _update(self, request: Request) -> Reply:
        data: dict[str, dict[str, str]] = {}
        for key, value in parse_qsl(request.body.decode(), keep_blank_values=True):
            found = re.fullmatch(r"grade_data\[([^\]]+)\]\[([^\]]+)\]", key)
            assert found, key
            data.setdefault(found[1], {})[found[2]] = value
        if self.leaves is not None:
            self.students[self.leaves].assigned = False
        if not data:
            return Reply(400, {"error": "'grade_data' parameter required"})
        number = len(self.jobs) + 1
        job = Job(number, data, self.slow_jobs.get(number, self.job_waits))
        self.jobs[job.id] = job
        return Reply(200, _progress(job))

    def _run_jobs(self) -> None:
        """Jobs of a course run one after the other."""
        for job in self.jobs.values():
            if job.state == "queued":
                if job.waits > 0:
                    job.waits -= 1
                else:
                    self._run(job)
                return

    def _run(self, job: Job) -> None:
        dies = self.dies_after.pop(0) if self.dies_after else None
        unknown = []
        for number, (key, given) in enumerate(job.data.items()):
            if number == dies:
                job.state, job.message = "failed", "unexpected error, ID: 4711"
                return
            one = self.students.get(int(key)) if key.isdecimal() else None
            if one is None or not one.assigned:
                unknown.append(key)
            else:
                self._grade(one, given)
        job.state = "failed" if unknown else "completed"
        if unknown:
            job.message = f"Couldn't find User(s) with API ids {', '.join(repr(key) for key in unknown)}"

    def _grade(self, one: Student, given: dict[str, str]) -> None:
        if given.get("excuse") == "true" and one.id not in self.ignores:
            one.excused, one.score = True, None
        if "posted_grade" in given:
            one.posted.append(given["posted_grade"])
            if one.id not in self.ignores:
                self._score(one, given["posted_grade"])
        if given.get("text_comment"):
            comment = {"id": len(one.comments) + 1, "author_id": GRADER, "comment": given["text_comment"]}
            one.comments.append(comment)

    def _score(self, one: Student, text: str) -> None:
        """Canvas takes digits with a point; anything else is no score."""
        one.excused, one.deducted = False, None
        one.score = float(text) if _POINTS.fullmatch(text) else None
        policy = self.late_policy or {}
        if one.late and one.score is not None and policy.get("late_submission_deduction_enabled"):
            one.deducted = min(
                one.score, policy["late_submission_deduction"] / 100 * self.assignment["points_possible"]
            )
            one.score -= one.deducted


def _progress(job: Job) -> dict[str, Any]:
    return {
        "id": job.id,
        "workflow_state": job.state,
        "message": job.message,
        "completion": None,
        "tag": "submissions_update",
    }


def _nothing() -> Reply:
    return Reply(404, {"errors": [{"message": "The specified resource does not exist."}]})
