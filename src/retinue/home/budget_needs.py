"""Budgets that are near their end or used up, and what no longer answers because of it."""

from collections.abc import Callable
from typing import Any

import sqlalchemy as sa

from retinue.agents.models import Agent
from retinue.embed.models import EmbedKey
from retinue.home.needs import MAX_NEEDS_PER_KIND
from retinue.home.schemas import Need, NeedAction, NeedKind, NeedObject, NeedSeverity
from retinue.kit.context import Context
from retinue.kit.db.models import Record
from retinue.kit.db.statements import record_statement
from retinue.providers.key_budgets import own_budget
from retinue.providers.models import ProviderKey
from retinue.usage import enforcement, periods, refusals
from retinue.usage.models import Budget, BudgetAction, ScopeType
from retinue.users.models import User

_budgets, _keys = Budget.__table__, ProviderKey.__table__

_NEAR_BUDGETS = record_statement(
    Budget,
    sa.select(_budgets)
    .where(
        sa.or_(
            _budgets.c.announced_for.in_(
                [sa.bindparam("day", type_=sa.Text()), sa.bindparam("month", type_=sa.Text())]
            ),
            _budgets.c.refused_on == sa.bindparam("day", type_=sa.Text()),
        )
    )
    .limit(MAX_NEEDS_PER_KIND),
)
_LIMITED_KEYS = record_statement(
    ProviderKey,
    sa.select(_keys)
    .where(_keys.c.is_active.is_(True), _keys.c.monthly_budget_usd.is_not(None))
    .order_by(_keys.c.id),
)
_OWNERS: dict[ScopeType, tuple[type[Record], Callable[[Any], str]]] = {
    ScopeType.agent: (Agent, lambda agent: agent.name),
    ScopeType.embed_key: (EmbedKey, lambda key: key.name),
    ScopeType.user: (User, lambda user: f"{user.first_name} {user.last_name}".strip() or user.email),
    ScopeType.provider_key: (ProviderKey, lambda key: key.name),
}


async def find_near_budgets(ctx: Context) -> list[Need]:
    """Return the budgets whose warning was announced in the current period, or that refused a turn today."""
    current = {period: periods.name_at(ctx.now, period) for period in ("day", "month")}
    budgets = await ctx.db.rows(_NEAR_BUDGETS, **current)
    return [
        await _need(ctx, budget, await enforcement.load_spent(ctx, budget))
        for budget in budgets
        if budget.announced_for == current[budget.period.value] or budget.refused_on == current["day"]
    ]


async def find_spent_keys(ctx: Context) -> list[Need]:
    """Return the provider keys that have used up their own monthly budget."""
    needs = []
    for key in await ctx.db.rows(_LIMITED_KEYS):
        budget = own_budget(key)
        if budget is None:
            continue
        amount_spent = await enforcement.load_spent(ctx, budget)
        if amount_spent < enforcement.budget_limit(budget):
            continue
        need = await _need(ctx, budget, amount_spent)
        # Another key may answer instead.
        need.title_code = "budget_spent"
        need.params["budget_id"] = None
        need.object = NeedObject(type="api_key", id=key.id, name=key.name)
        needs.append(need)
    return needs[:MAX_NEEDS_PER_KIND]


def _choose_title(*, blocks: bool, refuses: bool, is_spent: bool) -> str:
    if blocks:
        return "budget_blocks"
    if refuses:
        return "budget_refuses"
    return "budget_spent" if is_spent else "budget_near"


async def _need(ctx: Context, budget: Budget, amount_spent: float) -> Need:
    limit = enforcement.budget_limit(budget)
    is_spent = amount_spent >= limit
    blocks = is_spent and budget.action is BudgetAction.block
    refused_count = refusals.count_refused(budget, ctx.now)
    period = periods.name_at(ctx.now, budget.period.value)
    owner = await _find_owner_name(ctx, budget)
    return Need(
        kind=NeedKind.budget,
        severity=NeedSeverity.bad if is_spent or refused_count else NeedSeverity.warn,
        title_code=_choose_title(blocks=blocks, refuses=bool(refused_count), is_spent=is_spent),
        params={
            # A provider key may have a limit of 0.
            "percent": int(100 * amount_spent / limit) if limit else 100,
            "resets_at": periods.end_of(period),
            "scope": budget.scope_type.value,
            "scope_id": budget.scope_id or None,
            "scope_name": owner,
            "budget_id": budget.id,
            "period": budget.period.value,
            "action": budget.action.value,
            "refused_count": refused_count,
            "refused_because": budget.refused_because if refused_count else None,
        },
        object=NeedObject(type="budget", id=budget.id, name=owner or ""),
        since=periods.start_of(period),
        action=NeedAction.raise_limit,
    )


async def _find_owner_name(ctx: Context, budget: Budget) -> str | None:
    """Return the name of what the budget limits; None for the tenant, and if it was deleted."""
    if budget.scope_type is ScopeType.tenant:
        return None
    record, name_of = _OWNERS[budget.scope_type]
    owner = await ctx.db.get(record, budget.scope_id)
    return None if owner is None else name_of(owner)
