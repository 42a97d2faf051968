"""Enforcement of budgets, checked before a model is called.

A turn or call paid by a blocking budget holds a slot of it until its end is stored. There are as many slots
as the rest of the budget can pay for turns of maximum cost, and always one. Concurrent turns therefore never
spend more than is left; a single turn is capped at what is left (`allowance.py`). A call that costs next to
nothing of the rest holds no slot: while documents are embedded, it would refuse whole turns.
"""

import functools
import math
from collections.abc import Iterable
from enum import StrEnum
from typing import Any, TypeVar

import msgspec
import sqlalchemy as sa

from retinue.kit.clock import parse_instant
from retinue.kit.context import Context
from retinue.kit.context.instance import Instance
from retinue.kit.db.statements import Statement
from retinue.kit.errors import RetinueError
from retinue.kit.limits import Lease
from retinue.kit.metrics import declarations as metrics
from retinue.usage import periods
from retinue.usage.allowance import SpendingLimit
from retinue.usage.errors import BudgetExceeded
from retinue.usage.events import BudgetThresholdReached
from retinue.usage.job_kinds import WATCH_BUDGET, BudgetToWatch
from retinue.usage.models import Budget, BudgetAction, ScopeType, UsageEntry
from retinue.usage.price_book import nano_usd

_SMALLEST_SHARE = 100
"""A call that costs less than this part of what is left, a hundredth, holds no slot."""
CACHE_SECONDS = 2.0
"""Maximum time until processes on other machines notice a changed budget."""
CHANGED_BUDGETS = "usage.changed_budgets"
"""The topic under which processes tell each other which tenant has changed its budgets."""

_RETRY_AFTER_SECONDS = 5
RefusalT = TypeVar("RefusalT", bound=RetinueError)

_entries = UsageEntry.__table__
_COLUMNS = {
    ScopeType.agent: "agent_id",
    ScopeType.embed_key: "embed_key_id",
    ScopeType.user: "user_id",
    ScopeType.provider_key: "provider_key_id",
}


def _spent_statement(column: str | None) -> Statement[Any]:
    tokens = sa.func.sum(_entries.c.prompt_tokens + _entries.c.completion_tokens)
    query = sa.select(
        sa.func.coalesce(sa.func.sum(_entries.c.cost_usd), 0.0), sa.func.coalesce(tokens, 0)
    ).where(_entries.c.hour >= sa.bindparam("since", type_=_entries.c.hour.type))
    if column is not None:
        query = query.where(_entries.c[column] == sa.bindparam("scope_id", type_=_entries.c[column].type))
    if column != "provider_key_id":
        query = query.where(_entries.c.provider_key_id == sa.literal(""))
    return Statement(query)


_SPENT = {scope: _spent_statement(_COLUMNS.get(scope)) for scope in ScopeType}


class Spender(msgspec.Struct, frozen=True, kw_only=True):
    """The dimensions of a spender that budgets can be limited to."""

    agent_id: str = ""
    user_id: str = ""
    embed_key_id: str = ""
    provider_key_id: str = ""

    def is_limited_by(self, budget: Budget) -> bool:
        if budget.scope_type is ScopeType.tenant:
            return not self.provider_key_id
        return bool(budget.scope_id) and getattr(self, _COLUMNS[budget.scope_type]) == budget.scope_id


class BudgetCache:
    """Cache of each tenant's budgets in this process, so that most turns need no query."""

    def __init__(self, instance: Instance) -> None:
        self._peers = instance.peers
        self._peers.subscribe(CHANGED_BUDGETS, self.forget)
        self._budgets: dict[str, tuple[float, list[Budget]]] = {}
        self.amount_spent: dict[str, float] = {}
        """The amount spent of each budget when it was last read."""
        self.announced_unpriced: set[tuple[str, str, str]] = set()
        """The budget, period and model of what this process announced, to save jobs."""

    async def of(self, ctx: Context) -> list[Budget]:
        now = ctx.clock.monotonic()
        until, budgets = self._budgets.get(ctx.tenant_id, (0.0, []))
        if until <= now:
            budgets = await ctx.reader().db.all(Budget)
            # No transaction that changes budgets comes through here, so what it reads is committed.
            self._budgets[ctx.tenant_id] = now + CACHE_SECONDS, budgets
        return budgets

    def cached(self, tenant_id: str) -> list[Budget]:
        return self._budgets.get(tenant_id, (0.0, []))[1]

    def forget(self, tenant_id: str) -> None:
        self._budgets.pop(tenant_id, None)

    def forget_everywhere(self, tenant_id: str) -> None:
        """Drop the budgets in this process and its peers; processes elsewhere reload within seconds."""
        self.forget(tenant_id)
        self._peers.publish(CHANGED_BUDGETS, tenant_id)


