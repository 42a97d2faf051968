"""The figures of today (UTC), by hour, and those of the same weekday a week ago."""

from datetime import timedelta
from typing import Any

import msgspec
import sqlalchemy as sa

from retinue.chat.models import ChatLog, TurnStatus
from retinue.home.schemas import ComparedDay, HomeHour, Today, TodayBudget
from retinue.kit.clock import parse_instant, to_instant
from retinue.kit.context import Context
from retinue.kit.db.statements import Statement
from retinue.usage import enforcement
from retinue.usage.models import Budget, BudgetPeriod, ScopeType, UsageEntry
from retinue.usage.price_book import load_price_book

HOURS_PER_DAY = 24
# The latest turns of the day are enough for a percentile, and bound what is read.
MAX_TIMED_TURNS = 2_000

_MAX_MODELS = 200

_entries, _logs, _budgets = UsageEntry.__table__, ChatLog.__table__, Budget.__table__
_BY_HOUR = Statement(
    sa.select(
        _entries.c.hour,
        sa.func.sum(_entries.c.chat_requests),
        sa.func.sum(_entries.c.prompt_tokens + _entries.c.completion_tokens),
        sa.func.sum(_entries.c.cached_tokens),
        sa.func.sum(_entries.c.cost_usd),
    )
    .where(
        _entries.c.hour >= sa.bindparam("begin", type_=_entries.c.hour.type),
        _entries.c.hour <= sa.bindparam("last", type_=_entries.c.hour.type),
        _entries.c.provider_key_id == sa.literal(""),
    )
    .group_by(_entries.c.hour),
    heavy=True,
)
_USED_MODELS = Statement(
    sa.select(_entries.c.model)
    .distinct()
    .where(
        _entries.c.hour >= sa.bindparam("begin", type_=_entries.c.hour.type),
        _entries.c.provider_key_id == sa.literal(""),
        _entries.c.model != sa.literal(""),
        _entries.c.prompt_tokens + _entries.c.completion_tokens > sa.literal(0),
    )
    .limit(_MAX_MODELS),
    heavy=True,
)
_FAILED_CHATS = Statement(
    sa.select(sa.func.count())
    .select_from(_logs)
    .where(
        _logs.c.created_at >= sa.bindparam("since"),
        _logs.c.status == sa.literal(TurnStatus.failed.value),
    ),
    heavy=True,
)
_FIRST_TOKENS = Statement(
    sa.select(_logs.c.created_at, _logs.c.first_token_ms)
    .where(_logs.c.first_token_ms.is_not(None), _logs.c.created_at >= sa.bindparam("since"))
    .order_by(_logs.c.created_at.desc())
    .limit(MAX_TIMED_TURNS)
)
_TENANT_BUDGETS = Statement(
    sa.select(_budgets.c.id, _budgets.c.period).where(_budgets.c.scope_type == ScopeType.tenant.value)
)


class _HourSums(msgspec.Struct):
    chats: int = 0
    tokens: int = 0
    cached_tokens: int = 0
    cost_usd: float = 0.0


async def load_today(ctx: Context) -> Today:
    day = ctx.now[:10]
    hours = await _load_hours(ctx, day, ctx.now[:13])
    times: dict[int, list[int]] = {}
    for created_at, first_token_ms in await ctx.db.rows(_FIRST_TOKENS, since=day):
        times.setdefault(int(created_at[11:13]), []).append(first_token_ms)
    every_time = [ms for of_hour in times.values() for ms in of_hour]
    return Today(
        chats=sum(sums.chats for sums in hours.values()),
        failed_chats=int(await ctx.db.scalar(_FAILED_CHATS, since=day)),
        tokens=sum(sums.tokens for sums in hours.values()),
        cached_tokens=sum(sums.cached_tokens for sums in hours.values()),
        cost_usd=round(sum(sums.cost_usd for sums in hours.values()), 9),
        unpriced_models=await _find_unpriced_models(ctx, day),
        budget=await _find_budget(ctx),
        p95_first_token_ms=percentile_95(every_time),
        series=[
            _hour(number, hours.get(number, _HourSums()), times.get(number, []))
            for number in range(HOURS_PER_DAY)
        ],
    )


async def load_compared_day(ctx: Context) -> ComparedDay | None:
    """Return the figures of a week ago until this hour, or None if nothing was used then."""
    then = to_instant(parse_instant(ctx.now) - timedelta(days=7))
    hours = await _load_hours(ctx, then[:10], then[:13])
    if not hours:
        return None
    return ComparedDay(
        day=then[:10],
        chats=sum(sums.chats for sums in hours.values()),
        tokens=sum(sums.tokens for sums in hours.values()),
        cost_usd=round(sum(sums.cost_usd for sums in hours.values()), 9),
    )


def percentile_95(times: list[int]) -> int | None:
    return sorted(times)[min(len(times) - 1, int(len(times) * 0.95))] if times else None


async def _load_hours(ctx: Context, day: str, last: str) -> dict[int, _HourSums]:
    rows: list[Any] = await ctx.db.rows(_BY_HOUR, begin=f"{day}T00", last=last)
    return {
        int(hour[11:13]): _HourSums(int(chats), int(tokens), int(cached), float(cost))
        for hour, chats, tokens, cached, cost in rows
    }


def _hour(number: int, sums: _HourSums, times: list[int]) -> HomeHour:
    return HomeHour(
        hour=number,
        chats=sums.chats,
        tokens=sums.tokens,
        cost_usd=round(sums.cost_usd, 9),
        p95_first_token_ms=percentile_95(times),
    )


async def _find_unpriced_models(ctx: Context, day: str) -> list[str]:
    prices = await load_price_book(ctx)
    models = [model for (model,) in await ctx.db.rows(_USED_MODELS, begin=f"{day}T00")]
    return sorted(model for model in models if prices.find(model) is None)


async def _find_budget(ctx: Context) -> TodayBudget | None:
    """Return the tenant's own budget, a daily one before a monthly one."""
    rows = sorted(await ctx.db.rows(_TENANT_BUDGETS), key=lambda row: row[1] != BudgetPeriod.day.value)
    budget = await ctx.db.get(Budget, rows[0][0]) if rows else None
    if budget is None:
        return None
    return TodayBudget(
        id=budget.id,
        period=budget.period.value,
        limit_usd=budget.limit_usd,
        limit_tokens=budget.limit_tokens,
        spent=round(await enforcement.load_spent(ctx, budget), 9),
    )
