"""Files attached to messages, what models get of them, and whether an embed key accepts them."""

import sqlalchemy as sa
from alembic import op

from retinue.kit.db import types

revision = "0044"
down_revision = "0043"
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.batch_alter_table("messages") as changes:
        changes.add_column(sa.Column("attachments", types.Json(), nullable=True))
    # Keys that exist do not accept files until their owner says so.
    op.add_column(
        "embed_keys",
        sa.Column("allow_attachments", sa.Boolean(), nullable=False, server_default=sa.text("false")),
    )
    op.create_table(
        "conversation_files",
        *_record_columns(),
        sa.Column("conversation_id", types.Text, nullable=False),
        sa.Column("message_id", types.Text, nullable=False),
        sa.Column("file_id", types.Text, nullable=False),
        _cascade("conversation_files", "conversation_id", "conversations"),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_conversation_files")),
        sa.UniqueConstraint(
            "tenant_id",
            "message_id",
            "file_id",
            name=op.f("uq_conversation_files_tenant_id_message_id_file_id"),
        ),
    )
    op.create_index(
        op.f("ix_conversation_files_tenant_id_conversation_id"),
        "conversation_files",
        ["tenant_id", "conversation_id"],
    )
    op.create_index(
        op.f("ix_conversation_files_tenant_id_file_id"), "conversation_files", ["tenant_id", "file_id"]
    )
    op.create_table(
        "file_derivatives",
        *_record_columns(),
        sa.Column("file_id", types.Text, nullable=False),
        sa.Column("derived_file_id", types.Text, nullable=False),
        sa.Column("kind", types.Text, nullable=False),
        sa.Column("mime_type", types.Text, nullable=False),
        sa.Column("size_bytes", sa.BigInteger(), nullable=False),
        sa.Column("pages", sa.BigInteger(), nullable=True),
        sa.Column("characters", sa.BigInteger(), nullable=False),
        _cascade("file_derivatives", "file_id", "files"),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_file_derivatives")),
        sa.UniqueConstraint("tenant_id", "file_id", name=op.f("uq_file_derivatives_tenant_id_file_id")),
    )
    op.create_index(
        op.f("ix_file_derivatives_tenant_id_derived_file_id"),
        "file_derivatives",
        ["tenant_id", "derived_file_id"],
    )
    op.create_table(
        "visitor_files",
        *_record_columns(),
        sa.Column("key_id", types.Text, nullable=False),
        sa.Column("session_hash", types.Text, nullable=False),
        sa.Column("file_id", types.Text, nullable=False),
        _cascade("visitor_files", "key_id", "embed_keys"),
        _cascade("visitor_files", "file_id", "files"),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_visitor_files")),
        sa.UniqueConstraint("tenant_id", "file_id", name=op.f("uq_visitor_files_tenant_id_file_id")),
    )
    op.create_index(
        op.f("ix_visitor_files_tenant_id_session_hash_created_at"),
        "visitor_files",
        ["tenant_id", "session_hash", "created_at"],
    )


def _record_columns() -> list[sa.Column[str]]:
    names = ("id", "created_at", "updated_at", "tenant_id")
    return [sa.Column(name, types.Text, nullable=False) for name in names]


def _cascade(table: str, column: str, target: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        ["tenant_id", column],
        [f"{target}.tenant_id", f"{target}.id"],
        name=op.f(f"fk_{table}_tenant_id_{column}"),
        ondelete="CASCADE",
    )


def downgrade() -> None:
    for table in ("visitor_files", "file_derivatives", "conversation_files"):
        op.drop_table(table)
    for table, column in (("embed_keys", "allow_attachments"), ("messages", "attachments")):
        with op.batch_alter_table(table) as changes:
            changes.drop_column(column)
