"""Mail to people outside the tenant: the tenant's rule, and how many went out on a day."""

import sqlalchemy as sa
from alembic import op

from retinue.kit.db import types

revision = "0053"
down_revision = "0052"
branch_labels = None
depends_on = None
is_safe_beside_previous = True


def upgrade() -> None:
    op.create_table(
        "notification_outsider_mails",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("tenant_id", types.Text, nullable=False),
        sa.Column("day", types.Text, nullable=False),
        sa.Column("mails", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_notification_outsider_mails")),
        sa.UniqueConstraint("tenant_id", "day", name=op.f("uq_notification_outsider_mails_tenant_id_day")),
    )
    op.add_column("tenants", sa.Column("mail_to_outsiders", types.Json(), nullable=True))


def downgrade() -> None:
    with op.batch_alter_table("tenants") as changes:
        changes.drop_column("mail_to_outsiders")
    op.drop_table("notification_outsider_mails")
