"""sqlglot's three dialects, changed so that what is written is exactly what was read.

Imported at the first statement, because sqlglot takes a fifth of a second to load.
"""

import logging
import re
from collections.abc import Callable
from typing import Any, ClassVar

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.dialects.mysql import MySQL
from sqlglot.dialects.postgres import Postgres
from sqlglot.dialects.sqlite import SQLite
from sqlglot.generators.mysql import MySQLGenerator
from sqlglot.generators.postgres import PostgresGenerator
from sqlglot.generators.sqlite import SQLiteGenerator
from sqlglot.parser import Parser
from sqlglot.parsers.mysql import MySQLParser
from sqlglot.parsers.postgres import PostgresParser
from sqlglot.parsers.sqlite import SQLiteParser
from sqlglot.tokenizer_core import TokenType

from retinue.adapters.databases.connection import DbType

# sqlglot logs statements it cannot read, and a statement may hold anything.
logging.getLogger("sqlglot").setLevel(logging.CRITICAL)

# Functions with a syntax of their own; every other call keeps its name and arguments as they were written.
_OWN_SYNTAX = {"CAST", "EXTRACT", "OVERLAY", "POSITION", "SUBSTRING", "TRIM"}
_MARKED = re.compile("\0([0-9]+)\0")


def _parsers(base: type[Parser], *more: str) -> dict[str, Callable[..., Any]]:
    return {name: base.FUNCTION_PARSERS[name] for name in (*_OWN_SYNTAX, *more)}


def _question_mark(parser: Any) -> exp.Expr:
    """A parameter without a name is known by where it stands, which the tree alone would not tell."""
    return exp.Placeholder(this=f"?{parser._prev.start}")  # noqa: SLF001 - this is a part of the parser


def _percent_s(parser: Any) -> exp.Expr | None:
    """`%s`, as drivers for Python write a parameter."""
    return _question_mark(parser) if parser._match_text_seq("S") else None  # noqa: SLF001 - as above


_PLACEHOLDERS = {
    **Parser.PLACEHOLDER_PARSERS,
    TokenType.PLACEHOLDER: _question_mark,
    TokenType.MOD: _percent_s,
}


def _quoted(text: str, quote: str) -> str:
    return f"{quote}{text.replace(quote, quote * 2)}{quote}"


# An arrow between arguments reads JSON here; elsewhere it would make a lambda.
_NAMED_ARGUMENTS = {TokenType.FARROW: Parser.LAMBDAS[TokenType.FARROW]}


class _Exact:
    """The parts of a generator that write what a user chose, in the one form no server can misread."""

    quote = '"'

    def literal_sql(self, expression: exp.Literal) -> str:
        return self.string(expression.this) if expression.is_string else str(expression.this)

    def rawstring_sql(self, expression: exp.RawString) -> str:
        return self.string(expression.this)

    def identifier_sql(self, expression: exp.Identifier) -> str:
        keyword = "" if expression.quoted else self.keyword(expression)
        return keyword or _quoted(self.folded(expression), self.quote)

    def keyword(self, expression: exp.Identifier) -> str:
        """The reserved words that the parser takes for names."""
        column = expression.parent
        is_bare = isinstance(column, exp.Column) and not column.table
        return "DEFAULT" if is_bare and expression.this.upper() == "DEFAULT" else ""

    def folded(self, expression: exp.Identifier) -> str:
        return str(expression.this)

    def placeholder_sql(self, expression: exp.Placeholder) -> str:
        return f"\0{expression.this}\0"

    def string(self, text: str) -> str:
        return _quoted(text, "'")


def _arrow(operator: str) -> Callable[[Any, exp.Binary], str]:
    return lambda generator, expression: generator.binary(expression, operator)


def _extract(kind: type[exp.Binary]) -> Callable[..., exp.Expr]:
    return lambda parser, this, path: parser.expression(kind(this=this, expression=path))


