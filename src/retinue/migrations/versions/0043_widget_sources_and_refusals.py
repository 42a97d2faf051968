"""Whether a widget shows sources, and origins that a key refused."""

import sqlalchemy as sa
from alembic import op

revision = "0043"
down_revision = "0042"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column(
        "widget_designs",
        sa.Column("show_sources", sa.Boolean(), nullable=False, server_default=sa.text("true")),
    )
    op.add_column(
        "widget_installations",
        sa.Column("is_refused", sa.Boolean(), nullable=False, server_default=sa.text("false")),
    )
