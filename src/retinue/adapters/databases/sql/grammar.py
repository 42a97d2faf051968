"""The allowed parts of a statement: kinds of nodes, types of casts, and tables."""

import unicodedata

from retinue.adapters.databases.connection import DbType

_COMMON = """
Add Alias All And Anonymous Any Between BitwiseAnd BitwiseLeftShift BitwiseNot BitwiseOr BitwiseRightShift
BitwiseXor Boolean CTE Case Cast Collate Column Cube CurrentDate CurrentTime CurrentTimestamp DataType
DataTypeParam Delete Distinct Div Dot EQ Escape Except Exists Extract Fetch Filter From GT GTE Group
GroupingSets Having Identifier If IgnoreNulls In Insert Intersect Is JSONExtract JSONExtractScalar Join LT
LTE Like Limit LimitOptions Literal Localtime Localtimestamp Mod Mul NEQ Neg Not Null NullSafeEQ NullSafeNEQ
Offset OnConflict Or Order Ordered Overlay Paren Placeholder Pow RegexpILike RegexpLike RespectNulls
Returning Rollup Schema Select Star StrPosition Sub Subquery Substring Table TableAlias Trim Tuple Union
Update Values Var Where Window WindowSpec With WithinGroup
"""
_POSTGRESQL = """
Array ArrayContainedBy ArrayContainsAll ArrayOverlaps AtTimeZone Bracket DPipe Distance ILike Interval
JSONBContainsAllTopKeys JSONBContainsAnyTopKeys JSONBContainsTopKey JSONBDeleteAtPath JSONBExtract
JSONBExtractScalar Kwarg Lateral MatchAgainst RawString SimilarTo Slice Unnest
"""
_MYSQL = """
BitString GroupConcat HexString IntDiv Interval JSONArrayContains MatchAgainst TimestampAdd TimestampDiff
Xor
"""
_SQLITE = "DPipe Glob HexString Match"
_TYPES = """
ARRAY BIGINT BINARY BLOB BOOLEAN BPCHAR CHAR CHARACTER_SET DATE DATERANGE DATETIME DECIMAL DOUBLE FLOAT INET
INT INT4RANGE INT8RANGE INTERVAL JSON JSONB LONGTEXT MEDIUMINT MEDIUMTEXT MONEY NCHAR NUMRANGE NVARCHAR
SMALLINT TEXT TIME TIMESTAMP TIMESTAMPNTZ TIMESTAMPTZ TIMETZ TINYINT TINYTEXT TSRANGE TSTZRANGE UBIGINT
UDECIMAL UINT UMEDIUMINT USMALLINT UTINYINT UUID VARBINARY VARCHAR VECTOR YEAR
"""
# The catalogue tables that list tables and columns; the server limits them to what the login may see.
_READABLE_CATALOGUE = """
check_constraints columns constraint_column_usage key_column_usage referential_constraints schemata
statistics table_constraints tables
"""

ALLOWED_NODES: dict[DbType, frozenset[str]] = {
    "postgresql": frozenset(f"{_COMMON} {_POSTGRESQL}".split()),
    "mysql": frozenset(f"{_COMMON} {_MYSQL}".split()),
    "sqlite": frozenset(f"{_COMMON} {_SQLITE}".split()),
}
ALLOWED_TYPES = frozenset(_TYPES.split())

# Names of nodes in error messages; others are derived from the class name.
NODE_LABELS = {
    "Into": "SELECT … INTO",
    "Lock": "FOR UPDATE or another lock",
    "SessionParameter": "a server variable",
    "Parameter": "a variable",
    "PropertyEQ": "an assignment",
    "Hint": "a hint",
    "IndexTableHint": "a hint",
    "ByteString": "a string with escapes (write the characters, or bind it)",
    "UnicodeString": "a string with escapes (write the characters, or bind it)",
    "ObjectIdentifier": "a cast to an object identifier",
    "Operator": "a qualified operator",
}

_READABLE_CATALOGUE_TABLES = frozenset(_READABLE_CATALOGUE.split())
_SQLITE_READABLE = frozenset({"sqlite_master", "sqlite_schema", "sqlite_sequence"})
_SQLITE_MODULES = ("sqlite_", "pragma_", "fts3tokenize")
_SQLITE_INTERNALS = frozenset({"bytecode", "tables_used", "dbstat", "completion"})
_MYSQL_SYSTEM = frozenset({"mysql", "sys", "performance_schema", "information_schema"})


def is_system_schema(db_type: DbType, schema: str) -> bool:
    name = _fold_case(schema)
    if db_type == "postgresql":
        return name.startswith("pg_") or name == "information_schema"
    return db_type == "mysql" and name in _MYSQL_SYSTEM


def is_readable(db_type: DbType, schema: str, table: str) -> bool:
    """Return whether a table may be read; of the server's own, only lists of tables and columns may."""
    name = _fold_case(table)
    if is_system_schema(db_type, schema):
        return _fold_case(schema) == "information_schema" and name in _READABLE_CATALOGUE_TABLES
    if db_type == "postgresql":
        # Without a schema, these resolve to pg_catalog before any user table.
        return bool(schema) or not name.startswith("pg_")
    if db_type == "sqlite":
        is_internal = name.startswith(_SQLITE_MODULES) or name in _SQLITE_INTERNALS
        return name in _SQLITE_READABLE or not is_internal
    return True


def is_writable(db_type: DbType, schema: str, table: str) -> bool:
    if is_system_schema(db_type, schema) or (db_type == "sqlite" and _fold_case(table).startswith("sqlite_")):
        return False
    return is_readable(db_type, schema, table)


def _fold_case(name: str) -> str:
    """Fold a name as servers do: they ignore case, and MySQL also ignores accents."""
    parts = unicodedata.normalize("NFKD", name.casefold())
    return "".join(letter for letter in parts if not unicodedata.combining(letter))
