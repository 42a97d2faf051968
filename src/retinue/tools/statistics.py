"""Statistics of a tool's executions over a period."""

import math
from collections.abc import Iterator
from datetime import timedelta

import msgspec
import sqlalchemy as sa

from retinue.kit.clock import Instant, parse_instant, to_instant
from retinue.kit.context import Context
from retinue.kit.db.statements import Statement
from retinue.tools.models import ExecutionStatus, Tool, ToolExecution
from retinue.tools.queries import IS_FINAL
from retinue.tools.schemas import AgentExecutions, DayOfExecutions, Period, ToolStats

_DAYS_BY_PERIOD = {Period.week: 7, Period.month: 30, Period.quarter: 90}
_MAX_TOP_AGENTS = 5

_executions = ToolExecution.__table__
_columns = _executions.c
_IN_PERIOD = sa.and_(
    _columns.tool_id == sa.bindparam("tool_id"),
    _columns.executed_at >= sa.bindparam("since"),
    IS_FINAL,
)
# A subquery, because PostgreSQL does not recognize equal expressions with parameters in GROUP BY.
_runs = (
    sa.select(
        sa.func.substr(_columns.executed_at, 1, len("2026-11-15")).label("day"),
        sa.case((_columns.status != ExecutionStatus.completed.value, 1), else_=0).label("failed"),
        _columns.execution_time_ms,
    )
    .where(_IN_PERIOD)
    .subquery()
)
_count = sa.func.count()


class _Day(msgspec.Struct, frozen=True):
    date: str
    executions: int = 0
    failures: int = 0
    time_ms: int = 0


_BY_DAY: Statement[_Day] = Statement(
    sa.select(
        _runs.c.day, _count, sa.func.sum(_runs.c.failed), sa.func.sum(_runs.c.execution_time_ms)
    ).group_by(_runs.c.day),
    lambda row: _Day(row[0], int(row[1]), int(row[2]), int(row[3])),
    heavy=True,
)
# Slowest first, because the requested percentiles are near that end.
_NTH_SLOWEST = Statement(
    sa.select(_columns.execution_time_ms)
    .where(_IN_PERIOD)
    .order_by(_columns.execution_time_ms.desc())
    .limit(1)
    .offset(sa.bindparam("slower", type_=sa.BigInteger())),
    heavy=True,
)
_TOP_AGENTS: Statement[AgentExecutions] = Statement(
    sa.select(_columns.agent_id, sa.func.max(_columns.agent_name), _count)
    .where(_IN_PERIOD, _columns.agent_id.is_not(None))
    .group_by(_columns.agent_id)
    .order_by(_count.desc(), _columns.agent_id)
    .limit(_MAX_TOP_AGENTS),
    lambda row: AgentExecutions(agent_id=row[0], agent_name=row[1], executions=int(row[2])),
    heavy=True,
)


async def collect(ctx: Context, tool: Tool, period: Period) -> ToolStats:
    now = ctx.now
    since = _since(now, period)
    bounds = {"tool_id": tool.id, "since": since}
    days = {day.date: day for day in await ctx.db.rows(_BY_DAY, **bounds)}
    total = sum(day.executions for day in days.values())
    failed = sum(day.failures for day in days.values())
    time_ms = sum(day.time_ms for day in days.values())
    return ToolStats(
        tool_id=tool.id,
        period=period,
        total_executions=total,
        successful=total - failed,
        failed=failed,
        success_rate=round(100 * (total - failed) / total, 1) if total else 0.0,
        avg_execution_time_ms=round(time_ms / total) if total else 0,
        p95_execution_time_ms=await _percentile(ctx, bounds, total, 95),
        p99_execution_time_ms=await _percentile(ctx, bounds, total, 99),
        daily_breakdown=[DayOfExecutions.of(days.get(date, _Day(date))) for date in _dates(since, now)],
        top_agents=await ctx.db.rows(_TOP_AGENTS, **bounds) if total else [],
    )


def _since(now: Instant, period: Period) -> Instant:
    """Return 24 hours ago for a day; longer periods start at midnight UTC and include today."""
    if period is Period.day:
        return to_instant(parse_instant(now) - timedelta(days=1))
    midnight = parse_instant(now).replace(hour=0, minute=0, second=0, microsecond=0)
    return to_instant(midnight - timedelta(days=_DAYS_BY_PERIOD[period] - 1))


def _dates(since: Instant, now: Instant) -> Iterator[str]:
    """Yield every UTC date of the period."""
    first, last = parse_instant(since).date(), parse_instant(now).date()
    for number in range((last - first).days + 1):
        yield (first + timedelta(days=number)).isoformat()


async def _percentile(ctx: Context, bounds: dict[str, str], total: int, percent: int) -> int:
    """Return a percentile of the execution time, by the nearest-rank method."""
    if not total:
        return 0
    rank = math.ceil(total * percent / 100)
    return int(await ctx.db.scalar(_NTH_SLOWEST, slower=total - rank, **bounds) or 0)
