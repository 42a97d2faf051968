"""Checks one SQL statement on its syntax tree: every part must be known to be harmless.

The executed SQL is generated from the tree, so nothing the parser skipped or misread reaches a server.
"""

import re
from collections.abc import Iterable

from sqlglot import exp
from sqlglot.errors import ErrorLevel, SqlglotError
from sqlglot.tokenizer_core import Token, TokenType

from retinue.adapters.databases.connection import DbType
from retinue.adapters.databases.errors import QueryNotAllowed
from retinue.adapters.databases.sql.attributes import find_possible_calls
from retinue.adapters.databases.sql.dialects import DIALECTS, split_at_parameters
from retinue.adapters.databases.sql.functions import ALLOWED_FUNCTIONS
from retinue.adapters.databases.sql.grammar import (
    ALLOWED_NODES,
    ALLOWED_TYPES,
    NODE_LABELS,
    is_readable,
    is_writable,
)
from retinue.adapters.databases.sql.parameters import bind_parameters
from retinue.adapters.databases.sql.query import Operation, Query
from retinue.adapters.databases.sql.vocabulary import check_text

MAX_STATEMENT_LENGTH = 20_000
# A token costs about 30 microseconds on the event loop.
MAX_TOKENS = 4_000
# The parser copies everything before each of these, so a thousand would take minutes.
MAX_COSTLY_TOKENS = 100
_COSTLY_TOKENS = {TokenType.L_BRACKET, TokenType.ARROW, TokenType.DARROW}

_OPERATION_BY_ROOT: dict[type[exp.Expr], Operation] = {
    exp.Select: "select",
    exp.Union: "select",
    exp.Intersect: "select",
    exp.Except: "select",
    exp.Subquery: "select",
    exp.Values: "select",
    exp.Insert: "insert",
    exp.Update: "update",
    exp.Delete: "delete",
}
# Nodes whose text is a value, a name or a parameter number.
_TEXT_NODES = (exp.Literal, exp.RawString, exp.Identifier, exp.HexString, exp.BitString, exp.Placeholder)
_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?|\.[0-9]+(?:[eE][+-]?[0-9]+)?", re.ASCII)
_KEYWORD = re.compile(r"[A-Za-z_][A-Za-z0-9_ ]{0,63}", re.ASCII)
_CAMEL_CASE_BOUNDARY = re.compile("(?<=[a-z])(?=[A-Z])")


def check(
    sql: str,
    params: object = None,
    *,
    db_type: DbType,
    allowed: Iterable[str],
    operation: str | None = None,
) -> Query:
    """Parse one statement, reject it unless every part is allowed, and bind its parameters."""
    statement = _only_statement(sql, db_type)
    kind = _operation(statement, frozenset(allowed))
    if operation is not None and kind != operation:
        raise QueryNotAllowed(f"The statement is {kind.upper()}, but the operation is {operation[:20]}.")
    arguments = bind_parameters(statement, params)
    _check_tree(statement, db_type, frozenset(allowed))
    sql_text = _generate_sql(statement, db_type)
    check_text(sql_text, db_type)
    texts, order = split_at_parameters(sql_text)
    if len(order) != sum(isinstance(node, exp.Placeholder) for node in statement.walk()):
        raise QueryNotAllowed("The statement's parameters could not be parsed.")
    return Query(db_type, kind, texts, order, arguments, find_possible_calls(statement, db_type))


def _only_statement(sql: str, db_type: DbType) -> exp.Expr:
    if len(sql) > MAX_STATEMENT_LENGTH:
        raise QueryNotAllowed(
            f"The statement is longer than {MAX_STATEMENT_LENGTH} characters. Bind large values."
        )
    if "\0" in sql:
        raise QueryNotAllowed("The statement contains a NUL character.")
    dialect = DIALECTS[db_type]
    try:
        tokens = dialect.tokenize(sql)
        _check_tokens(tokens)
        parsed = dialect.parser(error_level=ErrorLevel.IMMEDIATE).parse(tokens, sql)
    except SqlglotError:
        raise QueryNotAllowed("The statement could not be parsed. Check its SQL syntax.") from None
    except RecursionError:
        raise QueryNotAllowed("The statement is nested too deeply.") from None
    statements = [statement for statement in parsed if statement and not isinstance(statement, exp.Semicolon)]
    if len(statements) != 1:
        raise QueryNotAllowed("Exactly one statement is required.")
    return statements[0]


def _check_tokens(tokens: list[Token]) -> None:
    costly = sum(token.token_type in _COSTLY_TOKENS for token in tokens)
    if len(tokens) > MAX_TOKENS or costly > MAX_COSTLY_TOKENS:
        raise QueryNotAllowed("The statement is too long. Bind large lists as parameters.")
    if any(comment.startswith(("!", "M!")) for token in tokens for comment in token.comments):
        raise QueryNotAllowed("The statement contains a comment that a server would execute.")


def _operation(statement: exp.Expr, allowed: frozenset[str]) -> Operation:
    kind = _OPERATION_BY_ROOT.get(type(statement))
    if kind is None:
        raise QueryNotAllowed("Only SELECT, INSERT, UPDATE and DELETE statements can be allowed.")
    if kind not in allowed:
        raise QueryNotAllowed(f"{kind.upper()} is not among the allowed operations.")
    return kind


