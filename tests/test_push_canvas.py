"""`autograder push canvas` against a server that behaves like Canvas, also like one that is busy, slow or gone."""

from __future__ import annotations

import os
import pty
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import keyring
import keyring.backend
import pytest
from canvas_server import TOKEN, Canvas, Student
from gradebook_support import record
from push_server import Fault, Reply
from push_support import Done, Office, office_in

POST = "POST .*update_grades"
IDS = ["00451", "00452", "00453", "00454", "00455"]
SCORES: dict[str, float | None] = dict(zip(IDS, [9.5, 7.255, 0.0, 10.0, 3.3], strict=True))
TEXTS = ["9.5", "7.26", "0", "10", "3.3"]


@pytest.fixture
def office(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Office:
    office = office_in(tmp_path, monkeypatch, capsys)
    monkeypatch.setenv("AUTOGRADER_CANVAS_TOKEN", TOKEN)
    office.roster("id,name,sis_id", *(f"{id},Student {id},{id}" for id in IDS))
    office.grades(**SCORES)
    return office


@pytest.fixture
def canvas() -> Iterator[Canvas]:
    with Canvas(*(Student(100 + n, f"Student {id}", id) for n, id in enumerate(IDS))) as server:
        assert isinstance(server, Canvas)
        yield server


def push(office: Office, canvas: Canvas, *more: object) -> Done:
    return office.run("push", "canvas", "hw1", *place(canvas), *more)


def place(canvas: Canvas) -> tuple[object, ...]:
    return ("--url", canvas.url, "--course", 1, "--assignment", 2)


def everyone(canvas: Canvas) -> list[Student]:
    return list(canvas.students.values())


def require_all_once(canvas: Canvas, *, comments: int = 0) -> None:
    """No grade lost, none twice, no comment repeated."""
    assert [one.posted for one in everyone(canvas)] == [[text] for text in TEXTS]
    assert [one.score for one in everyone(canvas)] == [9.5, 7.26, 0.0, 10.0, 3.3]
    assert [len(one.comments) for one in everyone(canvas)] == [comments] * 5


# ----------------------------------------------------------------------------------------------------- what is sent
def test_a_dry_run_shows_who_would_get_what_and_sends_nothing(office: Office, canvas: Canvas) -> None:
    canvas.students[103].score = 8.0
    done = push(office, canvas, "--dry-run")
    assert done.code == 0
    assert "to write 00454 Student 00454 103 8 10" in done.text
    assert "to write 00452 Student 00452 101 7.26 (rounded) from 7.255" in done.text
    assert "dry run: nothing was sent; 5 students would be" in done.text
    assert not canvas.seen("POST")
    assert not (office.root / ".autograder").exists()


def test_without_a_terminal_nothing_is_sent_unless_yes_is_said(office: Office, canvas: Canvas) -> None:
    done = push(office, canvas)
    assert done.code == 2
    assert "add --yes" in done.text
    assert not canvas.seen("POST")


def test_grades_arrive_are_read_back_and_are_not_sent_again(office: Office, canvas: Canvas) -> None:
    done = push(office, canvas, "--yes", "--batch", 2)
    assert done.code == 0
    assert "sent and read back: 5 students" in done.text
    require_all_once(canvas)
    assert len(canvas.seen(POST)) == 3
    again = push(office, canvas, "--yes")
    assert again.code == 0
    assert "nothing to send: the LMS has all of it" in again.text
    assert len(canvas.seen(POST)) == 3
    office.grades(**{**SCORES, "00453": 4.0})
    assert push(office, canvas, "--yes").code == 0
    assert [one.posted for one in everyone(canvas)] == [[text] if text != "0" else ["0", "4"] for text in TEXTS]


def test_every_page_is_read(office: Office, canvas: Canvas) -> None:
    canvas.page_size = 1
    assert push(office, canvas, "--yes").code == 0
    assert len(canvas.seen("GET .*search_users")) == 5
    require_all_once(canvas)


def test_a_token_is_not_sent_to_the_server_that_a_page_names(office: Office, canvas: Canvas) -> None:
    with Canvas() as other:
        elsewhere = {"Link": f'<{other.url}/api/v1/courses/1/search_users?page=2>; rel="next"'}
        canvas.faults.append(Fault("answer", "GET .*search_users", reply=Reply(200, [], elsewhere)))
        done = push(office, canvas, "--yes")
        assert done.code == 2
        assert "names another address for the next page" in done.text
        assert not other.requests


def test_a_comment_is_written_once_and_anew_only_when_it_says_something_else(office: Office, canvas: Canvas) -> None:
    canvas.students[100].score = 9.5
    assert push(office, canvas, "--yes", "--feedback").code == 0
    assert canvas.students[100].posted == []
    assert [len(one.comments) for one in everyone(canvas)] == [1] * 5
    assert canvas.students[101].texts()[0].startswith("hw1: 7.255/10 points")
    assert "nothing to send" in push(office, canvas, "--yes", "--feedback").text
    office.grades(**{**SCORES, "00451": 9.0})
    assert push(office, canvas, "--yes", "--feedback").code == 0
    assert [len(one.comments) for one in everyone(canvas)] == [2, 1, 1, 1, 1]
    office.grades(**SCORES)
    assert push(office, canvas, "--yes", "--feedback").code == 0
    assert [len(one.comments) for one in everyone(canvas)] == [3, 1, 1, 1, 1]


def test_a_students_own_comment_is_not_taken_for_ours(office: Office, canvas: Canvas) -> None:
    push(office, canvas, "--yes", "--feedback")
    copied = canvas.students[100].comments[0]["comment"]
    canvas.students[100].comments = [{"id": 1, "author_id": 100, "comment": copied}]
    assert push(office, canvas, "--yes", "--feedback").code == 0
    assert len(canvas.students[100].comments) == 2


def test_zero_missing_excused_and_not_assigned_differ(office: Office, canvas: Canvas) -> None:
    office.roster("id,name,sis_id,state", "00451,,00451,excused", "00452,,00452,", "00453,,00453,", "00454,,00454,",
                  "00455,,00455,not_assigned")  # fmt: skip
    office.grades(**{"00453": 0.0, "00454": 4.0, "00455": 5.0})
    canvas.students[103].assigned = False
    assert push(office, canvas, "--yes").code == 0
    assert [one.posted for one in everyone(canvas)] == [[], [], ["0"], [], []]
    assert [one.excused for one in everyone(canvas)] == [True, False, False, False, False]
    assert push(office, canvas, "--yes", "--missing-as-zero").code == 0
    assert [one.score for one in everyone(canvas)] == [None, 0.0, 0.0, None, None]
    assert "nothing to send" in push(office, canvas, "--yes", "--missing-as-zero").text


def test_in_doubt_nothing_is_sent(office: Office, canvas: Canvas) -> None:
    canvas.students[100].excused = True
    office.grades(**{**SCORES, "00454": 12.0})
    stopped = push(office, canvas, "--yes")
    assert stopped.code == 1
    assert "1 would erase what the LMS holds: allow it with --allow-erase" in stopped.text
    assert "1 out of range" in stopped.text
    assert not canvas.seen("POST")
    allowed = push(office, canvas, "--yes", "--allow-erase", "--allow-out-of-range")
    assert allowed.code == 0
    assert [one.score for one in everyone(canvas)] == [9.5, 7.26, 0.0, 12.0, 3.3]
    assert not canvas.students[100].excused


def test_one_maximum_is_converted_into_another_only_when_asked(office: Office, canvas: Canvas) -> None:
    canvas.assignment["points_possible"] = 100.0
    assert "out of 10 here, out of 100 there" in push(office, canvas, "--yes").text
    assert push(office, canvas, "--yes", "--rescale").code == 0
    assert [one.posted for one in everyone(canvas)] == [["95"], ["72.55"], ["0"], ["100"], ["33"]]


def test_a_pass_fail_assignment_takes_all_or_nothing(office: Office, canvas: Canvas) -> None:
    canvas.assignment["grading_type"] = "pass_fail"
    assert "3 refused" in push(office, canvas, "--yes").text
    assert push(office, canvas, "--yes", "--skip-refused").code == 0
    assert [one.posted for one in everyone(canvas)] == [[], [], ["0"], ["10"], []]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"published": False}, "is not published"),
        ({"grading_type": "not_graded"}, "is not graded"),
        ({"group_category_id": 5}, "one grade to a whole group"),
        ({"anonymize_students": True}, "hides who is who"),
        ({"moderated_grading": True}, "is in moderation"),
    ],
)
def test_an_assignment_in_which_grades_would_go_astray_is_refused(
    office: Office, canvas: Canvas, change: dict[str, object], says: str
) -> None:
    canvas.assignment |= change
    done = push(office, canvas, "--yes")
    assert done.code == 2
    assert says in done.text
    assert not canvas.seen("POST")


