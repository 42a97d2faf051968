"""Sources of approvals as columns, requests for access, and indexes of lists."""

import sqlalchemy as sa
from alembic import op

from retinue.kit.db import types

revision = "0038"
down_revision = "0037"
branch_labels = None
depends_on = None

_SOURCE_IDS = ("agent_id", "tool_id")


def upgrade() -> None:
    for name in _SOURCE_IDS:
        op.add_column("approvals", sa.Column(name, types.Text, nullable=True))
    is_postgresql = op.get_bind().dialect.name == "postgresql"
    values = ", ".join(
        f"{name} = source->>'{name}'" if is_postgresql else f"{name} = json_extract(source, '$.{name}')"
        for name in _SOURCE_IDS
    )
    op.execute(f"UPDATE approvals SET {values}")  # noqa: S608  names of columns
    for name in _SOURCE_IDS:
        op.create_index(
            op.f(f"ix_approvals_tenant_id_{name}_created_at"),
            "approvals",
            ["tenant_id", name, "created_at"],
            unique=False,
        )
    op.create_index(
        op.f("ix_conversations_tenant_id_last_message_at"),
        "conversations",
        ["tenant_id", "last_message_at"],
        unique=False,
    )
    op.create_index(
        "ix_messages_rating_nonzero",
        "messages",
        ["tenant_id", "created_at"],
        unique=False,
        sqlite_where=sa.text("rating <> 0"),
        postgresql_where=sa.text("rating <> 0"),
    )
    op.create_table(
        "access_requests",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("tenant_id", types.Text, nullable=False),
        sa.Column("user_id", types.Text, nullable=False),
        sa.Column("permission", types.Text, nullable=False),
        sa.Column("note", types.Text, nullable=False),
        sa.Column("asked_at", types.Text, nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id", "user_id"],
            ["users.tenant_id", "users.id"],
            name=op.f("fk_access_requests_tenant_id_user_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_access_requests")),
        sa.UniqueConstraint(
            "tenant_id",
            "user_id",
            "permission",
            name=op.f("uq_access_requests_tenant_id_user_id_permission"),
        ),
    )
