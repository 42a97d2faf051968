"""Statements that sum usage entries by time and group."""

import functools
from typing import Any

import sqlalchemy as sa

from retinue.kit.db.in_list import in_list
from retinue.kit.db.statements import Statement
from retinue.usage import periods
from retinue.usage.models import COUNTERS, UsageEntry
from retinue.usage.schemas import Granularity

MAX_ROWS = 5_000
GROUP_COLUMNS = {
    "agent": "agent_id",
    "model": "model",
    "user": "user_id",
    "embed_key": "embed_key_id",
    "tool": "tool_id",
    "channel": "channel",
}
_entries = UsageEntry.__table__
_tokens = _entries.c.prompt_tokens + _entries.c.completion_tokens
# Embedded models are free; of the others the price book knows which cost nothing.
_MAY_BE_UNPRICED = sa.and_(
    _entries.c.cost_usd == sa.literal(0.0),
    _tokens > sa.literal(0),
    _entries.c.model != sa.literal(""),
    _entries.c.model.not_like("local/%"),
)


@functools.cache
def sums_statement(granularity: Granularity, groups: tuple[str, ...], *, is_chosen: bool) -> Statement[Any]:
    """Sum every counter, and last the tokens that cost nothing; `ids` are the chosen values of the group."""
    costless = sa.case((_MAY_BE_UNPRICED, _tokens), else_=sa.literal(0)).label("costless_tokens")
    entries = _entries_in_period(granularity, groups, is_chosen=is_chosen, more=[costless])
    columns = [entries.c.start, *(entries.c[GROUP_COLUMNS[name]] for name in groups)]
    sums = [sa.func.sum(entries.c[name]) for name in (*COUNTERS, costless.name)]
    query = sa.select(*columns, *sums).group_by(*columns).order_by(*columns).limit(MAX_ROWS + 1)
    return Statement(query, heavy=True)


@functools.cache
def costless_statement(
    granularity: Granularity, groups: tuple[str, ...], *, is_chosen: bool
) -> Statement[Any]:
    """Sum the tokens that cost nothing by time, group and, last, their model."""
    model = _entries.c.model.label("used_model")
    tokens = _tokens.label("costless_tokens")
    entries = _entries_in_period(
        granularity, groups, is_chosen=is_chosen, more=[model, tokens], only=_MAY_BE_UNPRICED
    )
    columns = [entries.c.start, *(entries.c[GROUP_COLUMNS[name]] for name in groups), entries.c.used_model]
    query = sa.select(*columns, sa.func.sum(entries.c.costless_tokens)).group_by(*columns)
    return Statement(query, heavy=True)


def _entries_in_period(
    granularity: Granularity,
    groups: tuple[str, ...],
    *,
    is_chosen: bool,
    more: list[Any],
    only: sa.ColumnElement[bool] | None = None,
) -> sa.Subquery:
    # A subquery, because PostgreSQL does not recognize two parameterised expressions as equal.
    start = sa.func.substr(_entries.c.hour, 1, periods.NAME_LENGTHS[granularity]).label("start")
    group_columns = [_entries.c[GROUP_COLUMNS[name]] for name in groups]
    query = sa.select(start, *group_columns, *(_entries.c[name] for name in COUNTERS), *more).where(
        _entries.c.hour >= sa.bindparam("begin", type_=_entries.c.hour.type),
        _entries.c.hour < sa.bindparam("until", type_=_entries.c.hour.type),
        _entries.c.provider_key_id == sa.literal(""),
    )
    if is_chosen:
        query = query.where(in_list(group_columns[0], "ids"))
    if only is not None:
        query = query.where(only)
    return query.subquery()
