"""Output schemas of agents, background turns and suspended turns."""

import sqlalchemy as sa
from alembic import op

from retinue.kit.db import types

revision = "0041"
down_revision = "0039"
branch_labels = None
depends_on = None

_COLUMNS = (("agents", "output_schema"), ("chat_jobs", "output"), ("paused_turns", "output"))


def upgrade() -> None:
    for table, column in _COLUMNS:
        with op.batch_alter_table(table) as changes:
            changes.add_column(sa.Column(column, types.Json(), nullable=True))


def downgrade() -> None:
    for table, column in _COLUMNS:
        with op.batch_alter_table(table) as changes:
            changes.drop_column(column)
