"""`autograder push ags` against a server that behaves like an LTI 1.3 platform, by Moodle's and by Canvas's rules."""

from __future__ import annotations

import json
import stat
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from gradebook_support import hand_in, record
from lti_server import CLIENT, KEY_ID, SUBMISSION, Learner, Platform, new_key
from push_server import Fault, Reply
from push_support import Done, Office, office_in

from autograder.lms.push.lti_calls import below, with_query

IDS = ["00451", "00452", "00453", "00454"]
USERS = ["31", "32", "33", "34"]
SCORES: dict[str, float | None] = dict(zip(IDS, [9.5, 7.255, 0.0, 10.0], strict=True))
POST = "POST .*/scores"
RESULTS = "GET .*/results"


@pytest.fixture(scope="module")
def keys() -> tuple[str, Any]:
    return new_key()


@pytest.fixture
def office(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], keys: tuple[str, Any]
) -> Office:
    office = office_in(tmp_path, monkeypatch, capsys)
    monkeypatch.setenv("AUTOGRADER_LTI_KEY", keys[0])
    office.roster("id,name,lti_id", *(f"{id},Student {id},{user}" for id, user in zip(IDS, USERS, strict=True)))
    office.grades(**SCORES)
    return office


@pytest.fixture(params=["moodle", "canvas"])
def platform(request: pytest.FixtureRequest, keys: tuple[str, Any]) -> Iterator[Platform]:
    people = [Learner(user, f"Student {id}", id, f"{id}@uni.test") for id, user in zip(IDS, USERS, strict=True)]
    with Platform(keys[1], *people, rules=request.param) as server:
        assert isinstance(server, Platform)
        yield server


def push(office: Office, platform: Platform, *more: object, lineitem: str | None = "") -> Done:
    column = () if lineitem is None else ("--lineitem", lineitem or platform.lineitem)
    return office.run("push", "ags", "hw1", *column, *tool(platform), *more)


def tool(platform: Platform) -> tuple[object, ...]:
    return ("--token-url", platform.token_url, "--client-id", CLIENT, "--key-id", KEY_ID)


def everyone(platform: Platform) -> list[Learner]:
    return list(platform.learners.values())


def require_all_once(platform: Platform, *, comments: int = 0) -> None:
    """No score lost, none twice, no comment repeated."""
    assert [[score["scoreGiven"] for score in one.accepted] for one in everyone(platform)] == [[9.5], [7.26], [0], [10]]
    assert [one.score for one in everyone(platform)] == pytest.approx([9.5, 7.26, 0.0, 10.0])
    assert [len(one.comments) for one in everyone(platform)] == [comments] * 4


def stamps(platform: Platform, user: str) -> list[datetime]:
    return [datetime.fromisoformat(score["timestamp"]) for score in platform.learners[user].accepted]


# ----------------------------------------------------------------------------------------------------- what is sent
def test_a_dry_run_shows_who_would_get_what_and_sends_nothing(office: Office, platform: Platform) -> None:
    platform.graded_by_hand("34", 8.0)
    done = push(office, platform, "--dry-run")
    assert done.code == 0
    assert "to write 00454 Student 00454 34 8 10" in done.text
    assert "dry run: nothing was sent; 4 students would be" in done.text
    assert not platform.seen(POST)


def test_a_late_penalty_is_deducted_here_unless_it_is_left_to_the_platform(office: Office, platform: Platform) -> None:
    office.roster("id,lti_id,late_penalty", "00451,31,2", "00452,32,", "00453,33,1", "00454,34,")
    here = push(office, platform, "--yes")
    assert here.code == 0
    assert "late penalty: deducted here (2 students)" in here.text
    assert "this interface does not tell whether the LMS has a late policy" in here.text
    assert [one.accepted[-1]["scoreGiven"] for one in everyone(platform)] == [7.5, 7.26, 0, 10]
    there = push(office, platform, "--yes", "--late", "leave")
    assert "late penalty: left to the LMS's late policy" in there.text
    assert [one.accepted[-1]["scoreGiven"] for one in everyone(platform)] == [9.5, 7.26, 0, 10]


