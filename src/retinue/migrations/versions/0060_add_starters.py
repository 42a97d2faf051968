"""Add conversation starters to agents."""

import sqlalchemy as sa
from alembic import op

from retinue.kit.db import types

revision = "0060"
down_revision = "0059"
branch_labels = None
depends_on = None
is_safe_beside_previous = True


def upgrade() -> None:
    op.add_column(
        "agents", sa.Column("starters", types.Json(), server_default=sa.text("'[]'"), nullable=False)
    )