def test_what_has_no_grade_yet_gets_nothing(office: Office, canvas: Canvas) -> None:
    canvas.students[100].score = 2.0
    office.grades(**{**SCORES, "00451": None})
    done = push(office, canvas, "--yes", "--missing-as-zero")
    assert done.code == 0
    assert "not a grade 00451 Student 00451 100 2" in done.text
    assert canvas.students[100].score == 2.0


# -------------------------------------------------------------------------------------------------------- late work
def late_by_one(office: Office, canvas: Canvas, *, deducts: bool = True) -> None:
    office.roster("id,name,sis_id,late_penalty", *(f"{id},,{id},{1 if id == '00451' else ''}" for id in IDS))
    canvas.late_policy = {"late_submission_deduction_enabled": deducts, "late_submission_deduction": 10.0}
    canvas.students[100].late = True


def test_a_late_penalty_is_deducted_here_when_canvas_does_not(office: Office, canvas: Canvas) -> None:
    late_by_one(office, canvas, deducts=False)
    done = push(office, canvas, "--yes")
    assert done.code == 0
    assert "late penalty: deducted here (1 student)" in done.text
    assert "late policy in Canvas deducts nothing" in done.text
    assert canvas.students[100].posted == ["8.5"]
    assert canvas.students[100].score == 8.5


