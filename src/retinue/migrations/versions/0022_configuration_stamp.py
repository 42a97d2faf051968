"""Stamps that move whenever a tenant changes what it has set up, so that the rest can be remembered."""

import sqlalchemy as sa
from alembic import op

from retinue.kit.db import types

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "configurations",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("stamp", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_configurations")),
    )
