"""What is spent of budgets, and what may still be: asked before a model is.

A turn that a blocking budget pays holds a place of it until its end is stored. There are as many places as
what is left can pay turns that cost the most they can, and one in any case, so turns at the same time never
spend more together than is left; the one that is alone is cut to what is left.
"""

from collections.abc import Sequence
from typing import Any

import msgspec
import sqlalchemy as sa

from retinue.kit.clock import moment
from retinue.kit.context import Context
from retinue.kit.db.statements import Statement
from retinue.kit.ids import new_id
from retinue.kit.jobs.declare import job
from retinue.usage import periods
from retinue.usage.errors import BudgetExceeded
from retinue.usage.events import BudgetThresholdReached
from retinue.usage.metering import prices
from retinue.usage.models import Budget, BudgetAction, ScopeType, UsageEntry

REREAD_S = 2.0
"""How long other processes may take to hear of a changed budget."""

_RETRY_AFTER_S = 5

_entries = UsageEntry.__table__
_COLUMNS = {
    ScopeType.agent: "agent_id",
    ScopeType.embed_key: "embed_key_id",
    ScopeType.user: "user_id",
    ScopeType.provider_key: "provider_key_id",
}


def _sum_of(column: str | None) -> Statement[Any]:
    tokens = sa.func.sum(_entries.c.prompt_tokens + _entries.c.completion_tokens)
    query = sa.select(
        sa.func.coalesce(sa.func.sum(_entries.c.cost_usd), 0.0), sa.func.coalesce(tokens, 0)
    ).where(_entries.c.hour >= sa.bindparam("since", type_=_entries.c.hour.type))
    if column is not None:
        query = query.where(_entries.c[column] == sa.bindparam("scope_id", type_=_entries.c[column].type))
    if column != "provider_key_id":
        query = query.where(_entries.c.provider_key_id == sa.literal(""))
    return Statement(query)


_SPENT = {scope: _sum_of(_COLUMNS.get(scope)) for scope in ScopeType}


class Spender(msgspec.Struct, frozen=True, kw_only=True):
    """Whoever is about to spend something, in each of the ways that budgets can be about."""

    agent_id: str = ""
    user_id: str = ""
    embed_key_id: str = ""
    provider_key_id: str = ""

    def is_paid_by(self, budget: Budget) -> bool:
        if budget.scope_type is ScopeType.tenant:
            return not self.provider_key_id
        return bool(budget.scope_id) and getattr(self, _COLUMNS[budget.scope_type]) == budget.scope_id