def test_a_late_penalty_is_never_deducted_twice(office: Office, canvas: Canvas) -> None:
    late_by_one(office, canvas)
    stopped = push(office, canvas, "--yes")
    assert stopped.code == 1
    assert "the LMS's late policy would deduct from this as well: use --late leave" in stopped.text
    assert not canvas.seen("POST")
    left = push(office, canvas, "--yes", "--late", "leave")
    assert left.code == 0
    assert "late: the LMS deducts" in left.text
    assert "late penalty: left to the LMS's late policy" in left.text
    assert canvas.students[100].posted == ["9.5"]
    assert canvas.students[100].score == 8.5
    assert "nothing to send" in push(office, canvas, "--yes", "--late", "leave").text


# ------------------------------------------------------------------------------------------------------ who is who
def test_students_are_found_by_sis_id_where_the_list_has_none(office: Office, canvas: Canvas) -> None:
    canvas.shows_sis = False
    assert push(office, canvas, "--yes").code == 0
    require_all_once(canvas)
    assert len(canvas.seen("GET .*/users/sis_user_id:")) == 5


def test_students_are_found_by_canvas_id_and_login(office: Office, canvas: Canvas) -> None:
    for number, one in enumerate(everyone(canvas)):
        one.sis, one.login = "", f"user{number}"
    office.roster("id,canvas_id,login", "00451,100,", "00452,101,", "00453,,USER2", "00454,,user3", "00455,,user4")
    assert push(office, canvas, "--yes").code == 0
    require_all_once(canvas)


def test_whoever_cannot_be_told_apart_stops_the_push(office: Office, canvas: Canvas) -> None:
    canvas.students[100].login = "00452"
    stopped = push(office, canvas, "--yes")
    assert stopped.code == 1
    assert "00451, 00452 and the LMS's 100, 101 share keys" in stopped.text
    assert push(office, canvas, "--yes", "--skip-ambiguous").code == 0
    assert [one.posted for one in everyone(canvas)] == [[], [], ["0"], ["10"], ["3.3"]]


