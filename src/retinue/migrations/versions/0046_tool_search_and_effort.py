"""Tool search, always offered tools, and how much a model reasons."""

import sqlalchemy as sa
from alembic import op

from retinue.kit.db import types

revision = "0046"
down_revision = "0045"
branch_labels = None
depends_on = None

_WITH_EFFORT = ("agents", "chat_jobs", "paused_turns")


def upgrade() -> None:
    for table in _WITH_EFFORT:
        op.add_column(table, sa.Column("reasoning_effort", types.Text, nullable=True))
    op.add_column("agents", sa.Column("tool_search", types.Text, nullable=False, server_default="auto"))
    op.add_column(
        "agent_tools",
        sa.Column("always_offered", sa.Boolean(), nullable=False, server_default=sa.text("false")),
    )


def downgrade() -> None:
    with op.batch_alter_table("agent_tools") as changes:
        changes.drop_column("always_offered")
    with op.batch_alter_table("agents") as changes:
        changes.drop_column("tool_search")
    for table in _WITH_EFFORT:
        with op.batch_alter_table(table) as changes:
            changes.drop_column("reasoning_effort")