class KnownBudgets:
    """The budgets of each tenant as this process knows them, so that most turns ask for none."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[float, list[Budget]]] = {}
        self.taken: dict[str, float] = {}
        """What was spent of a budget when someone last looked."""

    async def of(self, ctx: Context) -> list[Budget]:
        now = ctx.clock.monotonic()
        until, budgets = self._known.get(ctx.tenant_id, (0.0, []))
        if until <= now:
            budgets = await ctx.apart().db.all(Budget)
            self._known[ctx.tenant_id] = now + REREAD_S, budgets
        return budgets

    def peek(self, tenant_id: str) -> list[Budget]:
        return self._known.get(tenant_id, (0.0, []))[1]

    def forget(self, tenant_id: str) -> None:
        self._known.pop(tenant_id, None)


class Hold:
    """What a turn may take of the budgets that pay it; whoever takes one gives it back."""

    def __init__(self, ctx: Context) -> None:
        self._limiter = ctx.instance.limiter
        self._places: list[tuple[str, str]] = []
        self.tokens: int | None = None
        self.spent: Budget | None = None
        """One that is spent and wants something cheaper from now on."""

    def cut_to(self, tokens: int) -> None:
        self.tokens = tokens if self.tokens is None else min(self.tokens, tokens)

    async def take_place(self, name: str, limit: int) -> bool:
        lease_id = new_id("lease")
        is_free = await self._limiter.acquire(name, limit, lease_id, _LEASE_S)
        if is_free:
            self._places.append((name, lease_id))
        return is_free

    async def give_back(self) -> None:
        for name, lease_id in self._places:
            await self._limiter.release(name, lease_id)
        self._places.clear()


_LEASE_S = 150.0


async def spent(ctx: Context, budget: Budget) -> float:
    """In the unit of its limit, in the period of this moment."""
    since = periods.begins(periods.named(ctx.now, budget.period.value))[: periods.LETTERS["hour"]]
    scope = {} if budget.scope_type is ScopeType.tenant else {"scope_id": budget.scope_id}
    usd, tokens = (await ctx.db.rows(_SPENT[budget.scope_type], since=since, **scope))[0]
    return float(usd) if budget.limit_usd is not None else int(tokens)


def limit_of(budget: Budget) -> float:
    return budget.limit_usd if budget.limit_usd is not None else (budget.limit_tokens or 0)


async def require_room(ctx: Context, spender: Spender) -> None:
    """Refused with 429 while a blocking budget is spent; before anything of the turn is stored."""
    for budget in await ctx.adapter(KnownBudgets).of(ctx):
        is_blocking = budget.action is BudgetAction.block and spender.is_paid_by(budget)
        if is_blocking and await spent(ctx.apart(), budget) >= limit_of(budget):
            raise exceeded(ctx, budget)


async def hold(ctx: Context, spender: Spender, models: Sequence[str], most_tokens: int) -> Hold:
    """Room for a turn with one of these models that takes no more than so many tokens, if cut to them."""
    held = Hold(ctx)
    try:
        for budget in await ctx.adapter(KnownBudgets).of(ctx):
            if spender.is_paid_by(budget):
                await _hold_of(ctx, held, budget, models, most_tokens)
    except BaseException:
        await held.give_back()
        raise
    return held


async def _hold_of(ctx: Context, held: Hold, budget: Budget, models: Sequence[str], most_tokens: int) -> None:
    taken, limit = await spent(ctx.apart(), budget), limit_of(budget)
    ctx.adapter(KnownBudgets).taken[budget.id] = taken
    if is_due(ctx, budget, taken):
        async with ctx.unit() as unit:
            tell_later(unit, budget)
    if budget.action is BudgetAction.notify:
        return
    if taken >= limit:
        if budget.action is BudgetAction.block:
            raise exceeded(ctx, budget)
        held.spent = budget
        return
    if budget.action is BudgetAction.fallback:
        return
    left = _tokens(budget, limit - taken, models)
    if left is None:
        return
    if not await held.take_place(f"budget:{budget.id}", max(1, left // most_tokens)):
        raise exceeded(ctx, budget, is_held=True)
    held.cut_to(left)


def _tokens(budget: Budget, left: float, models: Sequence[str]) -> int | None:
    """How many tokens the rest of a budget pays at the dearest price; None where they cost nothing."""
    if budget.limit_usd is None:
        return int(left)
    dearest = max((price for model in models for price in prices(model)), default=0.0)
    return max(1, int(left / dearest)) if dearest else None


def exceeded(ctx: Context, budget: Budget, *, is_held: bool = False) -> BudgetExceeded:
    now = ctx.clock.time()
    name = periods.named(ctx.now, budget.period.value)
    begin, end = (moment(at).timestamp() for at in (periods.begins(name), periods.ends(name)))
    wait_s = _RETRY_AFTER_S if is_held else max(1, int(end - now))
    about = budget.scope_type.value.replace("_", " ")
    refusal = BudgetExceeded(
        limit=int(limit_of(budget)),
        window=int(end - begin),
        retry_after=wait_s,
        reset=int(now + wait_s),
        message=f"What is left of the {about}'s budget is being spent at this moment; try again soon."
        if is_held
        else f"The {about}'s budget for this {budget.period} is spent.",
    )
    assert refusal.details is not None
    unit = "usd" if budget.limit_usd is not None else "tokens"
    scope = {"type": budget.scope_type.value, "id": budget.scope_id or None}
    refusal.details |= {"budget_id": budget.id, "scope": scope, f"limit_{unit}": limit_of(budget)}
    return refusal


def is_due(ctx: Context, budget: Budget, taken: float) -> bool:
    """Whether the threshold is passed and nobody was told in this period."""
    period = periods.named(ctx.now, budget.period.value)
    return budget.announced_for != period and taken * 100 >= limit_of(budget) * budget.soft_percent


def look_later(unit: Context, spender: Spender, usd: float, tokens: int) -> None:
    """After something was spent: have a worker look where a threshold may have been passed by it."""
    known = unit.adapter(KnownBudgets)
    for budget in known.peek(unit.tenant_id):
        if spender.is_paid_by(budget):
            more = tokens if budget.limit_usd is None else usd
            if is_due(unit, budget, known.taken.get(budget.id, 0.0) + more):
                tell_later(unit, budget)


class BudgetToWatch(msgspec.Struct):
    budget_id: str


def tell_later(unit: Context, budget: Budget) -> None:
    unit.defer(watch_budget, BudgetToWatch(budget.id))


@job()
async def watch_budget(ctx: Context, payload: BudgetToWatch) -> None:
    """Tell that a threshold is passed, once in a period."""
    budget = await ctx.db.lock(Budget, payload.budget_id)
    if budget is None:
        return
    taken = await spent(ctx, budget)
    if not is_due(ctx, budget, taken):
        return
    period = periods.named(ctx.now, budget.period.value)
    await ctx.db.update(budget, announced_for=period)
    tenant_id, known = ctx.tenant_id, ctx.adapter(KnownBudgets)
    ctx.after_commit(lambda: _forgotten(known, tenant_id))
    is_usd = budget.limit_usd is not None
    ctx.emit(
        BudgetThresholdReached(
            budget_id=budget.id,
            scope={"type": budget.scope_type.value, "id": budget.scope_id or None},
            threshold_percent=budget.soft_percent,
            spent_usd=round(taken, 6) if is_usd else None,
            budget_usd=budget.limit_usd,
            spent_tokens=None if is_usd else int(taken),
            budget_tokens=budget.limit_tokens,
            period=period,
            action=budget.action.value,
        )
    )


async def _forgotten(known: KnownBudgets, tenant_id: str) -> None:
    known.forget(tenant_id)
