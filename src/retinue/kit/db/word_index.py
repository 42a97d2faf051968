"""A full-text index as a fenced table: FTS5 on SQLite, `tsvector` with GIN on PostgreSQL.

A row has a number, a tenant and words. The caller supplies words of ASCII letters separated by blanks, so
neither database tokenizes them or interprets them as query syntax. A search returns the numbers of matching
rows. The caller ranks them, because the databases' own ranking would include the rows of all tenants and
slow down with their number (docs/adr/0012-passages-are-ranked-in-the-process.md).
"""

from collections.abc import Iterable
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler

from retinue.kit.db.models import metadata
from retinue.kit.db.types import Text

WORD_INDEXES: dict[str, sa.Table] = {}

_FTS5 = (
    "CREATE VIRTUAL TABLE {name} USING fts5"
    "(tenant_id UNINDEXED, words, detail = 'column', columnsize = 0, tokenize = 'ascii')"
)


def word_index(name: str) -> sa.Table:
    """Declare an index; the row's number is named `rowid`, as SQLite requires."""
    words = sa.Column("words", sa.Text().with_variant(postgresql.TSVECTOR(), "postgresql"), nullable=False)
    index = sa.Table(
        name,
        metadata,
        sa.Column("rowid", sa.BigInteger(), primary_key=True, autoincrement=False),
        sa.Column("tenant_id", Text, nullable=False),
        words,
        # No pending list: every search would have to scan it.
        sa.Index(
            f"ix_{name}_words", words, postgresql_using="gin", postgresql_with={"fastupdate": "off"}
        ).ddl_if(dialect="postgresql"),
    )
    WORD_INDEXES[name] = index
    return index


def fts5_ddl(name: str) -> str:
    """Return the DDL of the index for SQLite."""
    return _FTS5.format(name=name)


def has_word(index: sa.Table, word: object) -> sa.ColumnElement[bool]:
    """Return the condition that a row has a word; `word` is a parameter whose value is ASCII letters."""
    return index.c.words.match(word, postgresql_regconfig="simple")


class _Prefixes(sa.ColumnElement[bool]):
    inherit_cache = False
    type = sa.Boolean()

    def __init__(self, words: sa.ColumnElement[Any], name: str) -> None:
        self.words = words
        self.given = sa.bindparam(name, type_=sa.Text())

    def self_group(self, against: object = None) -> Any:  # noqa: ARG002
        """Keep SQLAlchemy from comparing the condition with 1 on SQLite, which would prevent index use."""
        return self

    def get_children(self, **_: Any) -> Any:
        return (self.words, self.given)


def has_prefixes(index: sa.Table, name: str) -> sa.ColumnElement[bool]:
    """Return the condition that a row has words with all prefixes in the parameter (`prefix_query`)."""
    return _Prefixes(index.c.words, name)


def prefix_query(dialect: str, words: Iterable[str]) -> str:
    """Return the value of a parameter of `has_prefixes`; words are letters and digits of any script."""
    if dialect == "postgresql":
        return " & ".join(f"'{word}':*" for word in words)
    return " AND ".join(f"{word}*" for word in words)


# Also the default: the fence inspects a statement before its dialect is known.
@compiles(_Prefixes)
def _for_sqlite(element: _Prefixes, compiler: SQLCompiler, **options: Any) -> str:
    words, given = compiler.process(element.words, **options), compiler.process(element.given, **options)
    return f"{words} MATCH {given}"


@compiles(_Prefixes, "postgresql")
def _for_postgresql(element: _Prefixes, compiler: SQLCompiler, **options: Any) -> str:
    """Cast instead of calling `to_tsquery`, whose parser would split words."""
    words, given = compiler.process(element.words, **options), compiler.process(element.given, **options)
    return f"{words} @@ CAST(CAST({given} AS text) AS tsquery)"
