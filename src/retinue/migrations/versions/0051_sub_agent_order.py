"""The order of an agent's sub-agents."""

import sqlalchemy as sa
from alembic import op

revision = "0051"
down_revision = "0050"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column(
        "sub_agents",
        sa.Column("display_order", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
    )


def downgrade() -> None:
    with op.batch_alter_table("sub_agents") as changes:
        changes.drop_column("display_order")