class Ceiling(msgspec.Struct, frozen=True):
    """The most that a turn or a call can spend, as far as prices are known."""

    tokens: int
    nano_usd: int


class BudgetHold:
    """The slots that budgets grant a turn, and what they leave for it; the caller must release it."""

    def __init__(self, ctx: Context) -> None:
        self._limiter = ctx.instance.limiter
        self._slots: list[Lease] = []
        self.limits: list[SpendingLimit] = []
        self.spent: Budget | None = None
        """A spent budget that demands a cheaper model from now on."""

    async def acquire_slot(self, name: str, limit: int) -> bool:
        slot = await self._limiter.hold(name, limit, _MAX_HOLD_SECONDS)
        if slot is not None:
            self._slots.append(slot)
        return slot is not None

    async def release(self) -> None:
        while self._slots:
            await self._slots.pop().release()


_MAX_HOLD_SECONDS = 150.0


async def load_spent(ctx: Context, budget: Budget) -> float:
    """Return the amount spent in the current period, in the unit of the budget's limit."""
    since = periods.start_of(periods.name_at(ctx.now, budget.period.value))[: periods.NAME_LENGTHS["hour"]]
    scope = {} if budget.scope_type is ScopeType.tenant else {"scope_id": budget.scope_id}
    usd, tokens = (await ctx.db.rows(_SPENT[budget.scope_type], since=since, **scope))[0]
    return float(usd) if budget.limit_usd is not None else int(tokens)


def budget_limit(budget: Budget) -> float:
    return budget.limit_usd if budget.limit_usd is not None else (budget.limit_tokens or 0)


async def require_budget(ctx: Context, spender: Spender, *, has_cheaper_model: bool) -> None:
    """Raise BudgetExceeded (429) if a blocking budget is spent, before anything of the turn is stored.

    A budget that falls back to a cheaper model blocks if there is none.
    """
    blocking = {BudgetAction.block} if has_cheaper_model else {BudgetAction.block, BudgetAction.fallback}
    for budget in await ctx.state(BudgetCache).of(ctx):
        is_blocking = budget.action in blocking and spender.is_limited_by(budget)
        if is_blocking and await load_spent(ctx.reader(), budget) >= budget_limit(budget):
            raise count_refusal(budget_exceeded(ctx, budget))


async def hold_budgets(ctx: Context, spender: Spender, ceiling: Ceiling) -> BudgetHold:
    """Hold the budgets of a spender for a turn or call that spends at most `ceiling`."""
    budgets = await ctx.state(BudgetCache).of(ctx)
    return await hold_each(ctx, [budget for budget in budgets if spender.is_limited_by(budget)], ceiling)


async def hold_each(ctx: Context, budgets: Iterable[Budget], ceiling: Ceiling) -> BudgetHold:
    """Hold these budgets; raise BudgetExceeded (429) if a blocking one is spent, or in use as a whole."""
    budget_hold = BudgetHold(ctx)
    try:
        for budget in budgets:
            await _hold_budget(ctx, budget_hold, budget, ceiling)
    except BaseException:
        await budget_hold.release()
        raise
    return budget_hold


def require_unspent(ctx: Context, budget_hold: BudgetHold) -> None:
    """Raise BudgetExceeded (429) if a budget is spent that demands a cheaper model, where there is none."""
    if budget_hold.spent is not None:
        raise count_refusal(budget_exceeded(ctx, budget_hold.spent))


