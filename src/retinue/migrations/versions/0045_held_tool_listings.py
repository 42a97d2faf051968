"""What an MCP server lists, if it differs from what was agreed to."""

import sqlalchemy as sa
from alembic import op

from retinue.kit.db import types

revision = "0045"
down_revision = "0044"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("tools", sa.Column("held_listing", types.Json(), nullable=True))