class GuardedPostgres(Postgres):
    class Parser(PostgresParser):
        LAMBDAS: ClassVar[dict[TokenType, Any]] = _NAMED_ARGUMENTS
        FUNCTIONS: ClassVar[dict[str, Any]] = {}
        FUNCTION_PARSERS = _parsers(PostgresParser)
        PLACEHOLDER_PARSERS = _PLACEHOLDERS
        JSON_OPERATORS = {
            **PostgresParser.JSON_OPERATORS,
            TokenType.ARROW: _extract(exp.JSONExtract),
            TokenType.DARROW: _extract(exp.JSONExtractScalar),
        }

    class Generator(_Exact, PostgresGenerator):
        TRANSFORMS = {
            **PostgresGenerator.TRANSFORMS,
            exp.JSONExtract: _arrow("->"),
            exp.JSONExtractScalar: _arrow("->>"),
            exp.Pow: _arrow("^"),
        }

        def folded(self, expression: exp.Identifier) -> str:
            # PostgreSQL folds the case of what is not quoted; here everything is quoted in the end.
            return expression.this if expression.quoted else _lowered(expression.this)


class GuardedMySQL(MySQL):
    class Parser(MySQLParser):
        LAMBDAS: ClassVar[dict[TokenType, Any]] = {}
        # Their first argument is a unit, not a column.
        FUNCTIONS = {name: MySQLParser.FUNCTIONS[name] for name in ("TIMESTAMPADD", "TIMESTAMPDIFF")}
        FUNCTION_PARSERS = _parsers(MySQLParser, "CONVERT", "GROUP_CONCAT", "MATCH", "SUBSTR", "VALUES")
        PLACEHOLDER_PARSERS = _PLACEHOLDERS

    class Generator(_Exact, MySQLGenerator):
        quote = "`"
        # MariaDB knows neither ->> nor REGEXP_LIKE().
        TRANSFORMS = {
            **MySQLGenerator.TRANSFORMS,
            exp.JSONExtract: lambda self, e: f"JSON_EXTRACT({self.sql(e.this)}, {self.sql(e.expression)})",
            exp.JSONExtractScalar: lambda self, e: (
                f"JSON_UNQUOTE(JSON_EXTRACT({self.sql(e.this)}, {self.sql(e.expression)}))"
            ),
            exp.RegexpLike: _arrow("REGEXP"),
        }

        def keyword(self, expression: exp.Identifier) -> str:
            is_dual = isinstance(expression.parent, exp.Table) and expression.this.upper() == "DUAL"
            return "DUAL" if is_dual else super().keyword(expression)

        def string(self, text: str) -> str:
            return super().string(text.replace("\\", "\\\\"))

    def to_json_path(self, path: exp.Expr | None) -> exp.Expr | None:
        return path


class GuardedSQLite(SQLite):
    class Parser(SQLiteParser):
        LAMBDAS: ClassVar[dict[TokenType, Any]] = {}
        FUNCTIONS: ClassVar[dict[str, Any]] = {}
        FUNCTION_PARSERS = _parsers(SQLiteParser)
        PLACEHOLDER_PARSERS = _PLACEHOLDERS

    class Generator(_Exact, SQLiteGenerator):
        # In double quotes SQLite would take an unknown column for a string.
        quote = "`"

    def to_json_path(self, path: exp.Expr | None) -> exp.Expr | None:
        return path


DIALECTS: dict[DbType, Dialect] = {
    "postgresql": GuardedPostgres(),
    "mysql": GuardedMySQL(),
    "sqlite": GuardedSQLite(),
}


def _lowered(name: str) -> str:
    return "".join(letter.lower() if letter.isascii() else letter for letter in name)


def pieces(written: str) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """The text around the parameters, and their numbers in the order they stand."""
    parts = _MARKED.split(written)
    return tuple(parts[::2]), tuple(int(number) for number in parts[1::2])
