"""A full-text index as a table that the fence knows: FTS5 on SQLite, `tsvector` with GIN on PostgreSQL.

A row is a number, its tenant and its words. The caller has made the words of ASCII letters and put blanks
between them, so neither database has anything left to take apart or to read as a command. Who asks for a
word gets the numbers of the rows that have it. Ranking is the caller's, because both databases would count
the rows of all tenants for it, and take longer the more the others have.
"""

from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql

from retinue.kit.db.models import metadata
from retinue.kit.db.types import Text

WORD_INDEXES: dict[str, sa.Table] = {}

_FTS5 = (
    "CREATE VIRTUAL TABLE {name} USING fts5"
    "(tenant_id UNINDEXED, words, detail = 'column', columnsize = 0, tokenize = 'ascii')"
)


def word_index(name: str) -> sa.Table:
    """Declare an index: `rowid` is what SQLite calls a row's number, so it is called that everywhere."""
    words = sa.Column("words", sa.Text().with_variant(postgresql.TSVECTOR(), "postgresql"), nullable=False)
    made = sa.Table(
        name,
        metadata,
        sa.Column("rowid", sa.BigInteger(), primary_key=True, autoincrement=False),
        sa.Column("tenant_id", Text, nullable=False),
        words,
        # No list of pending entries: every search would go through what others have just added.
        sa.Index(
            f"ix_{name}_words", words, postgresql_using="gin", postgresql_with={"fastupdate": "off"}
        ).ddl_if(dialect="postgresql"),
    )
    WORD_INDEXES[name] = made
    return made


def sqlite_form(name: str) -> str:
    """The index as SQLite is told of it."""
    return _FTS5.format(name=name)


def has_word(index: sa.Table, word: Any) -> sa.ColumnElement[bool]:
    """A condition on rows of the index; `word` is a parameter, and its value ASCII letters."""
    return index.c.words.match(word, postgresql_regconfig="simple")
