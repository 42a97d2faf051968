"""The tenancy fence: narrows every statement to one tenant and refuses those it cannot narrow (ADR 4).

It rewrites the statement's tree once, at compilation. Every SELECT, UPDATE and DELETE at any depth gets
`tenant_id = :fence_tenant` for each tenant-owned table it reads or writes. Raw text, unknown tables and
inserts that cannot be stamped with the tenant are refused.
"""

from typing import Any

import sqlalchemy as sa
from sqlalchemy.sql import visitors

from retinue.kit.db.models import metadata

TENANT_PARAMETER = "fence_tenant"


class FenceRefused(RuntimeError):
    """A statement cannot be confined to one tenant; always a programming error, never the caller's."""


def narrow_to_tenant(statement: Any) -> Any:
    """Return the statement narrowed to the tenant bound as `fence_tenant`."""
    _refuse_unknown(statement)
    if isinstance(statement, sa.Insert):
        return _stamp_tenant(statement)
    narrowed = visitors.replacement_traverse(statement, {"stop_on": []}, _narrow_inner(statement))
    return _narrow(narrowed)


def _refuse_unknown(statement: Any) -> None:
    for element in visitors.iterate(statement):
        if _is_raw(element):
            raise FenceRefused("raw SQL text cannot be narrowed to a tenant")
        if isinstance(element, sa.Table) and element.metadata is not metadata:
            raise FenceRefused(f"unknown table {element.name}")
        if type(element) is sa.TableClause:
            raise FenceRefused(f"unknown table {element.name}")
        if isinstance(element, sa.Insert) and element is not statement:
            raise FenceRefused("an insert inside another statement cannot be stamped with the tenant")


def _is_raw(element: object) -> bool:
    """Return whether the element is raw text: alone, as a column, or as a prefix or suffix."""
    if isinstance(element, sa.TextClause | sa.TextualSelect):
        return True
    if isinstance(element, sa.sql.elements.ColumnClause) and element.is_literal:
        return element.name != "*"
    return bool(getattr(element, "_prefixes", ()) or getattr(element, "_suffixes", ()))


def _narrow_inner(outermost: object) -> Any:
    def replace(element: object, **_: Any) -> Any:
        if element is outermost or not isinstance(element, sa.Select | sa.Update | sa.Delete):
            return None
        return narrow_to_tenant(element)

    return replace


def _narrow(statement: object) -> Any:
    if isinstance(statement, sa.Select):
        return _narrow_select(statement)
    if isinstance(statement, sa.Update | sa.Delete):
        return _narrow_change(statement)
    if isinstance(statement, sa.CompoundSelect):
        return statement
    raise FenceRefused(f"{type(statement).__name__} cannot be narrowed to a tenant")


def _narrow_select(statement: sa.Select[Any]) -> sa.Select[Any]:
    for source in statement.get_final_froms():
        statement = statement.where(*_conditions(source))
    return statement


def _narrow_change(statement: Any) -> Any:
    values = dict(getattr(statement, "_ordered_values", None) or getattr(statement, "_values", None) or {})
    if isinstance(statement, sa.Update) and not values:
        raise FenceRefused("an update must name the columns it sets")
    if any(getattr(column, "key", column) == "tenant_id" for column in values):
        raise FenceRefused("a row cannot change its tenant")
    parts = (*statement._where_criteria, *values.values())  # noqa: SLF001  no public accessor
    sources = {source for part in parts for source in getattr(part, "_from_objects", ())}
    if sources - {statement.table}:
        raise FenceRefused("another table must be read in a subquery, which can be narrowed")
    return statement.where(*_conditions(statement.table))


def _stamp_tenant(statement: sa.Insert) -> sa.Insert:
    nested = sa.sql.selectable.SelectBase | sa.sql.dml.UpdateBase
    for element in visitors.iterate(statement):
        if element is not statement and isinstance(element, nested):
            raise FenceRefused("an insert that reads other rows cannot be stamped with the tenant")
    table = statement.table
    if "tenant_id" not in table.c:
        return statement
    _refuse_foreign_conflict(statement)
    return statement.values(tenant_id=sa.bindparam(TENANT_PARAMETER, type_=table.c.tenant_id.type))


def _refuse_foreign_conflict(statement: sa.Insert) -> None:
    """Refuse an `ON CONFLICT DO UPDATE` that could change another tenant's row."""
    clause: Any = statement._post_values_clause  # noqa: SLF001  no public accessor
    if not hasattr(clause, "update_values_to_set"):
        return
    target = {getattr(column, "key", column) for column in clause.inferred_target_elements or ()}
    changed = {getattr(column, "key", column) for column in dict(clause.update_values_to_set)}
    if "tenant_id" not in target or "tenant_id" in changed:
        raise FenceRefused("the conflict may be with another tenant's row")


def _conditions(source: Any) -> list[Any]:
    if isinstance(source, sa.sql.selectable.Join):
        if source.isouter or source.full:
            raise FenceRefused("an outer join must be written as a join of narrowed subqueries")
        return [*_conditions(source.left), *_conditions(source.right)]
    target = source
    while isinstance(target, sa.sql.selectable.AliasedReturnsRows):
        target = target.element
    if isinstance(target, sa.Table) and "tenant_id" in target.c:
        return [source.c.tenant_id == sa.bindparam(TENANT_PARAMETER, type_=target.c.tenant_id.type)]
    return []