def test_whoever_is_not_in_the_course_does_not_hold_up_the_others(office: Office, canvas: Canvas) -> None:
    office.roster("id,name,sis_id", "00450,Waiting List,00450", *(f"{id},,{id}" for id in IDS))
    office.grades(**SCORES, **{"00450": 5.0})
    done = push(office, canvas, "--yes")
    assert done.code == 0
    assert "not in template 00450 Waiting List" in done.text
    require_all_once(canvas)


def test_keys_that_canvas_does_not_use_stop_the_push(office: Office, canvas: Canvas) -> None:
    office.roster("id,login", *(f"tool{n},tool{n}" for n in range(5)))
    office.grades(tool0=3.0, tool1=4.0)
    done = push(office, canvas, "--yes")
    assert done.code == 1
    assert "no student was found in the LMS" in done.text


def test_identifiers_are_text(office: Office, canvas: Canvas) -> None:
    canvas.students[100].sis = "451"
    done = push(office, canvas, "--yes")
    assert done.code == 0
    assert "not in template 00451 Student 00451" in done.text
    assert canvas.students[100].posted == []
    assert push(office, canvas, "--yes", "--ignore-leading-zeros").code == 0
    assert canvas.students[100].posted == ["9.5"]


# ------------------------------------------------------------------------------------------- busy, slow, failing, gone
@pytest.mark.parametrize("fits", ["GET .*search_users", "GET .*submissions", POST, "GET .*progress"])
@pytest.mark.parametrize(
    "reply",
    [
        Reply(403, b"403 Forbidden (Rate Limit Exceeded)\n", {"Retry-After": "0"}),
        Reply(429, b"429 Too Many Requests (Rate Limit Exceeded)\n", {"Retry-After": "0"}),
    ],
)
def test_a_busy_canvas_is_asked_again(office: Office, canvas: Canvas, fits: str, reply: Reply) -> None:
    canvas.faults.append(Fault("answer", fits, times=3, reply=reply))
    assert push(office, canvas, "--yes", "--feedback").code == 0
    require_all_once(canvas, comments=1)


def test_the_pause_is_as_long_as_canvas_asks_for(office: Office, canvas: Canvas) -> None:
    canvas.faults.append(Fault("answer", POST, reply=Reply(429, b"", {"Retry-After": "1"})))
    done = push(office, canvas, "--yes")
    assert done.code == 0
    assert "is busy (429); asking again in 1 s" in done.text
    first, second = canvas.seen(POST)
    assert second.at - first.at >= 1.0
    require_all_once(canvas)


def test_requests_slow_down_when_little_of_the_quota_is_left(office: Office, canvas: Canvas) -> None:
    canvas.faults.append(Fault("answer", "GET .*late_policy", reply=Reply(404, {}, {"X-Rate-Limit-Remaining": "4.5"})))
    assert push(office, canvas, "--dry-run").code == 0
    at = [request.at for request in canvas.requests]
    place = canvas.requests.index(canvas.seen("GET .*late_policy")[0])
    assert at[place + 1] - at[place] >= 1.0


def test_a_pause_of_an_hour_is_left_to_people(office: Office, canvas: Canvas) -> None:
    canvas.faults.append(Fault("answer", "GET .*search_users", reply=Reply(429, b"", {"Retry-After": "3600"})))
    done = push(office, canvas, "--yes")
    assert done.code == 2
    assert "asks for a pause of 3600 s" in done.text


def test_a_missing_permission_is_no_reason_to_ask_again(office: Office, canvas: Canvas) -> None:
    denied = Reply(403, {"status": "unauthorized", "errors": [{"message": "user not authorized"}]})
    canvas.faults.append(Fault("answer", POST, times=9, reply=denied))
    done = push(office, canvas, "--yes", "--batch", 2)
    assert done.code == 1
    assert "does not let this token change grades" in done.text
    assert "not confirmed: 5" in done.text
    assert len(canvas.seen(POST)) == 1
    canvas.faults = [Fault("answer", "GET .*submissions", times=9, reply=denied)]
    assert push(office, canvas, "--yes").code == 2