def test_scores_arrive_are_read_back_and_are_not_sent_again(office: Office, platform: Platform) -> None:
    done = push(office, platform, "--yes", "--feedback")
    assert done.code == 0
    assert "sent and read back: 4 students" in done.text
    require_all_once(platform, comments=1)
    office.grades(**{**SCORES, "00453": 4.0})
    again = push(office, platform, "--yes", "--feedback")
    assert again.code == 0
    assert [len(one.accepted) for one in everyone(platform)] == [1, 1, 2, 1]
    assert [len(one.comments) for one in everyone(platform)] == [1, 1, 2 if platform.rules == "canvas" else 1, 1]
    assert "nothing to send" in push(office, platform, "--yes", "--feedback").text


def test_a_score_says_what_the_specification_asks_for(office: Office, platform: Platform) -> None:
    assert push(office, platform, "--yes").code == 0
    score = platform.learners["31"].accepted[0]
    assert score.pop("timestamp")
    assert score == {
        "userId": "31",
        "scoreGiven": 9.5,
        "scoreMaximum": 10,
        "activityProgress": "Completed",
        "gradingProgress": "FullyGraded",
        SUBMISSION: {"new_submission": False},
    }


def test_scores_go_before_the_query_of_a_line_item(office: Office, platform: Platform) -> None:
    assert "?" in platform.lineitem
    assert push(office, platform, "--yes").code == 0
    assert {request.path for request in platform.seen("POST .*lineitem")} == {"/2/lineitems/0/lineitem/scores"}
    assert all(request.query == [("type_id", "7")] for request in platform.seen(POST))
    assert below("https://lms.test/a/lineitem", "scores") == "https://lms.test/a/lineitem/scores"
    assert below("https://lms.test/a/lineitem/?b=1&c=%2F", "results") == "https://lms.test/a/lineitem/results?b=1&c=%2F"
    assert with_query("https://lms.test/a?b=1", tag="x y") == "https://lms.test/a?b=1&tag=x+y"


def test_every_page_of_results_is_read(office: Office, platform: Platform) -> None:
    platform.page_size = 1
    for user, score in zip(USERS, [9.5, 7.26, 5.0, 10.0], strict=True):
        platform.graded_by_hand(user, score)
    platform.learners["33"].changed = datetime.now(UTC) - timedelta(minutes=1)
    assert push(office, platform, "--yes").code == 0
    assert [len(one.accepted) for one in everyone(platform)] == [0, 0, 1, 0]


def test_missing_excused_and_pending_get_nothing(office: Office, platform: Platform) -> None:
    platform.graded_by_hand("34", 2.0)
    office.roster("id,lti_id,state", "00451,31,excused", "00452,32,", "00453,33,", "00454,34,")
    office.grades(**{"00453": 3.0, "00454": None})
    done = push(office, platform, "--yes")
    assert done.code == 0
    assert "skipped 00451 31 this interface cannot say excused" in done.text
    assert "not a grade 00454 34 2" in done.text
    assert [len(one.accepted) for one in everyone(platform)] == [0, 0, 1, 0]
    assert platform.learners["34"].score == 2.0


# -------------------------------------------------------------------------------------------------------- timestamps
def test_timestamps_rise_also_within_one_second(office: Office, platform: Platform) -> None:
    """Also when this machine's clock was set back by half a minute after the first score."""
    assert push(office, platform, "--yes").code == 0
    (memory,) = (office.root / ".autograder" / "push").glob("*.json")
    assert stat.S_IMODE(memory.stat().st_mode) == 0o600
    later = datetime.now(UTC) + timedelta(seconds=30)
    platform.learners["31"].changed = later.replace(microsecond=0)
    kept = json.loads(memory.read_text())
    memory.write_text(json.dumps({**kept, "31": {"time": later.isoformat(), "zero": False}}))
    for score in (3.0, 4.0, 5.0):
        office.grades(**{**SCORES, "00451": score})
        assert push(office, platform, "--yes").code == 0
    seconds = [stamp.replace(microsecond=0) for stamp in stamps(platform, "31")]
    assert seconds == sorted(set(seconds))
    assert seconds[1] == later.replace(microsecond=0) + timedelta(seconds=1)