def _check_tree(statement: exp.Expr, db_type: DbType, allowed: frozenset[str]) -> None:
    is_read = _OPERATION_BY_ROOT[type(statement)] == "select"
    for node in statement.walk():
        if type(node).__name__ not in ALLOWED_NODES[db_type]:
            raise QueryNotAllowed(f"The statement may not use {_label(node)}.")
        if isinstance(node, exp.Insert | exp.Update | exp.Delete) and node is not statement:
            raise QueryNotAllowed("Only the statement itself may change data, not a part of it.")
        if isinstance(node, exp.Anonymous):
            _check_function(node, db_type)
        elif isinstance(node, exp.Table):
            _check_table(node, db_type, is_read=is_read)
        elif isinstance(node, exp.Insert):
            _check_insert(node, allowed)
        else:
            _check_leaf(node, db_type)
        _check_keywords(node)


def _label(node: exp.Expr) -> str:
    name = type(node).__name__
    return NODE_LABELS.get(name) or _CAMEL_CASE_BOUNDARY.sub(" ", name).upper()


def _check_function(call: exp.Anonymous, db_type: DbType) -> None:
    if not isinstance(call.this, str):
        raise QueryNotAllowed("A function's name may be neither quoted nor qualified.")
    if call.this.lower() not in ALLOWED_FUNCTIONS[db_type]:
        raise QueryNotAllowed(f"The function {call.this[:60]} is not allowed.")


def _check_table(table: exp.Table, db_type: DbType, *, is_read: bool) -> None:
    if table.catalog or (isinstance(table.this, exp.Func) and table.db):
        raise QueryNotAllowed("A table name may have one schema prefix; a function name must have none.")
    may_use = is_readable if is_read else is_writable
    if not isinstance(table.this, exp.Identifier | exp.Func | None):
        raise QueryNotAllowed("A table must be referred to by its name.")
    if isinstance(table.this, exp.Identifier) and not may_use(db_type, table.db, table.name):
        raise QueryNotAllowed(f"The table {table.name[:60]} belongs to the server and may not be used.")


def _check_insert(insert: exp.Insert, allowed: frozenset[str]) -> None:
    conflict = insert.args.get("conflict")
    if insert.args.get("alternative") or insert.args.get("overwrite"):
        raise QueryNotAllowed("An INSERT may not replace rows.")
    if conflict and conflict.expressions and "update" not in allowed:
        raise QueryNotAllowed("This INSERT may update rows, and UPDATE is not among the allowed operations.")


def _check_leaf(node: exp.Expr, db_type: DbType) -> None:
    """Check nodes whose text is copied to the SQL or could be misread."""
    if isinstance(node, exp.Literal | exp.RawString) and "\0" in node.this:
        # MySQL's '\0'; a number between two of them would look like one of our parameter marks.
        raise QueryNotAllowed("The statement contains a NUL character.")
    if isinstance(node, exp.Literal) and not node.is_string and not _NUMBER.fullmatch(node.this):
        raise QueryNotAllowed("The statement contains a number in an unsupported format.")
    last = (
        node.expression if isinstance(node, exp.Dot) else node.this if isinstance(node, exp.Column) else None
    )
    if not isinstance(last, exp.Identifier | exp.Star | None):
        raise QueryNotAllowed("A function's name may be neither quoted nor qualified.")
    if isinstance(node, exp.HexString | exp.BitString) and not re.fullmatch("[0-9A-Fa-f]*", node.this):
        raise QueryNotAllowed("The statement contains a number in an unsupported format.")
    if isinstance(node, exp.Identifier) and not (node.this.isprintable() and 0 < len(node.this) <= 128):
        raise QueryNotAllowed("The statement contains an invalid table or column name.")
    if isinstance(node, exp.DataType) and getattr(node.this, "value", "") not in ALLOWED_TYPES:
        raise QueryNotAllowed("The statement casts to a type that is not allowed.")
    if isinstance(node, exp.Interval) and db_type == "postgresql" and not isinstance(node.this, exp.Literal):
        raise QueryNotAllowed("An INTERVAL must be a constant; multiply one instead: :n * INTERVAL '1 day'.")
    if isinstance(node, exp.Select) and node.args.get("operation_modifiers"):
        raise QueryNotAllowed("The statement may not use modifiers of SELECT.")


def _check_keywords(node: exp.Expr) -> None:
    """Check that text which is neither a value nor a name looks like a keyword."""
    if isinstance(node, _TEXT_NODES):
        return
    for value in node.args.values():
        for part in value if isinstance(value, list) else [value]:
            if isinstance(part, str) and part and not _KEYWORD.fullmatch(part):
                raise QueryNotAllowed("The statement contains a part that could not be parsed.")


def _generate_sql(statement: exp.Expr, db_type: DbType) -> str:
    try:
        return DIALECTS[db_type].generate(
            statement, comments=False, normalize_functions=False, unsupported_level=ErrorLevel.RAISE
        )
    except SqlglotError:
        raise QueryNotAllowed("The statement uses a feature that this database does not support.") from None
    except RecursionError:
        raise QueryNotAllowed("The statement is nested too deeply.") from None
