"""Knowledge bases, documents and chunks."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

from retinue.kit.db import types

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "knowledge_bases",
        *_usual_columns(),
        sa.Column("owner_id", types.Text, nullable=False),
        sa.Column("embedding_model", types.Text, nullable=False),
        sa.Column("dimensions", sa.BigInteger(), nullable=False),
        sa.Column("generation", sa.BigInteger(), nullable=False),
        sa.Column("run_id", types.Text, nullable=False),
        sa.Column("run_status", types.Text, nullable=False),
        sa.Column("run_total", sa.BigInteger(), nullable=False),
        sa.Column("run_done", sa.BigInteger(), nullable=False),
        sa.Column("run_failed", sa.BigInteger(), nullable=False),
        sa.Column("run_error", types.Json(), nullable=True),
        sa.Column("run_started_at", types.Text, nullable=True),
        sa.Column("run_finished_at", types.Text, nullable=True),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_knowledge_bases")),
    )
    _create_documents()
    _create_chunks()
    _create_word_index()


def _usual_columns() -> list[sa.Column[str]]:
    return [
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("tenant_id", types.Text, nullable=False),
    ]


def _create_documents() -> None:
    op.create_table(
        "documents",
        *_usual_columns(),
        sa.Column("base_id", types.Text, nullable=False),
        sa.Column("name", types.Text, nullable=False),
        sa.Column("mime_type", types.Text, nullable=False),
        sa.Column("size_bytes", sa.BigInteger(), nullable=False),
        sa.Column("file_id", types.Text, nullable=False),
        sa.Column("status", types.Text, nullable=False),
        sa.Column("error", types.Json(), nullable=True),
        sa.Column("chunk_count", sa.BigInteger(), nullable=False),
        sa.Column("metadata", types.Json(), nullable=False),
        sa.Column("is_enabled", sa.Boolean(), nullable=False),
        sa.Column("revision", sa.BigInteger(), nullable=True),
        sa.Column("building", sa.BigInteger(), nullable=True),
        sa.Column("chunks_total", sa.BigInteger(), nullable=False),
        sa.Column("chunks_done", sa.BigInteger(), nullable=False),
        sa.Column("indexed_at", types.Text, nullable=True),
        sa.ForeignKeyConstraint(
            ["tenant_id", "base_id"],
            ["knowledge_bases.tenant_id", "knowledge_bases.id"],
            name=op.f("fk_documents_tenant_id_base_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_documents")),
    )
    op.create_index(op.f("ix_documents_status_updated_at"), "documents", ["status", "updated_at"])
    op.create_index(
        op.f("ix_documents_tenant_id_base_id_created_at"), "documents", ["tenant_id", "base_id", "created_at"]
    )


def _create_chunks() -> None:
    op.create_table(
        "chunks",
        *_usual_columns(),
        sa.Column("document_id", types.Text, nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.Column("text", types.Text, nullable=False),
        sa.Column("page", sa.BigInteger(), nullable=True),
        sa.Column("heading", types.Text, nullable=True),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_chunks")),
        sa.UniqueConstraint("tenant_id", "number", name=op.f("uq_chunks_tenant_id_number")),
    )
    op.create_index(
        op.f("ix_chunks_tenant_id_document_id_number"), "chunks", ["tenant_id", "document_id", "number"]
    )
    op.create_table(
        "chunk_vectors",
        *_usual_columns(),
        sa.Column("document_id", types.Text, nullable=False),
        sa.Column("first_number", sa.BigInteger(), nullable=False),
        sa.Column("count", sa.BigInteger(), nullable=False),
        sa.Column("vectors", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_chunk_vectors")),
        sa.UniqueConstraint(
            "tenant_id",
            "document_id",
            "first_number",
            name=op.f("uq_chunk_vectors_tenant_id_document_id_first_number"),
        ),
    )
    if op.get_bind().dialect.name == "postgresql":
        # Numbers of a vector hardly compress, and trying takes most of the time of storing them.
        op.execute("ALTER TABLE chunk_vectors ALTER COLUMN vectors SET STORAGE EXTERNAL")


def _create_word_index() -> None:
    """What `kit.db.word_index` declares: the two databases have no words in common for it."""
    if op.get_bind().dialect.name == "sqlite":
        op.execute(
            "CREATE VIRTUAL TABLE chunk_words USING fts5"
            "(tenant_id UNINDEXED, words, detail = 'column', columnsize = 0, tokenize = 'ascii')"
        )
        return
    op.create_table(
        "chunk_words",
        sa.Column("rowid", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("tenant_id", types.Text, nullable=False),
        sa.Column("words", postgresql.TSVECTOR(), nullable=False),
        sa.PrimaryKeyConstraint("rowid", name=op.f("pk_chunk_words")),
    )
    op.create_index(
        "ix_chunk_words_words",
        "chunk_words",
        ["words"],
        postgresql_using="gin",
        postgresql_with={"fastupdate": "off"},
    )
