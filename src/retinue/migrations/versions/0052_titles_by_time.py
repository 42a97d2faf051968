"""Titles of conversations by time: what a search by title reads."""

from alembic import op

revision = "0052"
down_revision = "0051"
branch_labels = None
depends_on = None
is_safe_beside_previous = True

_NEW = "ix_conversations_tenant_id_last_message_at_title_id"
_OLD = "ix_conversations_tenant_id_last_message_at"


def upgrade() -> None:
    op.create_index(_NEW, "conversations", ["tenant_id", "last_message_at", "title", "id"], unique=False)
    op.drop_index(_OLD, "conversations")


def downgrade() -> None:
    op.create_index(_OLD, "conversations", ["tenant_id", "last_message_at"], unique=False)
    op.drop_index(_NEW, "conversations")
