"""Version 1: the tables."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "1"
down_revision = None
branch_labels = None
depends_on = None

_KEYS = ("name", "given", "family", "login", "email", "sis_id", "canvas_id", "moodle_participant")


def upgrade() -> None:
    _table("roster", _text("student"), *(_text(key) for key in _KEYS), sa.Column("here", sa.Boolean, nullable=False))
    op.create_index("ix_roster_student", "roster", ["student"])
    _table(
        "attempts",
        *_whose(),
        _text("files"),
        _text("digest"),
        sa.Column("number", sa.Integer),
        sa.Column("submitted", sa.DateTime),
        sa.Column("late", sa.Boolean),
        sa.Column("supersedes", sa.Integer, sa.ForeignKey("attempts.id")),
        _text("reason"),
    )
    _table(
        "results",
        *_whose(),
        _text("digest"),
        _points("score", nullable=True),
        _points("maximum"),
        _text("problem", nullable=True),
        _text("kit_version"),
        _text("receipt"),
        _text("record"),
        sa.CheckConstraint("(score IS NULL) <> (problem IS NULL)", name="score_or_problem"),
    )
    _table(
        "overrides",
        *_whose(),
        _text("state"),
        _points("score", nullable=True),
        _text("reason"),
        sa.CheckConstraint("(score IS NOT NULL) = (state = 'graded')", name="graded_has_score"),
    )
    _table("extensions", *_whose(), sa.Column("until", sa.DateTime), _text("reason"))
    _table("manual_points", *_whose(), _text("question"), _points("points", nullable=True), _points("maximum"))
    _policies()
    _table("exports", _text("assignment"), _text("target"), _text("file"), _text("sha256"), _text("grades"))
    op.create_index("ix_exports_assignment", "exports", ["assignment"])
    for table in ("attempts", "results", "overrides", "extensions", "manual_points"):
        op.create_index(f"{table}_of", table, ["assignment", "student"])


def _policies() -> None:
    _table(
        "policies",
        _text("assignment"),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("due", sa.DateTime),
        _text("zone"),
        _text("per"),
        _points("percent"),
        _text("of"),
        sa.Column("grace_seconds", sa.Integer, nullable=False),
        _points("cap"),
        _points("floor"),
        _text("counts"),
    )
    op.create_index("policies_version", "policies", ["assignment", "version"], unique=True)


def _table(name: str, *columns: sa.schema.SchemaItem) -> None:
    time = sa.Column("time", sa.DateTime, nullable=False)
    op.create_table(name, sa.Column("id", sa.Integer, primary_key=True), _text("author"), time, *columns)


def _whose() -> tuple[sa.Column[Any], sa.Column[Any]]:
    return _text("assignment"), _text("student")


def _text(name: str, *, nullable: bool = False) -> sa.Column[Any]:
    return sa.Column(name, sa.Text, nullable=nullable)


def _points(name: str, *, nullable: bool = False) -> sa.Column[Any]:
    return sa.Column(name, sa.String(80), nullable=nullable)
