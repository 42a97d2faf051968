"""What an import left out."""

import sqlalchemy as sa
from alembic import op

from retinue.kit.db import types

revision = "0026"
down_revision = "0025"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column(
        "table_imports",
        sa.Column("unmapped_columns", types.Json(), nullable=False, server_default=sa.text("'[]'")),
    )