def test_a_grade_given_there_in_the_meantime_is_not_overwritten_silently(office: Office, platform: Platform) -> None:
    platform.learners["31"].score = None
    platform.learners["31"].changed = datetime.now(UTC) + timedelta(hours=1)
    done = push(office, platform, "--yes")
    assert done.code == 1
    assert "someone graded there after this push began" in done.text
    assert "sent and read back: 3 students; not confirmed: 1" in done.text
    assert len([r for r in platform.seen(POST) if b'"31"' in r.body]) == 1


def test_a_late_hand_in_is_not_made_later_by_the_push(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], keys: tuple[str, Any]
) -> None:
    """With the gradebook the time of the hand-in is known and goes along; that of a push never stands in for it."""
    office = office_in(tmp_path, monkeypatch, capsys)
    monkeypatch.setenv("AUTOGRADER_LTI_KEY", keys[0])
    office.roster("id,name,lti_id", "00451,Ama,31", "00452,Lou,32")
    office.desk.collected(s00451=hand_in("a", "2026-10-01T10:00:00+02:00"), s00452=hand_in("b"))
    office.gradebook(record("00451", 9.5), record("00452", 7.0, files="b"))
    with Platform(keys[1], Learner("31"), Learner("32"), rules="canvas") as platform:
        assert isinstance(platform, Platform)
        assert push(office, platform, "--yes").code == 0
        known, unknown = (platform.learners[user].accepted[0] for user in ("31", "32"))
        assert known["submission"] == {"submittedAt": "2026-10-01T08:00:00.000+00:00"}
        assert known[SUBMISSION] == {"new_submission": False, "submitted_at": "2026-10-01T08:00:00.000+00:00"}
        assert "submission" not in unknown
        assert unknown[SUBMISSION] == {"new_submission": False}
        assert "lti ags" in office.run("gradebook", "log", "hw1").text


# ------------------------------------------------------------------------------------------- busy, slow, failing, gone
@pytest.mark.parametrize("reply", [Reply(429, b"", {"Retry-After": "0"}), Reply(503, b"", {"Retry-After": "0"})])
@pytest.mark.parametrize("fits", ["POST /token", RESULTS, POST])
def test_a_busy_platform_is_asked_again(office: Office, platform: Platform, fits: str, reply: Reply) -> None:
    platform.faults.append(Fault("answer", fits, times=3, reply=reply))
    assert push(office, platform, "--yes", "--feedback").code == 0
    require_all_once(platform, comments=1)


def test_the_pause_is_as_long_as_the_platform_asks_for(office: Office, platform: Platform) -> None:
    platform.faults.append(Fault("answer", POST, reply=Reply(429, b"", {"Retry-After": "1"})))
    assert push(office, platform, "--yes").code == 0
    first, second, *_ = platform.seen(POST)
    assert second.at - first.at >= 1.0
    assert first.body != second.body  # the time in it is that of the second try
    require_all_once(platform)


@pytest.mark.parametrize("kind", ["before", "after", "half", "slow"])
def test_a_connection_that_breaks_loses_no_score_and_repeats_no_comment(
    office: Office, platform: Platform, kind: str
) -> None:
    platform.faults += [Fault(kind, POST, skip=1, seconds=9.0), Fault(kind, POST, skip=1, seconds=9.0)]
    done = push(office, platform, "--yes", "--feedback", "--timeout", 0.5)
    assert done.code == 0
    require_all_once(platform, comments=1)


@pytest.mark.parametrize("kind", ["before", "half", "slow"])
def test_reading_is_simply_repeated(office: Office, platform: Platform, kind: str) -> None:
    platform.faults += [Fault(kind, RESULTS, seconds=2.0), Fault(kind, "GET .*/lineitem$", seconds=2.0)]
    assert push(office, platform, "--yes", "--timeout", 0.5).code == 0
    require_all_once(platform)


def test_a_user_who_is_not_graded_there_does_not_hold_up_the_others(office: Office, platform: Platform) -> None:
    del platform.learners["32"]
    done = push(office, platform, "--yes")
    assert done.code == 1
    assert "00452 Student 00452 7.26 the LMS does not grade this user in this course" in done.text
    assert "userId" not in done.text
    assert [len(one.accepted) for one in everyone(platform)] == [1, 1, 1]
    assert len(platform.seen(POST)) == 4


