"""Invitations know whether their link was only mailed, and so proves the address of whoever uses it."""

import sqlalchemy as sa
from alembic import op

revision = "0028"
down_revision = "0027"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column(
        "invitations",
        sa.Column("proves_address", sa.Boolean(), nullable=False, server_default=sa.text("false")),
    )