@pytest.mark.parametrize("kind", ["before", "after", "half", "slow"])
@pytest.mark.parametrize("feedback", [False, True])
def test_a_connection_that_breaks_in_mid_batch_loses_nothing_and_repeats_no_comment(
    office: Office, canvas: Canvas, kind: str, feedback: bool
) -> None:
    """The second of three batches gets no answer, whether Canvas has it or not, and Canvas runs it much later."""
    canvas.slow_jobs = {} if kind == "before" else {2: 7}
    canvas.faults.append(Fault(kind, POST, skip=1, seconds=9.0))
    more = ["--feedback"] if feedback else []
    done = push(office, canvas, "--yes", "--batch", 2, "--timeout", 1, "--wait", 1 if kind == "before" else 60, *more)
    assert done.code == 0
    assert "sent and read back: 5 students" in done.text
    assert [one.score for one in everyone(canvas)] == [9.5, 7.26, 0.0, 10.0, 3.3]
    assert [len(one.comments) for one in everyone(canvas)] == [int(feedback)] * 5
    if feedback:
        require_all_once(canvas, comments=1)
        assert "so that no comment is repeated" in done.text
    assert not list((office.root / ".autograder" / "push").glob("*.json"))


@pytest.mark.parametrize("kind", ["before", "half", "slow"])
@pytest.mark.parametrize("fits", ["GET .*search_users", "GET .*submissions", "GET .*progress"])
def test_reading_is_simply_repeated(office: Office, canvas: Canvas, kind: str, fits: str) -> None:
    canvas.faults.append(Fault(kind, fits, seconds=2.0))
    assert push(office, canvas, "--yes", "--timeout", 0.3, "--feedback").code == 0
    require_all_once(canvas, comments=1)


def test_a_batch_that_fails_half_way_is_completed(office: Office, canvas: Canvas) -> None:
    canvas.dies_after = [2, 1]
    done = push(office, canvas, "--yes", "--feedback")
    assert done.code == 0
    require_all_once(canvas, comments=1)
    assert len(canvas.seen(POST)) == 3


def test_a_batch_that_fails_for_good_is_reported_with_its_reason(office: Office, canvas: Canvas) -> None:
    canvas.dies_after = [4, 0, 0, 0, 0, 0]
    done = push(office, canvas, "--yes")
    assert done.code == 1
    assert "00455 Student 00455 3.3 the batch failed: unexpected error, ID: 4711" in done.text
    assert "sent and read back: 4 students; not confirmed: 1" in done.text
    canvas.dies_after = []
    assert push(office, canvas, "--yes").code == 0
    require_all_once(canvas)


def test_a_student_who_left_in_between_does_not_hold_up_the_others(office: Office, canvas: Canvas) -> None:
    canvas.leaves = 102
    done = push(office, canvas, "--yes", "--feedback")
    assert done.code == 1
    assert "00453 Student 00453 0 N/A Canvas does not know this student in the assignment" in done.text
    assert [one.posted for one in everyone(canvas)] == [["9.5"], ["7.26"], [], ["10"], ["3.3"]]
    assert [len(one.comments) for one in everyone(canvas)] == [1, 1, 0, 1, 1]
    assert len(canvas.seen(POST)) == 1


def test_what_canvas_takes_without_changing_it_is_found_by_reading_back(office: Office, canvas: Canvas) -> None:
    canvas.ignores = {101}
    done = push(office, canvas, "--yes")
    assert done.code == 1
    assert "00452 Student 00452 7.26 the LMS took it, but does not show the grade" in done.text
    assert canvas.students[101].posted == ["7.26"]


def test_a_canvas_that_does_not_finish_is_not_waited_for_for_ever(office: Office, canvas: Canvas) -> None:
    canvas.job_waits = 10**6
    done = push(office, canvas, "--yes", "--feedback", "--wait", 0.5)
    assert done.code == 1
    assert "Canvas is still working on a batch" in done.text
    (journal,) = (office.root / ".autograder" / "push").glob("*.json")
    assert stat.S_IMODE(journal.stat().st_mode) == 0o600
    assert "Student" not in journal.read_text()
    assert TOKEN not in journal.read_text()
    assert "Canvas may still be at it" in push(office, canvas, "--dry-run", "--feedback").text
    canvas.jobs[1].waits = 3
    after = push(office, canvas, "--yes", "--feedback")
    assert after.code == 0
    assert "nothing to send" in after.text
    require_all_once(canvas, comments=1)
    assert not journal.exists()


