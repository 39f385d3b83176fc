"""Version 3: an export also says which options were chosen for it, those that allow a loss included."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "3"
down_revision = "2"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("exports", sa.Column("options", sa.Text, nullable=False, server_default=""))