async def _hold_budget(ctx: Context, budget_hold: BudgetHold, budget: Budget, ceiling: Ceiling) -> None:
    amount_spent, limit = await load_spent(ctx.reader(), budget), budget_limit(budget)
    ctx.state(BudgetCache).amount_spent[budget.id] = amount_spent
    # A key's own limit is no stored budget (`own_budget`): nobody is told of its threshold.
    if budget.id != budget.scope_id and is_threshold_due(ctx, budget, amount_spent):
        async with ctx.unit() as unit:
            enqueue_threshold_check(unit, budget)
    if budget.action is BudgetAction.notify:
        return
    if amount_spent >= limit:
        if budget.action is BudgetAction.block:
            raise count_refusal(budget_exceeded(ctx, budget))
        budget_hold.spent = budget
        return
    if budget.action is BudgetAction.fallback:
        return
    is_in_usd = budget.limit_usd is not None
    left = nano_usd(limit - amount_spent) if is_in_usd else int(limit - amount_spent)
    most = ceiling.nano_usd if is_in_usd else ceiling.tokens
    is_worth_a_slot = most * _SMALLEST_SHARE > left
    if is_worth_a_slot and not await budget_hold.acquire_slot(f"budget:{budget.id}", max(1, left // most)):
        raise count_refusal(budget_exceeded(ctx, budget, RefusalReason.reserved))
    refuse = functools.partial(budget_exceeded, ctx, budget, RefusalReason.unaffordable)
    budget_hold.limits.append(SpendingLimit(left=left, is_in_usd=is_in_usd, refuse=refuse))


def count_refusal(refusal: RefusalT) -> RefusalT:
    """Count the error with which a budget refuses a request, and return it."""
    metrics.BUDGET_REFUSALS.count()
    return refusal


class RefusalReason(StrEnum):
    """Why a budget refuses, as its error says it."""

    spent = "The {scope}'s budget for this {period} is spent. Raise it or wait for its reset."
    reserved = "The rest of the {scope}'s budget is in use by other requests. Try again soon."
    unaffordable = (
        "This request costs more than is left of the {scope}'s budget for this {period}. "
        "Shorten it, raise the budget or wait for its reset."
    )


def budget_exceeded(
    ctx: Context, budget: Budget, reason: RefusalReason = RefusalReason.spent
) -> BudgetExceeded:
    now = ctx.clock.time()
    name = periods.name_at(ctx.now, budget.period.value)
    begin, end = (parse_instant(at).timestamp() for at in (periods.start_of(name), periods.end_of(name)))
    wait_s = _RETRY_AFTER_SECONDS if reason is RefusalReason.reserved else max(1, int(end - now))
    scope_name, limit = budget.scope_type.value.replace("_", " "), budget_limit(budget)
    refusal = BudgetExceeded(
        limit=math.ceil(limit),
        window=int(end - begin),
        retry_after=wait_s,
        reset=int(now + wait_s),
        message=reason.format(scope=scope_name, period=budget.period),
    )
    assert refusal.details is not None
    unit = "usd" if budget.limit_usd is not None else "tokens"
    scope = {"type": budget.scope_type.value, "id": budget.scope_id or None}
    # The header is a whole number; here stands the limit itself.
    exact = int(limit) if limit == int(limit) else limit
    refusal.details |= {"limit": exact, "budget_id": budget.id, "scope": scope, f"limit_{unit}": limit}
    refusal.details["reason"] = reason.name
    return refusal


def is_threshold_due(ctx: Context, budget: Budget, amount_spent: float) -> bool:
    """Return whether the threshold is passed and was not announced in this period."""
    period = periods.name_at(ctx.now, budget.period.value)
    return budget.announced_for != period and amount_spent * 100 >= budget_limit(budget) * budget.soft_percent


def enqueue_threshold_checks(unit: Context, spender: Spender, usd: float, tokens: int) -> None:
    """Enqueue checks of the budgets whose threshold this spending may have passed."""
    cache = unit.state(BudgetCache)
    for budget in cache.cached(unit.tenant_id):
        if spender.is_limited_by(budget):
            amount = tokens if budget.limit_usd is None else usd
            if is_threshold_due(unit, budget, cache.amount_spent.get(budget.id, 0.0) + amount):
                enqueue_threshold_check(unit, budget)


def enqueue_threshold_check(unit: Context, budget: Budget) -> None:
    unit.defer(WATCH_BUDGET, BudgetToWatch(budget.id))


async def watch_budget(ctx: Context, payload: BudgetToWatch) -> None:
    """Announce that a threshold was passed, once in a period."""
    budget = await ctx.db.lock(Budget, payload.budget_id)
    if budget is None:
        return
    amount_spent = await load_spent(ctx, budget)
    if not is_threshold_due(ctx, budget, amount_spent):
        return
    period = periods.name_at(ctx.now, budget.period.value)
    await ctx.db.update(budget, announced_for=period)
    tenant_id, known = ctx.tenant_id, ctx.state(BudgetCache)
    ctx.after_commit(lambda: _invalidate(known, tenant_id))
    is_usd = budget.limit_usd is not None
    ctx.emit(
        BudgetThresholdReached(
            budget_id=budget.id,
            scope={"type": budget.scope_type.value, "id": budget.scope_id or None},
            threshold_percent=budget.soft_percent,
            spent_usd=round(amount_spent, 9) if is_usd else None,
            budget_usd=budget.limit_usd,
            spent_tokens=None if is_usd else int(amount_spent),
            budget_tokens=budget.limit_tokens,
            period=period,
            action=budget.action.value,
        )
    )


async def _invalidate(known: BudgetCache, tenant_id: str) -> None:
    known.forget_everywhere(tenant_id)
