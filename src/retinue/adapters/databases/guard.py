"""The check of one SQL statement on its tree: everything in it must be known to be harmless.

What is executed is written anew from the tree, so nothing the parser skipped or misread reaches a server.
"""

import re
from collections.abc import Iterable
from typing import Any

from sqlglot import exp
from sqlglot.errors import ErrorLevel, SqlglotError
from sqlglot.tokenizer_core import Token, TokenType

from retinue.adapters.databases.connection import DbType
from retinue.adapters.databases.dialects import DIALECTS, pieces
from retinue.adapters.databases.errors import QueryNotAllowed
from retinue.adapters.databases.functions import FUNCTIONS
from retinue.adapters.databases.grammar import LABELS, NODES, TYPES, is_readable, is_writable
from retinue.adapters.databases.parameters import bind
from retinue.adapters.databases.query import Operation, Query
from retinue.adapters.databases.vocabulary import check_text

MAX_LENGTH = 20_000
# A token costs some 30 microseconds, on the event loop.
MAX_TOKENS = 4_000
# The parser copies what stands before each of these, so that a thousand would take minutes.
MAX_COSTLY_TOKENS = 100
_COSTLY = {TokenType.L_BRACKET, TokenType.ARROW, TokenType.DARROW}

_ROOTS: dict[type[exp.Expr], Operation] = {
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
# Nodes whose own text is a value, a name or a parameter's number.
_TEXTS = (exp.Literal, exp.RawString, exp.Identifier, exp.HexString, exp.BitString, exp.Placeholder)
_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?|\.[0-9]+(?:[eE][+-]?[0-9]+)?", re.ASCII)
_KEYWORDS = re.compile(r"[A-Za-z_][A-Za-z0-9_ ]{0,63}", re.ASCII)
_WORDS = re.compile("(?<=[a-z])(?=[A-Z])")


def check(
    sql: str,
    params: Any = None,
    *,
    db_type: DbType,
    allowed: Iterable[str],
    operation: str | None = None,
) -> Query:
    """Read one statement, refuse it unless all of it is allowed, and bind its parameters."""
    statement = _only_statement(sql, db_type)
    kind = _operation(statement, frozenset(allowed))
    if operation is not None and kind != operation:
        raise QueryNotAllowed(f"The statement is {kind.upper()}, but the operation says {operation[:20]}.")
    arguments = bind(statement, params)
    _check_tree(statement, db_type, frozenset(allowed))
    written = _written(statement, db_type)
    check_text(written, db_type)
    texts, order = pieces(written)
    if len(order) != sum(isinstance(node, exp.Placeholder) for node in statement.walk()):
        raise QueryNotAllowed("The statement's parameters could not be read.")
    return Query(db_type, kind, texts, order, arguments)


def _only_statement(sql: str, db_type: DbType) -> exp.Expr:
    if len(sql) > MAX_LENGTH:
        raise QueryNotAllowed(f"The statement is longer than {MAX_LENGTH} characters; bind large values.")
    if "\0" in sql:
        raise QueryNotAllowed("The statement has a character that no statement may have.")
    dialect = DIALECTS[db_type]
    try:
        tokens = dialect.tokenize(sql)
        _check_tokens(tokens)
        found = dialect.parser(error_level=ErrorLevel.IMMEDIATE).parse(tokens, sql)
    except SqlglotError:
        raise QueryNotAllowed("The statement could not be read; it may not be valid SQL.") from None
    except RecursionError:
        raise QueryNotAllowed("The statement is nested too deeply.") from None
    statements = [statement for statement in found if statement and not isinstance(statement, exp.Semicolon)]
    if len(statements) != 1:
        raise QueryNotAllowed("There must be exactly one statement.")
    return statements[0]


def _check_tokens(tokens: list[Token]) -> None:
    costly = sum(token.token_type in _COSTLY for token in tokens)
    if len(tokens) > MAX_TOKENS or costly > MAX_COSTLY_TOKENS:
        raise QueryNotAllowed("The statement is too long; bind large lists as parameters.")
    if any(comment.startswith(("!", "M!")) for token in tokens for comment in token.comments):
        raise QueryNotAllowed("The statement has a comment that a server would execute.")


def _operation(statement: exp.Expr, allowed: frozenset[str]) -> Operation:
    kind = _ROOTS.get(type(statement))
    if kind is None:
        raise QueryNotAllowed("Only SELECT, INSERT, UPDATE and DELETE statements can be allowed.")
    if kind not in allowed:
        raise QueryNotAllowed(f"{kind.upper()} is not among the allowed operations.")
    return kind


def _check_tree(statement: exp.Expr, db_type: DbType, allowed: frozenset[str]) -> None:
    is_read = _ROOTS[type(statement)] == "select"
    for node in statement.walk():
        if type(node).__name__ not in NODES[db_type]:
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
        _check_words(node)


def _label(node: exp.Expr) -> str:
    name = type(node).__name__
    return LABELS.get(name) or _WORDS.sub(" ", name).upper()


def _check_function(call: exp.Anonymous, db_type: DbType) -> None:
    if not isinstance(call.this, str):
        raise QueryNotAllowed("A function's name may be neither quoted nor qualified.")
    if call.this.lower() not in FUNCTIONS[db_type]:
        raise QueryNotAllowed(f"The function {call.this[:60]} is not allowed.")


def _check_table(table: exp.Table, db_type: DbType, *, is_read: bool) -> None:
    if table.catalog or (isinstance(table.this, exp.Func) and table.db):
        raise QueryNotAllowed("A table's name may have one schema in front, a function's name none.")
    may_use = is_readable if is_read else is_writable
    if not isinstance(table.this, exp.Identifier | exp.Func | None):
        raise QueryNotAllowed("A table must be given by its name.")
    if isinstance(table.this, exp.Identifier) and not may_use(db_type, table.db, table.name):
        raise QueryNotAllowed(f"The table {table.name[:60]} belongs to the server and may not be used.")


def _check_insert(insert: exp.Insert, allowed: frozenset[str]) -> None:
    conflict = insert.args.get("conflict")
    if insert.args.get("alternative") or insert.args.get("overwrite"):
        raise QueryNotAllowed("An INSERT may not replace rows.")
    if conflict and conflict.expressions and "update" not in allowed:
        raise QueryNotAllowed("This INSERT may update rows, and UPDATE is not among the allowed operations.")


def _check_leaf(node: exp.Expr, db_type: DbType) -> None:
    """The nodes whose text is written as it is, and those whose text could be misread."""
    if isinstance(node, exp.Literal | exp.RawString) and "\0" in node.this:
        # MySQL's '\0'; between two of them a number would look like a parameter of ours.
        raise QueryNotAllowed("The statement has a character that no statement may have.")
    if isinstance(node, exp.Literal) and not node.is_string and not _NUMBER.fullmatch(node.this):
        raise QueryNotAllowed("The statement has a number in a form that is not allowed.")
    last = (
        node.expression if isinstance(node, exp.Dot) else node.this if isinstance(node, exp.Column) else None
    )
    if not isinstance(last, exp.Identifier | exp.Star | None):
        raise QueryNotAllowed("A function's name may be neither quoted nor qualified.")
    if isinstance(node, exp.HexString | exp.BitString) and not re.fullmatch("[0-9A-Fa-f]*", node.this):
        raise QueryNotAllowed("The statement has a number in a form that is not allowed.")
    if isinstance(node, exp.Identifier) and not (node.this.isprintable() and 0 < len(node.this) <= 128):
        raise QueryNotAllowed("The statement has a name that no table or column may have.")
    if isinstance(node, exp.DataType) and getattr(node.this, "value", "") not in TYPES:
        raise QueryNotAllowed("The statement casts to a type that is not allowed.")
    if isinstance(node, exp.Interval) and db_type == "postgresql" and not isinstance(node.this, exp.Literal):
        raise QueryNotAllowed("An INTERVAL must be a constant; multiply one instead: :n * INTERVAL '1 day'.")
    if isinstance(node, exp.Select) and node.args.get("operation_modifiers"):
        raise QueryNotAllowed("The statement may not use modifiers of SELECT.")


def _check_words(node: exp.Expr) -> None:
    """Text in a tree that is neither a value nor a name is a keyword, and must look like one."""
    if isinstance(node, _TEXTS):
        return
    for value in node.args.values():
        for part in value if isinstance(value, list) else [value]:
            if isinstance(part, str) and part and not _KEYWORDS.fullmatch(part):
                raise QueryNotAllowed("The statement has a part that could not be understood.")


def _written(statement: exp.Expr, db_type: DbType) -> str:
    try:
        return DIALECTS[db_type].generate(
            statement, comments=False, normalize_functions=False, unsupported_level=ErrorLevel.RAISE
        )
    except SqlglotError:
        raise QueryNotAllowed("The statement uses something this database does not have.") from None
    except RecursionError:
        raise QueryNotAllowed("The statement is nested too deeply.") from None
