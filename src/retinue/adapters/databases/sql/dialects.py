"""sqlglot's three dialects, changed so that generated SQL equals the parsed SQL exactly.

Imported with the first statement, because sqlglot takes 0.2 seconds to load.
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
from retinue.kit.json_types import JsonObject

# sqlglot logs statements it cannot parse, and these may contain sensitive data.
logging.getLogger("sqlglot").setLevel(logging.CRITICAL)

# Functions with their own syntax; all other calls keep their name and arguments as written.
_OWN_SYNTAX = {"CAST", "EXTRACT", "OVERLAY", "POSITION", "SUBSTRING", "TRIM"}
_PARAMETER_MARK = re.compile("\0([0-9]+)\0")


def _function_parsers(base: type[Parser], *names: str) -> dict[str, Callable[..., Any]]:
    return {name: base.FUNCTION_PARSERS[name] for name in (*_OWN_SYNTAX, *names)}


def _question_mark(parser: Any) -> exp.Expr:
    """Name an unnamed parameter after its position, which the tree does not record."""
    return exp.Placeholder(this=f"?{parser._prev.start}")  # noqa: SLF001 - part of the parser


def _percent_s(parser: Any) -> exp.Expr | None:
    """Parse `%s`, the parameter style of many Python drivers."""
    return _question_mark(parser) if parser._match_text_seq("S") else None  # noqa: SLF001 - as above


_PLACEHOLDERS = {
    **Parser.PLACEHOLDER_PARSERS,
    TokenType.PLACEHOLDER: _question_mark,
    TokenType.MOD: _percent_s,
}


def _quoted(text: str, quote: str) -> str:
    return f"{quote}{text.replace(quote, quote * 2)}{quote}"


# An arrow between arguments accesses JSON here; elsewhere it would create a lambda.
_NAMED_ARGUMENTS = {TokenType.FARROW: Parser.LAMBDAS[TokenType.FARROW]}


class _ExactGenerator:
    """Generates everything chosen by the user in a form that no server can misread."""

    quote = '"'

    def literal_sql(self, expression: exp.Literal) -> str:
        return self.string(expression.this) if expression.is_string else str(expression.this)

    def rawstring_sql(self, expression: exp.RawString) -> str:
        return self.string(expression.this)

    def identifier_sql(self, expression: exp.Identifier) -> str:
        keyword = "" if expression.quoted else self.keyword(expression)
        return keyword or _quoted(self.folded(expression), self.quote)

    def keyword(self, expression: exp.Identifier) -> str:
        """Return the keyword if the parser mistook one for a name."""
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


def _json_extract(kind: type[exp.Binary]) -> Callable[..., exp.Expr]:
    return lambda parser, this, path: parser.expression(kind(this=this, expression=path))


class GuardedPostgres(Postgres):
    class Parser(PostgresParser):
        LAMBDAS: ClassVar[dict[TokenType, Any]] = _NAMED_ARGUMENTS
        FUNCTIONS: ClassVar[JsonObject] = {}
        FUNCTION_PARSERS = _function_parsers(PostgresParser)
        PLACEHOLDER_PARSERS = _PLACEHOLDERS
        JSON_OPERATORS = {
            **PostgresParser.JSON_OPERATORS,
            TokenType.ARROW: _json_extract(exp.JSONExtract),
            TokenType.DARROW: _json_extract(exp.JSONExtractScalar),
        }

    class Generator(_ExactGenerator, PostgresGenerator):
        TRANSFORMS = {
            **PostgresGenerator.TRANSFORMS,
            exp.JSONExtract: _arrow("->"),
            exp.JSONExtractScalar: _arrow("->>"),
            exp.Pow: _arrow("^"),
        }

        def folded(self, expression: exp.Identifier) -> str:
            # PostgreSQL folds the case of unquoted names; since we quote all names, we fold it here.
            return expression.this if expression.quoted else _ascii_lower(expression.this)


class GuardedMySQL(MySQL):
    class Parser(MySQLParser):
        LAMBDAS: ClassVar[dict[TokenType, Any]] = {}
        # The first argument is a unit, not a column.
        FUNCTIONS = {name: MySQLParser.FUNCTIONS[name] for name in ("TIMESTAMPADD", "TIMESTAMPDIFF")}
        FUNCTION_PARSERS = _function_parsers(
            MySQLParser, "CONVERT", "GROUP_CONCAT", "MATCH", "SUBSTR", "VALUES"
        )
        PLACEHOLDER_PARSERS = _PLACEHOLDERS

    class Generator(_ExactGenerator, MySQLGenerator):
        quote = "`"
        # MariaDB supports neither ->> nor REGEXP_LIKE().
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
        FUNCTIONS: ClassVar[JsonObject] = {}
        FUNCTION_PARSERS = _function_parsers(SQLiteParser)
        PLACEHOLDER_PARSERS = _PLACEHOLDERS

    class Generator(_ExactGenerator, SQLiteGenerator):
        # In double quotes, SQLite would treat an unknown column as a string.
        quote = "`"

    def to_json_path(self, path: exp.Expr | None) -> exp.Expr | None:
        return path


DIALECTS: dict[DbType, Dialect] = {
    "postgresql": GuardedPostgres(),
    "mysql": GuardedMySQL(),
    "sqlite": GuardedSQLite(),
}


def _ascii_lower(name: str) -> str:
    return "".join(letter.lower() if letter.isascii() else letter for letter in name)


def split_at_parameters(sql: str) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """Return the texts around the parameters, and the parameters' numbers in order."""
    parts = _PARAMETER_MARK.split(sql)
    return tuple(parts[::2]), tuple(int(number) for number in parts[1::2])