@pytest.mark.parametrize("at", [POST, "GET .*progress"])
def test_a_push_that_was_killed_is_continued_without_a_second_comment(office: Office, canvas: Canvas, at: str) -> None:
    """Killed while Canvas has the first batch and has not begun with it, before or after its answer."""
    canvas.job_waits, canvas.page_size = 10**6, 10
    canvas.faults.append(Fault("slow", at, seconds=60.0))
    arrived = canvas.when(at)
    process = office.start("push", "canvas", "hw1", *place(canvas), "--yes", "--feedback", "--batch", 2)
    assert arrived.wait(60)
    process.kill()
    process.communicate()
    canvas.jobs[1].waits, canvas.job_waits = 5, 1
    done = push(office, canvas, "--yes", "--feedback", "--batch", 2)
    assert done.code == 0
    assert "an earlier push was stopped" in done.text
    require_all_once(canvas, comments=1)


def test_two_pushes_at_once_do_not_get_in_each_others_way(office: Office, canvas: Canvas) -> None:
    canvas.job_waits = 10**6
    arrived = canvas.when("GET .*progress")
    process = office.start("push", "canvas", "hw1", *place(canvas), "--yes")
    assert arrived.wait(60)
    second = push(office, canvas, "--yes")
    assert second.code == 2
    assert "another push to" in second.text
    canvas.jobs[1].waits = 0
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors
    require_all_once(canvas)


def test_a_journal_that_cannot_be_read_stops_the_push(office: Office, canvas: Canvas) -> None:
    journal = office.root / "open.json"
    journal.write_text("{")
    done = push(office, canvas, "--yes", "--journal", journal)
    assert done.code == 2
    assert "look in the LMS whether comments arrived, then delete the file" in done.text
    assert not canvas.seen("POST")


# ---------------------------------------------------------------------------------------------------------- consent
def answer_at_the_prompt(office: Office, canvas: Canvas, change: Callable[[], None] = lambda: None) -> Done:
    """A push at a terminal; `change` happens on the server before `y` is typed."""
    master, slave = pty.openpty()
    process = office.start("push", "canvas", "hw1", *place(canvas), stdin=slave)
    os.close(slave)
    assert process.stdout is not None
    seen = ""
    while "send this?" not in seen:
        part = process.stdout.read(1)
        assert part, seen
        seen += part
    change()
    os.write(master, b"y\n")
    out, err = process.communicate(timeout=60)
    os.close(master)
    return Done(process.returncode, seen + out, err)


def test_at_a_terminal_you_are_asked_and_consent_is_to_what_was_shown(office: Office, canvas: Canvas) -> None:
    changed = answer_at_the_prompt(office, canvas, lambda: setattr(canvas.students[101], "score", 1.0))
    assert changed.code == 2
    assert "nothing was sent: the LMS changed while you looked" in changed.text
    assert not canvas.seen("POST")
    canvas.students[101].score = None
    done = answer_at_the_prompt(office, canvas)
    assert done.code == 0, done.text
    require_all_once(canvas)


# ------------------------------------------------------------------------------------------------------------ tokens
class Ring(keyring.backend.KeyringBackend):
    """A keyring in memory."""

    priority = 1  # type: ignore[assignment]

    def __init__(self, **kept: str) -> None:
        super().__init__()
        self.kept = kept

    def get_password(self, service: str, username: str) -> str | None:
        return self.kept.get(f"{service} {username}")

    def set_password(self, service: str, username: str, password: str) -> None:
        self.kept[f"{service} {username}"] = password

    def delete_password(self, service: str, username: str) -> None:
        del self.kept[f"{service} {username}"]


