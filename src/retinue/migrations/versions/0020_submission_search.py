"""Submissions are found by their words; those that are there are counted and indexed once more."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

from retinue.kit.db import types

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "form_search",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("tenant_id", types.Text, nullable=False),
        sa.Column("form_id", types.Text, nullable=False),
        sa.Column("row_key", sa.BigInteger(), nullable=False),
        sa.Column("indexed", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_form_search")),
        sa.UniqueConstraint("row_key", name=op.f("uq_form_search_row_key")),
    )
    op.add_column("form_submissions", sa.Column("number", sa.BigInteger(), nullable=True))
    _create_indexes()
    _create_word_index()
    _count_again()


def _create_indexes() -> None:
    op.create_index(
        "uq_form_submissions_number",
        "form_submissions",
        ["tenant_id", "number"],
        unique=True,
        sqlite_where=sa.text("number IS NOT NULL"),
        postgresql_where=sa.text("number IS NOT NULL"),
    )
    op.drop_index("ix_form_submissions_is_uncounted", "form_submissions")
    op.create_index(
        "ix_form_submissions_is_uncounted",
        "form_submissions",
        ["tenant_id", "form_id", "created_at", "id"],
        unique=False,
        sqlite_where=sa.text("is_uncounted = 1"),
        postgresql_where=sa.text("is_uncounted"),
    )


def _create_word_index() -> None:
    """What `kit.db.word_index` declares: the two databases have no words in common for it."""
    if op.get_bind().dialect.name == "sqlite":
        op.execute(
            "CREATE VIRTUAL TABLE submission_words USING fts5"
            "(tenant_id UNINDEXED, words, detail = 'column', columnsize = 0, tokenize = 'ascii')"
        )
        return
    op.create_table(
        "submission_words",
        sa.Column("rowid", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("tenant_id", types.Text, nullable=False),
        sa.Column("words", postgresql.TSVECTOR(), nullable=False),
        sa.PrimaryKeyConstraint("rowid", name=op.f("pk_submission_words")),
    )
    op.create_index(
        "ix_submission_words_words",
        "submission_words",
        ["words"],
        postgresql_using="gin",
        postgresql_with={"fastupdate": "off"},
    )


def _count_again() -> None:
    """The job that counts also indexes, so it is given all submissions as new ones."""
    op.execute("UPDATE form_submissions SET is_uncounted = true")
    op.execute(
        "UPDATE form_days SET submissions = 0, processed = 0, archived = 0, timed = 0, took_ms = 0,"
        " filled = '{}', sources = '{}'"
    )
