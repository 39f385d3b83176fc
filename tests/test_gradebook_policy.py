"""The late policy by its properties, and by the days on which clocks change."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.gradebook.latepolicy import LatePolicy, due_for, penalty, units_late

BERLIN = ZoneInfo("Europe/Berlin")
START = datetime(2026, 1, 1, tzinfo=UTC)

percentages = st.decimals(0, 100, places=2)
times = st.integers(0, 3 * 366 * 24 * 60).map(lambda minutes: START + timedelta(minutes=minutes))
policies = st.builds(
    LatePolicy,
    due=times,
    zone=st.sampled_from(
        [ZoneInfo(name) for name in ("UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe")]
    ),
    per=st.sampled_from(["day", "hour"]),
    percent=percentages,
    of=st.sampled_from(["max", "score"]),
    grace=st.integers(0, 60 * 50).map(lambda minutes: timedelta(minutes=minutes)),
    cap=percentages,
    floor=percentages,
)
delays = st.integers(-(10**6), 10**8).map(lambda milliseconds: timedelta(milliseconds=milliseconds * 10))
scores = st.tuples(st.decimals(0, 50, places=3), st.decimals(0, 50, places=3)).map(sorted)


@settings(max_examples=300, deadline=None)
@given(policies, delays, delays, scores, st.integers(0, 60 * 48))
def test_later_never_pays_and_a_penalty_is_between_nothing_and_everything(
    policy: LatePolicy, one: timedelta, other: timedelta, points: list[Decimal], extra: int
) -> None:
    score, maximum = points
    assert policy.due is not None
    early, late = (units_late(policy, policy.due + delay, None) for delay in sorted((one, other)))
    assert 0 <= early <= late
    cheap, dear = (penalty(policy, score, maximum, units) for units in (early, late))
    assert 0 <= cheap <= dear <= score
    assert penalty(policy, score, maximum, 0) == 0
    assert dear <= (maximum if policy.of == "max" else score) * policy.cap / 100
    assert score - dear >= min(score, maximum * policy.floor / 100)
    extension = policy.due + timedelta(minutes=extra)
    assert units_late(policy, policy.due + max(one, other), extension) <= late
    assert units_late(policy, policy.due + policy.grace) == 0


@settings(max_examples=200, deadline=None)
@given(policies, scores, st.decimals(50, 90, places=3), st.integers(0, 40))
def test_more_points_never_end_as_fewer(policy: LatePolicy, two: list[Decimal], maximum: Decimal, units: int) -> None:
    low, high = (score - penalty(policy, score, maximum, units) for score in two)
    assert low <= high


@settings(max_examples=200, deadline=None)
@given(policies, delays)
def test_the_zone_in_which_a_time_is_written_does_not_matter(policy: LatePolicy, delay: timedelta) -> None:
    assert policy.due is not None
    at = policy.due + delay
    there = at.astimezone(ZoneInfo("Asia/Kathmandu"))
    assert units_late(policy, at) == units_late(policy, there)


@pytest.mark.parametrize(
    ("due", "at", "days"),
    [
        ("2026-10-24T23:59+02:00", "2026-10-25T23:59+01:00", 1),  # a day of 25 hours
        ("2026-10-24T23:59+02:00", "2026-10-25T23:59:01+01:00", 2),
        ("2026-03-28T23:59+01:00", "2026-03-29T23:59+02:00", 1),  # a day of 23 hours
        ("2026-03-28T23:59+01:00", "2026-03-29T23:59:01+02:00", 2),
        ("2026-10-24T02:30+02:00", "2026-10-25T02:30+01:00", 1),  # 02:30 comes twice: the later one ends the day
        ("2026-03-28T02:30+01:00", "2026-03-29T03:30+02:00", 1),  # 02:30 is left out
        ("2026-03-28T02:30+01:00", "2026-03-29T03:30:01+02:00", 2),
        ("2026-10-25T02:30+02:00", "2026-10-25T02:30+01:00", 1),  # an hour late, though the clock says the same
        ("2026-10-02T23:59+02:00", "2026-10-02T23:59+02:00", 0),
        ("2026-10-02T23:59+02:00", "2026-10-02T23:59:00.000001+02:00", 1),
    ],
)
def test_a_day_ends_at_the_same_time_of_day(due: str, at: str, days: int) -> None:
    policy = LatePolicy(due=datetime.fromisoformat(due), zone=BERLIN)
    assert units_late(policy, datetime.fromisoformat(at)) == days


def test_hours_elapse_whatever_the_clock_says() -> None:
    due = datetime(2026, 10, 25, 1, 30, tzinfo=BERLIN)
    policy = LatePolicy(due=due, zone=BERLIN, per="hour")
    assert units_late(policy, datetime.fromisoformat("2026-10-25T02:30:00+01:00")) == 2
    assert units_late(policy, datetime.fromisoformat("2026-10-25T02:30:01+01:00")) == 3


def test_an_extension_is_compared_in_elapsed_time() -> None:
    first = datetime(2026, 10, 25, 2, 30, tzinfo=BERLIN, fold=0)
    second = datetime(2026, 10, 25, 2, 30, tzinfo=BERLIN, fold=1)
    assert due_for(LatePolicy(due=first, zone=BERLIN), second) is second
    assert due_for(LatePolicy(due=second, zone=BERLIN), first) is second


def test_amounts_are_exact() -> None:
    policy = LatePolicy(percent=Decimal("3.3"), cap=Decimal(50), floor=Decimal(20))
    assert penalty(policy, Decimal("9.1"), Decimal(10), 1) == Decimal("0.33")
    assert penalty(policy, Decimal("9.1"), Decimal(10), 99) == Decimal(5)
    assert penalty(policy, Decimal("6.5"), Decimal(10), 99) == Decimal("4.5")
    assert penalty(policy, Decimal("1.5"), Decimal(10), 99) == 0


def test_a_time_without_an_offset_is_refused() -> None:
    with pytest.raises(ValueError, match="offset"):
        units_late(LatePolicy(due=START), datetime(2026, 1, 1))
