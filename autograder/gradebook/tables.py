"""The tables of the gradebook. Rows are only ever added: the newest of a kind holds, the others say how it came.

Points are exact decimals kept as text, and times are UTC, in every database alike.
"""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from sqlalchemy import CheckConstraint, DateTime, Dialect, ForeignKey, Index, String, Text
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column
from sqlalchemy.types import TypeDecorator


class Points(TypeDecorator[Decimal]):
    """A decimal number as its digits: SQLite would make a binary fraction of it."""

    impl = String(80)
    cache_ok = True

    def process_bind_param(self, value: Decimal | None, dialect: Dialect) -> str | None:
        return None if value is None else str(value)

    def process_result_value(self, value: Any, dialect: Dialect) -> Decimal | None:
        return None if value is None else Decimal(value)


class Moment(TypeDecorator[datetime]):
    """An aware time, stored in UTC without an offset: SQLite knows none."""

    impl = DateTime
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        if value.utcoffset() is None:
            raise ValueError("a time in the gradebook must have an offset")
        return value.astimezone(UTC).replace(tzinfo=None)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        return None if value is None else value.replace(tzinfo=UTC)


class Base(DeclarativeBase):
    type_annotation_map = {Decimal: Points, datetime: Moment, str: Text}


class Row(Base):
    """What every row says of itself: who wrote it and when."""

    __abstract__ = True

    id: Mapped[int] = mapped_column(primary_key=True)
    author: Mapped[str]
    time: Mapped[datetime]


class RosterEntry(Row):
    """A student's keys and names from here on; `here` is false once they have left."""

    __tablename__ = "roster"

    student: Mapped[str] = mapped_column(index=True)
    name: Mapped[str] = mapped_column(default="")
    given: Mapped[str] = mapped_column(default="")
    family: Mapped[str] = mapped_column(default="")
    login: Mapped[str] = mapped_column(default="")
    email: Mapped[str] = mapped_column(default="")
    sis_id: Mapped[str] = mapped_column(default="")
    canvas_id: Mapped[str] = mapped_column(default="")
    moodle_participant: Mapped[str] = mapped_column(default="")
    here: Mapped[bool] = mapped_column(default=True)


class Attempt(Row):
    """A hand-in. `supersedes` names the row of the same hand-in that knew less, or was corrected for `reason`."""

    __tablename__ = "attempts"
    __table_args__ = (Index("attempts_of", "assignment", "student"),)

    assignment: Mapped[str]
    student: Mapped[str]
    files: Mapped[str]
    """JSON: file name to SHA-256."""
    digest: Mapped[str]
    """Names the files as a whole; results of the same digest are results of this hand-in."""
    number: Mapped[int | None]
    """As the platform counts; None where it does not tell."""
    submitted: Mapped[datetime | None]
    late: Mapped[bool | None]
    """The platform's own mark."""
    supersedes: Mapped[int | None] = mapped_column(ForeignKey("attempts.id"))
    reason: Mapped[str] = mapped_column(default="")

    @property
    def has_files(self) -> bool:
        """False for a hand-in in which `collect` found nothing that could be graded."""
        return self.files != "{}"

    @property
    def short_digest(self) -> str:
        return self.digest[:12] if self.has_files else "none"


class Result(Row):
    """A graded record. Exactly one of `score` and `problem` is there: what is no grade has no score in this table."""

    __tablename__ = "results"
    __table_args__ = (
        Index("results_of", "assignment", "student"),
        CheckConstraint("(score IS NULL) <> (problem IS NULL)", name="score_or_problem"),
    )

    assignment: Mapped[str]
    student: Mapped[str]
    digest: Mapped[str]
    score: Mapped[Decimal | None]
    maximum: Mapped[Decimal]
    problem: Mapped[str | None]
    kit_version: Mapped[str]
    receipt: Mapped[str]
    record: Mapped[str]
    """The whole record, JSON."""


class Override(Row):
    """A decision of the staff that replaces the computed grade; state `computed` takes it back."""

    __tablename__ = "overrides"
    __table_args__ = (
        Index("overrides_of", "assignment", "student"),
        CheckConstraint("(score IS NOT NULL) = (state = 'graded')", name="graded_has_score"),
    )

    assignment: Mapped[str]
    student: Mapped[str]
    state: Mapped[str]
    score: Mapped[Decimal | None]
    reason: Mapped[str]


class Extension(Row):
    """A student's own due time; None takes it back."""

    __tablename__ = "extensions"
    __table_args__ = (Index("extensions_of", "assignment", "student"),)

    assignment: Mapped[str]
    student: Mapped[str]
    until: Mapped[datetime | None]
    reason: Mapped[str]


class ManualPoints(Row):
    """Points for a written question; None takes them back."""

    __tablename__ = "manual_points"
    __table_args__ = (Index("manual_points_of", "assignment", "student"),)

    assignment: Mapped[str]
    student: Mapped[str]
    question: Mapped[str]
    points: Mapped[Decimal | None]
    maximum: Mapped[Decimal]


class PolicyVersion(Row):
    """A version of an assignment's late policy, whole: a change of one term is a new version."""

    __tablename__ = "policies"
    __table_args__ = (Index("policies_version", "assignment", "version", unique=True),)

    assignment: Mapped[str]
    version: Mapped[int]
    due: Mapped[datetime | None]
    zone: Mapped[str]
    per: Mapped[str]
    percent: Mapped[Decimal]
    of: Mapped[str]
    grace_seconds: Mapped[int]
    cap: Mapped[Decimal]
    floor: Mapped[Decimal]
    counts: Mapped[str]


class Export(Row):
    """A file of grades that left: what it was for, its hash and what it said of whom."""

    __tablename__ = "exports"

    assignment: Mapped[str] = mapped_column(index=True)
    target: Mapped[str]
    file: Mapped[str]
    sha256: Mapped[str]
    grades: Mapped[str]
    """JSON: student to state, score and late penalty; since version 3 also what became of it in the file."""
    options: Mapped[str] = mapped_column(default="", server_default="")
    """As one would type them: `--allow-erase`, `--late leave`; empty when none was chosen, and before version 3."""


TABLES: tuple[type[Row], ...] = (
    RosterEntry,
    Attempt,
    Result,
    Override,
    Extension,
    ManualPoints,
    PolicyVersion,
    Export,
)