def test_a_platform_that_is_gone_for_good_is_reported_for_each(office: Office, platform: Platform) -> None:
    platform.faults.append(Fault("before", POST, times=99))
    done = push(office, platform, "--yes", "--timeout", 0.5)
    assert done.code == 1
    assert "the connection broke each time" in done.text
    assert "not confirmed: 4" in done.text
    platform.faults = []
    assert push(office, platform, "--yes").code == 0
    require_all_once(platform)


def test_a_push_that_was_killed_is_continued(office: Office, platform: Platform) -> None:
    platform.faults.append(Fault("slow", POST, skip=1, seconds=60.0))
    arrived = platform.when(POST, times=2)
    process = office.start(
        "push", "ags", "hw1", "--lineitem", platform.lineitem, *tool(platform), "--yes", "--feedback"
    )
    assert arrived.wait(60)
    process.kill()
    process.communicate()
    assert push(office, platform, "--yes", "--feedback").code == 0
    require_all_once(platform, comments=1)


# ------------------------------------------------------------------------------------------------------------ tokens
def test_one_token_per_scope_is_kept_until_it_expires(office: Office, platform: Platform) -> None:
    assert push(office, platform, "--yes").code == 0
    asked = [scope.rpartition("/")[2] for scope in platform.tokens.values()]
    assert sorted(asked) == ["lineitem.readonly", "result.readonly", "score"]
    assert all(b"scope" in request.body for request in platform.seen("POST /token"))


def test_a_token_that_expires_in_the_middle_is_replaced(office: Office, platform: Platform) -> None:
    platform.life = 1
    platform.faults += [
        Fault("answer", POST, skip=1, reply=Reply(401, {"error": "expired"})),
        Fault("answer", RESULTS, reply=Reply(401, {"error": "expired"})),
    ]
    assert push(office, platform, "--yes").code == 0
    require_all_once(platform)
    assert len(platform.seen("POST /token")) >= 5


def test_a_scope_that_is_not_given_is_named(office: Office, platform: Platform) -> None:
    platform.refuses = {"result.readonly"}
    done = push(office, platform, "--yes")
    assert done.code == 2
    assert "gives no token for result.readonly (400 invalid_scope)" in done.text
    assert not platform.seen(POST)
    platform.refuses = {"lineitem.readonly"}
    assert push(office, platform, "--yes").code == 2
    assert push(office, platform, "--yes", "--max", 10).code == 0
    require_all_once(platform)


def test_keys_and_tokens_are_never_shown(
    office: Office, platform: Platform, monkeypatch: pytest.MonkeyPatch, keys: tuple[str, Any]
) -> None:
    other, _ = new_key()
    for value in (other, "no key at all", other.replace("PRIVATE", "PUBLIC")):
        monkeypatch.setenv("AUTOGRADER_LTI_KEY", value)
        done = push(office, platform, "--yes")
        assert done.code == 2
        shown = done.out + done.err
        assert value.splitlines()[-2 if "\n" in value else 0][:40] not in shown
        assert "eyJ" not in shown  # how every JWT begins
    monkeypatch.setenv("AUTOGRADER_LTI_KEY", keys[0].replace("\n", "\\n"))
    echo = Reply(422, {"errors": {"message": "you sent token-1-of-the-platform token-2-of-the-platform "
                                             "token-3-of-the-platform token-4-of-the-platform"}})  # fmt: skip
    platform.faults.append(Fault("answer", POST, reply=echo))
    done = push(office, platform, "--yes")
    assert done.code == 1
    (used,) = [token for token, scope in platform.tokens.items() if scope.endswith("/score")]
    assert used not in done.out + done.err
    monkeypatch.delenv("AUTOGRADER_LTI_KEY")
    assert "AUTOGRADER_LTI_KEY is not set" in push(office, platform, "--yes").text


def test_a_token_is_not_sent_to_the_server_that_a_page_names(office: Office, platform: Platform, keys: Any) -> None:
    with Platform(keys[1]) as other:
        elsewhere = {"Link": f'<{other.url}/2/lineitems/0/lineitem/results?type_id=7>; rel="next"'}
        platform.faults.append(Fault("answer", RESULTS, reply=Reply(200, [], elsewhere)))
        done = push(office, platform, "--yes")
        assert done.code == 2
        assert "for the next page" in done.text
        assert not other.requests


