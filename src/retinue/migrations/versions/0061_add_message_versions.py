"""Add versions of messages: whom a message follows, and which question a copy repeats."""

import sqlalchemy as sa
from alembic import op

from retinue.kit.db import types

revision = "0061"
down_revision = "0060"
branch_labels = None
depends_on = None
# A worker of the version before repeats a turn without asking before what writes.
is_safe_beside_previous = False


def upgrade() -> None:
    op.add_column(
        "conversations",
        sa.Column("is_branched", sa.Boolean(), server_default=sa.text("false"), nullable=False),
    )
    op.add_column("messages", sa.Column("parent_position", sa.BigInteger(), nullable=True))
    op.add_column("messages", sa.Column("repeats_position", sa.BigInteger(), nullable=True))
    op.add_column("chat_jobs", sa.Column("asks_before", types.Json(), nullable=True))
    op.add_column("paused_turns", sa.Column("asks_before", types.Json(), nullable=True))
