"""Service accounts whose requests are refused if a name in them has no effect."""

import sqlalchemy as sa
from alembic import op

revision = "0056"
down_revision = "0055"
branch_labels = None
depends_on = None
is_safe_beside_previous = True


def upgrade() -> None:
    op.add_column(
        "service_accounts",
        sa.Column("strict", sa.Boolean(), nullable=False, server_default=sa.text("false")),
    )


def downgrade() -> None:
    with op.batch_alter_table("service_accounts") as changes:
        changes.drop_column("strict")
