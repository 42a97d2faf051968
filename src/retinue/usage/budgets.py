"""Budgets as their owners see them."""

from typing import Any

from retinue.kit.context import Context
from retinue.kit.db.models import RECORDS
from retinue.kit.errors import Invalid
from retinue.kit.lists import Listing, Page
from retinue.kit.schemas import given
from retinue.usage import periods, spending
from retinue.usage.errors import TooManyBudgets
from retinue.usage.events import BudgetCreated, BudgetDeleted, BudgetUpdated
from retinue.usage.models import Budget, ScopeType
from retinue.usage.schemas import BudgetCreate, BudgetList, BudgetOut, BudgetUpdate, Scope
from retinue.usage.spending import KnownBudgets

MOST_BUDGETS = 200

_LISTING = Listing(
    Budget, sorts=("created_at", "updated_at", "period", "action"), filters=("action", "period")
)
# These records stand above this domain, which knows their tables by name only.
_TABLES = {
    ScopeType.agent: "agents",
    ScopeType.embed_key: "embed_keys",
    ScopeType.user: "users",
    ScopeType.provider_key: "provider_keys",
}


async def page(ctx: Context, query: BudgetList) -> Page[BudgetOut]:
    found = await _LISTING.page(ctx.db, query)
    told = {budget.id: await shown(ctx, budget) for budget in found.items}
    return found.shown(lambda budget: told[budget.id])


async def shown(ctx: Context, budget: Budget) -> BudgetOut:
    resets_at = periods.ends(periods.named(ctx.now, budget.period.value))
    return BudgetOut.shown(budget, await spending.spent(ctx, budget), resets_at)


async def create(ctx: Context, body: BudgetCreate) -> BudgetOut:
    if await ctx.db.count(Budget) >= MOST_BUDGETS:
        raise TooManyBudgets
    _require_one_limit(body.limit_usd, body.limit_tokens)
    budget = await ctx.db.insert(
        Budget(
            scope_type=body.scope.type,
            scope_id=await _checked(ctx, body.scope),
            limit_usd=body.limit_usd,
            limit_tokens=body.limit_tokens,
            period=body.period,
            soft_percent=body.soft_percent,
            action=body.action,
            created_by=ctx.principal.id,
        )
    )
    ctx.emit(BudgetCreated(budget_id=budget.id))
    _forget(ctx)
    return await shown(ctx, budget)


async def update(ctx: Context, budget: Budget, body: BudgetUpdate) -> BudgetOut:
    """A budget that is changed may pass its threshold once more in the same period."""
    changes: dict[str, Any] = given(body)
    scope = changes.pop("scope", None)
    if scope is not None:
        changes |= {"scope_type": scope.type, "scope_id": await _checked(ctx, scope)}
    if changes.get("limit_usd") is not None:
        changes.setdefault("limit_tokens", None)
    elif changes.get("limit_tokens") is not None:
        changes.setdefault("limit_usd", None)
    _require_one_limit(
        changes.get("limit_usd", budget.limit_usd), changes.get("limit_tokens", budget.limit_tokens)
    )
    changed = sorted(name for name, value in changes.items() if getattr(budget, name) != value)
    if changed:
        await ctx.db.update(budget, **{name: changes[name] for name in changed}, announced_for="")
        ctx.emit(BudgetUpdated(budget_id=budget.id, changed=changed))
        _forget(ctx)
    return await shown(ctx, budget)


async def delete(ctx: Context, budget: Budget) -> None:
    await ctx.db.delete(budget)
    ctx.emit(BudgetDeleted(budget_id=budget.id))
    _forget(ctx)


def _require_one_limit(usd: float | None, tokens: int | None) -> None:
    if (usd is None) == (tokens is None):
        raise Invalid({"limit_usd": "give one of limit_usd and limit_tokens"})


async def _checked(ctx: Context, scope: Scope) -> str:
    """The id as it is stored: of something that is there, and none for the tenant as a whole."""
    if scope.type is ScopeType.tenant:
        if scope.id not in {None, "", ctx.tenant_id}:
            raise Invalid({"scope.id": "leave it out for the tenant"})
        return ""
    if not scope.id:
        raise Invalid({"scope.id": "is required"})
    if await ctx.db.get(RECORDS[_TABLES[scope.type]], scope.id) is None:
        raise Invalid({"scope.id": f"there is no such {scope.type.value.replace('_', ' ')}"})
    return scope.id


def _forget(ctx: Context) -> None:
    """Here at once; other processes look again within seconds."""
    known, tenant_id = ctx.adapter(KnownBudgets), ctx.tenant_id

    async def forget() -> None:
        known.forget(tenant_id)

    ctx.after_commit(forget)
