"""Canvas through its REST API: batches of grades, how those ended, and what must not be sent twice.

Canvas LMS REST API: Submissions https://developerdocs.instructure.com/services/canvas/resources/submissions,
Courses (users) https://developerdocs.instructure.com/services/canvas/resources/courses, Progress
https://developerdocs.instructure.com/services/canvas/resources/progress, Late Policy
https://developerdocs.instructure.com/services/canvas/resources/late_policy.
"""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from typing import Any

from autograder.lms import numbers
from autograder.lms.grades import Identity
from autograder.lms.push.canvas_calls import Connection, Lost, NotThere
from autograder.lms.push.canvas_held import Reader
from autograder.lms.push.deliver import Answer
from autograder.lms.push.errors import PushError, Unanswered, Unfinished
from autograder.lms.push.held import Column
from autograder.lms.push.journal import Batch, Journal
from autograder.lms.push.patience import Patience
from autograder.lms.push.plan import Send

_IDS = re.compile(r"'([^'\s]+)'")
"""Of students, in "Couldn't find User(s) with API ids '12', '13'"."""


class Canvas:
    """One assignment, as a target of a push. `batch`: how many students go into one job."""

    def __init__(
        self,
        canvas: Connection,
        patience: Patience,
        journal: Journal,
        students: Sequence[Identity],
        *,
        comments: bool = False,
        batch: int = 100,
    ) -> None:
        self._canvas, self._patience, self._journal, self._size = canvas, patience, journal, batch
        self._reader = Reader(canvas, students, comments=comments)

    def read(self) -> Column:
        return self._reader.read()

    def settle(self) -> None:
        """Wait for batches of an earlier push that was stopped. Raises Unfinished when Canvas takes too long."""
        for batch in list(self._journal.open):
            self._patience.say("an earlier push was stopped: waiting until Canvas is done with it")
            if batch.progress is None:
                self._wait_for_lost(batch)
            else:
                try:
                    self._wait_for(self._canvas.progress(batch.progress))
                except NotThere:  # Canvas keeps the record of a job for a month
                    self._patience.say("Canvas does not remember that batch any more")
            self._journal.end(batch)

    def send(self, sends: Sequence[Send]) -> Answer:
        answer = Answer()
        for start in range(0, len(sends), self._size):
            part = sends[start : start + self._size]
            try:
                self._send_batch(part, answer)
            except PushError as error:
                answer.denied |= {send.key: str(error) for send in sends[start:]}
                break
        return answer

    def _send_batch(self, sends: Sequence[Send], answer: Answer) -> None:
        batch = self._journal.begin({send.key: send.mark for send in sends if send.comment})
        try:
            progress = self._hand_over(sends)
        except Unanswered:
            if batch.comments:
                self._patience.say("the connection broke: waiting whether the batch reached Canvas, so that no comment "
                                   "is repeated")  # fmt: skip
                self._wait_for_lost(batch)
            answer.again |= {send.key: "the connection broke each time" for send in sends}
            self._journal.end(batch)
            return
        except PushError:
            self._journal.end(batch)  # turned away as a whole: nothing is going on
            raise
        batch.progress = progress.id
        self._journal.save()
        failed = self._wait_for(progress)
        self._journal.end(batch)
        if failed is None:
            return
        unknown = set(_IDS.findall(failed))
        for send in sends:  # a job that failed may still have graded everybody but those it names
            if send.key in unknown:
                answer.denied[send.key] = "Canvas does not know this student in the assignment"
            else:
                answer.again[send.key] = f"the batch failed: {self._canvas.clean(failed)}"

    def _hand_over(self, sends: Sequence[Send]) -> Any:
        """The Progress of the new job. Raises Unanswered when it is not known whether there is one."""
        data = {send.key: _fields(send) for send in sends}
        try:
            with self._canvas.asking("change grades"):
                return self._canvas.assignment.submissions_bulk_update(grade_data=data)
        except Lost:
            raise Unanswered from None

    def _wait_for(self, progress: Any) -> str | None:
        """None when the job is done, its message when it failed. Raises Unfinished when it takes longer than it may."""
        until, pause = time.monotonic() + self._patience.job, 0.1
        while True:
            with self._canvas.asking("see how the batch is getting on"):
                progress = progress.query()
            if progress.workflow_state == "completed":
                return None
            if progress.workflow_state == "failed":
                return str(getattr(progress, "message", None) or "no reason given")
            if time.monotonic() > until:
                raise Unfinished(f"Canvas is still working on a batch after {self._patience.job:.0f} s",
                                 "run the same command again later: it first waits for that batch")  # fmt: skip
            self._patience.sleep(pause)
            pause = min(pause * 1.5, 5.0)

    def _wait_for_lost(self, batch: Batch) -> None:
        """Until the comments of a batch without an answer are there, or so late that it cannot be running any more."""
        pause = 0.1
        while batch.comments and time.time() < batch.sent + self._patience.job:
            found = self._reader.comments()
            if all(any(mark in text for text in found.get(key, ())) for key, mark in batch.comments.items()):
                return
            self._patience.sleep(pause)
            pause = min(pause * 1.5, 5.0)


def _fields(send: Send) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    if send.value == "excused":
        fields["excuse"] = True
    elif send.value is not None:
        fields["posted_grade"] = numbers.spelled(send.value)
    if send.comment:
        fields["text_comment"] = send.comment
    return fields
