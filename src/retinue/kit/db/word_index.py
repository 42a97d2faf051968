"""A full-text index as a table that the fence knows: FTS5 on SQLite, `tsvector` with GIN on PostgreSQL.

A row is a number, its tenant and its words. The caller has made the words of ASCII letters and put blanks
between them, so neither database has anything left to take apart or to read as a command. Who asks for a
word gets the numbers of the rows that have it. Ranking is the caller's, because both databases would count
the rows of all tenants for it, and take longer the more the others have.
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


class _Beginnings(sa.ColumnElement[bool]):
    inherit_cache = False
    type = sa.Boolean()

    def __init__(self, words: sa.ColumnElement[Any], name: str) -> None:
        self.words = words
        self.given = sa.bindparam(name, type_=sa.Text())

    def self_group(self, against: Any = None) -> Any:  # noqa: ARG002
        """Without this, SQLAlchemy compares the condition with 1 on SQLite, and no index is used for it."""
        return self

    def get_children(self, **_: Any) -> Any:
        return (self.words, self.given)


def has_beginnings(index: sa.Table, name: str) -> sa.ColumnElement[bool]:
    """Whether a row has a word with each of some beginnings: `name` is a parameter, of `beginnings(…)`."""
    return _Beginnings(index.c.words, name)


def beginnings(dialect: str, words: Iterable[str]) -> str:
    """The value of a parameter of `has_beginnings`; words are letters and digits, of any script."""
    if dialect == "postgresql":
        return " & ".join(f"'{word}':*" for word in words)
    return " AND ".join(f"{word}*" for word in words)


# The fence looks at a statement before it knows the database.
@compiles(_Beginnings)
def _for_sqlite(element: _Beginnings, compiler: SQLCompiler, **how: Any) -> str:
    words, given = compiler.process(element.words, **how), compiler.process(element.given, **how)
    return f"{words} MATCH {given}"


@compiles(_Beginnings, "postgresql")
def _for_postgresql(element: _Beginnings, compiler: SQLCompiler, **how: Any) -> str:
    """As it is written: PostgreSQL's parser would take words apart that are whole here."""
    words, given = compiler.process(element.words, **how), compiler.process(element.given, **how)
    return f"{words} @@ CAST(CAST({given} AS text) AS tsquery)"
