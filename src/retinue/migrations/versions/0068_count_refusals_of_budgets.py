"""Count what budgets refuse, so that their owners see it."""

import sqlalchemy as sa
from alembic import op

from retinue.kit.db import types

revision = "0068"
down_revision = "0067"
branch_labels = None
depends_on = None
is_safe_beside_previous = True


def upgrade() -> None:
    for name in ("refused_on", "refused_because"):
        op.add_column("budgets", sa.Column(name, types.Text, nullable=False, server_default=sa.text("''")))
    op.add_column(
        "budgets", sa.Column("refused_count", sa.BigInteger(), nullable=False, server_default=sa.text("0"))
    )