# ------------------------------------------------------------------------------------------------- line items, members
def test_a_line_item_is_found_by_what_the_tool_called_it(office: Office, platform: Platform) -> None:
    platform.items += [{"label": "A", "scoreMaximum": 20.0, "resourceId": "x"},
                       {"label": "B", "scoreMaximum": 20.0, "resourceId": "hw1", "tag": "final"}]  # fmt: skip
    done = push(office, platform, "--lineitems", platform.lineitems, "--yes", "--rescale", lineitem=None)
    assert done.code == 0
    assert "column B, out of 20" in done.text
    assert [one.accepted[0]["scoreGiven"] for one in everyone(platform)] == [19, 14.51, 0, 20]
    platform.items.append({"label": "C", "scoreMaximum": 5.0, "resourceId": "hw1", "tag": "draft"})
    several = push(office, platform, "--lineitems", platform.lineitems, "--yes", lineitem=None)
    assert several.code == 2
    assert "2 line items have resource id 'hw1'" in several.text
    tagged = push(office, platform, "--lineitems", platform.lineitems, "--tag", "final", "--dry-run", lineitem=None)
    assert "column B" in tagged.text


@pytest.mark.parametrize("kind", ["", "before", "after", "busy"])
def test_a_line_item_is_made_once_and_only_with_consent(office: Office, platform: Platform, kind: str) -> None:
    given = ("--lineitems", platform.lineitems)
    none = push(office, platform, *given, "--yes", lineitem=None)
    assert none.code == 2
    assert "no line item has resource id 'hw1'" in none.text
    looked = push(office, platform, *given, "--create", "--dry-run", lineitem=None)
    assert looked.code == 0
    assert "there is no line item yet" in looked.text
    assert len(platform.items) == 1
    if kind == "busy":
        platform.faults.append(Fault("answer", "POST .*lineitems$", reply=Reply(429, b"", {"Retry-After": "0"})))
    elif kind:
        platform.faults.append(Fault(kind, "POST .*lineitems$"))
    assert push(office, platform, *given, "--create", "--yes", lineitem=None).code == 0
    assert platform.items[1:] == [{"label": "hw1", "scoreMaximum": 10.0, "resourceId": "hw1"}]
    require_all_once(platform)


def test_members_tell_who_is_who_where_the_roster_does_not(office: Office, platform: Platform) -> None:
    office.roster("id,sis_id,email", "00451,00451,", "00452,,00452@UNI.TEST", "00453,00453,", "00454,00454,")
    nobody = push(office, platform, "--yes")
    assert nobody.code == 2
    assert "the roster has no column 'lti_id' with values" in nobody.text
    assert push(office, platform, "--members", platform.members, "--yes").code == 0
    require_all_once(platform)
    assert len(platform.seen("GET .*memberships")) > 1


def test_another_column_may_hold_the_users(office: Office, platform: Platform) -> None:
    office.roster("id,canvas_id", *(f"{id},{user}" for id, user in zip(IDS, USERS, strict=True)))
    assert push(office, platform, "--user-id", "canvas_id", "--yes").code == 0
    require_all_once(platform)
    office.roster("id,Moodle user", "00451,31", "00452,31")
    twice = push(office, platform, "--user-id", "Moodle user", "--yes")
    assert twice.code == 2
    assert "two students have the same Moodle user" in twice.text


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ((), "which column is not clear"),
        (("--lineitem", "https://lms.test/1", "--lineitems", "https://lms.test/2"), "which column is not clear"),
        (("--lineitem", "http://lms.test/1"), "--lineitem 'http://lms.test/1' would send the token unencrypted"),
        (("--lineitem", "https://lms.test/1", "--max", "no"), "is no number of points"),
        (("--lineitem", "https://lms.test/1", "--records", "nowhere"), "nowhere is no folder of records"),
    ],
)
def test_a_mistake_of_the_user_is_one_message_and_exit_2(office: Office, more: tuple[str, ...], says: str) -> None:
    done = office.run("push", "ags", "hw1", "--token-url", "https://lms.test/t", "--client-id", "1", "--yes", *more)
    assert done.code == 2
    assert says in done.text