def test_the_token_may_be_in_the_keyring(office: Office, canvas: Canvas, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AUTOGRADER_CANVAS_TOKEN")
    before = keyring.get_keyring()
    keyring.set_keyring(Ring())
    try:
        none = push(office, canvas, "--dry-run")
        assert none.code == 2
        assert "AUTOGRADER_CANVAS_TOKEN is not set and the keyring has none" in none.text
        keyring.set_password("autograder", canvas.url, TOKEN)
        assert push(office, canvas, "--dry-run").code == 0
    finally:
        keyring.set_keyring(before)


def test_a_token_is_never_shown(office: Office, canvas: Canvas, monkeypatch: pytest.MonkeyPatch) -> None:
    echo = {"errors": [{"message": f"you sent Bearer {TOKEN}"}]}
    for status, fits in ((400, POST), (422, POST), (400, "GET .*search_users"), (500, POST)):
        canvas.faults = [Fault("answer", fits, times=99, reply=Reply(status, echo))]
        done = push(office, canvas, "--yes", "--timeout", 1)
        assert done.code in (1, 2)
        assert TOKEN not in done.out + done.err
    for bad in (f"{TOKEN}\nX-Other: 1", f"{TOKEN} x", f"{TOKEN}é", "wrong-" + TOKEN):
        monkeypatch.setenv("AUTOGRADER_CANVAS_TOKEN", bad)
        done = push(office, canvas, "--yes")
        assert done.code == 2
        assert TOKEN not in done.out + done.err
        assert "AUTOGRADER_CANVAS_TOKEN" in done.text
    assert push(office, canvas, "--token", TOKEN).code == 2


def test_nothing_of_students_or_tokens_is_logged(
    office: Office, canvas: Canvas, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    assert push(office, canvas, "--yes", "--feedback").code == 0
    assert caplog.text == ""


def test_a_password_in_netrc_does_not_replace_the_token(
    office: Office, canvas: Canvas, monkeypatch: pytest.MonkeyPatch
) -> None:
    netrc = office.root / "netrc"
    netrc.write_text("machine 127.0.0.1 login me password secret\n")
    netrc.chmod(0o600)
    monkeypatch.setenv("NETRC", str(netrc))
    assert push(office, canvas, "--dry-run").code == 0
    assert {request.headers["Authorization"] for request in canvas.requests} == {f"Bearer {TOKEN}"}


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("http://canvas.example.edu", "would send the token unencrypted"),
        ("canvas.example.edu", "is no address"),
        ("http://127.0.0.1:1", "does not answer"),
    ],
)
def test_an_address_that_cannot_be_used_is_one_message(office: Office, url: str, says: str) -> None:
    done = office.run(
        "push", "canvas", "hw1", "--url", url, "--course", 1, "--assignment", 2, "--yes", "--timeout", 0.2
    )
    assert done.code == 2
    assert says in done.text


def test_a_wrong_number_is_named(office: Office, canvas: Canvas) -> None:
    done = office.run("push", "canvas", "hw1", "--url", canvas.url, "--course", 1, "--assignment", 77, "--yes")
    assert done.code == 2
    assert "has nothing at courses/1/assignments/77" in done.text


# --------------------------------------------------------------------------------------------------------- gradebook
def test_the_gradebook_is_the_source_where_there_is_one_and_keeps_a_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    office = office_in(tmp_path, monkeypatch, capsys)
    monkeypatch.setenv("AUTOGRADER_CANVAS_TOKEN", TOKEN)
    office.gradebook(record("00451", 9.5), record("00452", 7.0, files="b"))
    assert office.run("gradebook", "override", "hw1", "00452", "8.25", "--reason", "regraded").code == 0
    with Canvas(Student(1, "Ama Quartey", "", "aquartey"), Student(2, "Lou", "", "ldarcy")) as canvas:
        done = push(office, canvas, "--yes")
        assert done.code == 0
        assert "grades: gradebook" in done.text
        assert [one.posted for one in everyone(canvas)] == [["9.5"], ["8.25"]]
        assert "canvas api" in office.run("gradebook", "log", "hw1").text
        two = push(office, canvas, "--yes", "--roster", "roster.csv")
        assert two.code == 2
        assert "the roster is that of the gradebook" in two.text
