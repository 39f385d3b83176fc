"""Version 2: the database itself refuses to change or delete a row, whatever program asks."""

from __future__ import annotations

from alembic import op

revision = "2"
down_revision = "1"
branch_labels = None
depends_on = None

_TABLES = ("roster", "attempts", "results", "overrides", "extensions", "manual_points", "policies", "exports")
_REFUSAL = "rows of the gradebook are never changed; add one"


def upgrade() -> None:
    dialect = op.get_context().dialect.name
    if dialect == "sqlite":
        _sqlite()
    elif dialect == "postgresql":
        _postgresql()


def _sqlite() -> None:
    for table in _TABLES:
        for verb in ("UPDATE", "DELETE"):
            name = f"{table}_no_{verb.lower()}"
            op.execute(f"CREATE TRIGGER {name} BEFORE {verb} ON {table} BEGIN SELECT RAISE(ABORT, '{_REFUSAL}'); END")


def _postgresql() -> None:
    op.execute(
        "CREATE FUNCTION gradebook_append_only() RETURNS trigger LANGUAGE plpgsql AS "
        f"$$ BEGIN RAISE EXCEPTION '{_REFUSAL}'; END $$"
    )
    for table in _TABLES:
        op.execute(
            f"CREATE TRIGGER {table}_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON {table} "
            "FOR EACH STATEMENT EXECUTE FUNCTION gradebook_append_only()"
        )
