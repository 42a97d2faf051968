"""Add reasons of feedback."""

import sqlalchemy as sa
from alembic import op

from retinue.kit.db import types

revision = "0063"
down_revision = "0062"
branch_labels = None
depends_on = None
is_safe_beside_previous = True


def upgrade() -> None:
    op.add_column("messages", sa.Column("reasons", types.Json(), nullable=True))
