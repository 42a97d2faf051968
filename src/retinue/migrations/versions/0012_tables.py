"""Data tables, their columns and rows."""

import sqlalchemy as sa
from alembic import op

from retinue.kit.db import types

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

_TEXTS = ("t1", "t2", "t3", "t4", "t5", "t6")
_NUMBERS = ("n1", "n2", "n3", "n4", "n5", "n6")
_UNIQUES = ("u1", "u2", "u3", "u4")


def upgrade() -> None:
    op.create_table(
        "data_tables",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("tenant_id", types.Text, nullable=False),
        sa.Column("name", types.Text, nullable=False),
        sa.Column("slug", types.Text, nullable=False),
        sa.Column("description", types.Text, nullable=False),
        sa.Column("columns", types.Json(), nullable=False),
        sa.Column("next_key", sa.BigInteger(), nullable=False),
        sa.Column("row_key", sa.BigInteger(), nullable=False),
        sa.Column("row_count", sa.BigInteger(), nullable=False),
        sa.Column("created_by", types.Text, nullable=False),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_data_tables")),
        sa.UniqueConstraint("row_key", name=op.f("uq_data_tables_row_key")),
        sa.UniqueConstraint("tenant_id", "slug", name=op.f("uq_data_tables_tenant_id_slug")),
    )
    op.create_index(op.f("ix_data_tables_tenant_id_name"), "data_tables", ["tenant_id", "name"], unique=False)
    _create_imports()
    _create_rows()


def _create_imports() -> None:
    op.create_table(
        "table_imports",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("tenant_id", types.Text, nullable=False),
        sa.Column("table_id", types.Text, nullable=False),
        sa.Column("file_id", types.Text, nullable=False),
        sa.Column("filename", types.Text, nullable=False),
        sa.Column("format", types.Text, nullable=False),
        sa.Column("mode", types.Text, nullable=False),
        sa.Column("match", types.Json(), nullable=False),
        sa.Column("mapping", types.Json(), nullable=True),
        sa.Column("row_key", sa.BigInteger(), nullable=False),
        sa.Column("status", types.Text, nullable=False),
        sa.Column("rows_read", sa.BigInteger(), nullable=False),
        sa.Column("rows_created", sa.BigInteger(), nullable=False),
        sa.Column("rows_updated", sa.BigInteger(), nullable=False),
        sa.Column("rows_failed", sa.BigInteger(), nullable=False),
        sa.Column("errors", types.Json(), nullable=False),
        sa.Column("error", types.Json(), nullable=True),
        sa.Column("started_at", types.Text, nullable=True),
        sa.Column("completed_at", types.Text, nullable=True),
        sa.Column("created_by", types.Text, nullable=False),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_table_imports")),
    )
    op.create_index(
        op.f("ix_table_imports_status_updated_at"), "table_imports", ["status", "updated_at"], unique=False
    )
    op.create_index(
        op.f("ix_table_imports_tenant_id_table_id_created_at"),
        "table_imports",
        ["tenant_id", "table_id", "created_at"],
        unique=False,
    )


def _create_rows() -> None:
    op.create_table(
        "table_rows",
        sa.Column("table_key", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("id", types.Text, nullable=False),
        sa.Column("tenant_id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("data", types.Json(), nullable=False),
        *(sa.Column(slot, types.Text, nullable=True) for slot in _TEXTS),
        *(sa.Column(slot, sa.Double(), nullable=True) for slot in _NUMBERS),
        *(sa.Column(slot, types.Text, nullable=True) for slot in _UNIQUES),
        sa.PrimaryKeyConstraint("table_key", "id", name=op.f("pk_table_rows")),
    )
    for slot in (*_TEXTS, *_NUMBERS):
        op.create_index(
            f"ix_table_rows_table_key_{slot}",
            "table_rows",
            ["table_key", slot, "id"],
            unique=False,
            sqlite_where=sa.text(f"{slot} IS NOT NULL"),
            postgresql_where=sa.text(f"{slot} IS NOT NULL"),
        )
    for slot in _UNIQUES:
        op.create_index(
            f"uq_table_rows_table_key_{slot}",
            "table_rows",
            ["table_key", slot],
            unique=True,
            sqlite_where=sa.text(f"{slot} IS NOT NULL"),
            postgresql_where=sa.text(f"{slot} IS NOT NULL"),
        )
