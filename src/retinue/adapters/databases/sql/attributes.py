"""Names after a dot that PostgreSQL may treat as function calls: `t.f` means `f(t)`, `(x).f` means `f(x)`.

A column takes precedence over a function of the same name, but only the server knows the columns. So the
guard collects the names that no allow-list covers, and the connection looks them up in the catalogue before
it executes the statement.
"""

from sqlglot import exp

from retinue.adapters.databases.connection import DbType
from retinue.adapters.databases.sql.functions import ALLOWED_FUNCTIONS
from retinue.adapters.databases.sql.query import Attribute

MAX_NAME_BYTES = 63  # PostgreSQL truncates longer names
# Casts in function form. They only compute, and their names are common column names.
_CASTS = """
bit bool box bpchar char cidr circle date float4 float8 inet int2 int4 int8 interval json jsonb line lseg
macaddr money name numeric path point polygon text time timestamp timestamptz timetz uuid varbit varchar xml
"""
_HARMLESS_FUNCTIONS = ALLOWED_FUNCTIONS["postgresql"] | frozenset(_CASTS.split())


def find_possible_calls(statement: exp.Expr, db_type: DbType) -> tuple[Attribute, ...]:
    """Return names after a dot that would call a function outside the allow-list unless they are columns."""
    if db_type != "postgresql":
        return ()
    sources = _QualifierSources(statement)
    attributes: dict[Attribute, None] = {}
    for node in statement.walk():
        name = node.expression if isinstance(node, exp.Dot) else node.this
        if not isinstance(name, exp.Identifier):
            continue
        if isinstance(node, exp.Dot):
            relations: set[str] = {""}
        elif isinstance(node, exp.Column) and node.table:
            relations = sources.relations(node)
        else:
            continue
        for spelling in _spellings(name) - _HARMLESS_FUNCTIONS:
            attributes |= dict.fromkeys(Attribute(spelling, relation) for relation in relations)
    return tuple(attributes)


class _QualifierSources:
    """Maps the qualifiers of a statement to their sources, regardless of the subquery they occur in."""

    def __init__(self, statement: exp.Expr) -> None:
        self._tables: dict[str, set[str]] = {}
        self._outputs: dict[str, set[str]] = {}
        self._opaque: set[str] = set()
        queries = {_fold_case(cte.args["alias"].this) for cte in statement.find_all(exp.CTE)}
        for table in statement.find_all(exp.Table):
            self._add_table(table, queries)
        for alias in statement.find_all(exp.TableAlias):
            if alias.this is not None and not isinstance(alias.parent, exp.Table):
                self._add_query(alias)

    def _add_table(self, table: exp.Table, queries: set[str]) -> None:
        alias = table.args.get("alias")
        name = alias.this if alias is not None and alias.this is not None else table.this
        if not isinstance(name, exp.Identifier):
            # A function without an alias is referred to by its own name.
            self._opaque.add(str(name.name if isinstance(name, exp.Func) else name).lower())
            return
        is_plain = isinstance(table.this, exp.Identifier) and not (alias is not None and alias.columns)
        if not is_plain:
            self._opaque.add(_fold_case(name))
        elif not table.db and _fold_case(table.this) in queries:
            if alias is not None:
                # An alias of a query: its columns are not traced any further.
                self._opaque.add(_fold_case(name))
        else:
            self._tables.setdefault(_fold_case(name), set()).add(_relation(table.this, table.args.get("db")))

    def _add_query(self, alias: exp.TableAlias) -> None:
        name, query = _fold_case(alias.this), alias.parent
        inner = query.this if isinstance(query, exp.CTE | exp.Subquery) else None
        is_known = isinstance(inner, exp.Query) and not alias.columns and not inner.is_star
        if not is_known or name in self._outputs:
            self._opaque.add(name)
        else:
            assert isinstance(inner, exp.Query)
            self._outputs[name] = set(inner.named_selects)

    def relations(self, column: exp.Column) -> set[str]:
        """Return the tables that a column may come from; empty if it is known to be a query's own."""
        qualifier = column.args["table"]
        if column.args.get("db") is not None:
            return {_relation(qualifier, column.args["db"]) if not column.catalog else ""}
        name = _fold_case(qualifier)
        if name in self._opaque:
            return {""}
        relations = set(self._tables.get(name, ()))
        if name in self._outputs and column.name not in self._outputs[name]:
            relations.add("")
        return relations if relations or name in self._outputs else {""}


def _fold_case(name: exp.Identifier) -> str:
    return str(name.this if name.args.get("quoted") else name.this.lower())


def _spellings(name: exp.Identifier) -> set[str]:
    """Return the possible readings by the server: its locale decides how it folds letters beyond ASCII."""
    spellings = {str(name.this), _fold_case(name)} if not name.args.get("quoted") else {str(name.this)}
    return {text.encode()[:MAX_NAME_BYTES].decode(errors="ignore") for text in spellings}


def _relation(table: exp.Identifier, schema: exp.Identifier | None) -> str:
    parts = [part for part in (schema, table) if part is not None]
    return ".".join('"' + _fold_case(part).replace('"', '""') + '"' for part in parts)
