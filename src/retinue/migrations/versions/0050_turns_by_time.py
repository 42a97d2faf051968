"""Turns by time: what Home reads of a tenant's day."""

import sqlalchemy as sa
from alembic import op

revision = "0050"
down_revision = "0049"
branch_labels = None
depends_on = None

_NEW = "ix_chat_logs_tenant_id_created_at_status_first_token_ms"
_OLD = "ix_chat_logs_first_token_ms_present"


def upgrade() -> None:
    op.create_index(_NEW, "chat_logs", ["tenant_id", "created_at", "status", "first_token_ms"], unique=False)
    op.drop_index(_OLD, "chat_logs")


def downgrade() -> None:
    op.create_index(
        _OLD,
        "chat_logs",
        ["tenant_id", "created_at", "first_token_ms"],
        unique=False,
        sqlite_where=sa.text("first_token_ms IS NOT NULL"),
        postgresql_where=sa.text("first_token_ms IS NOT NULL"),
    )
    op.drop_index(_NEW, "chat_logs")
