"""Management of budgets."""

from retinue.kit.context import Context
from retinue.kit.db.models import RECORDS
from retinue.kit.errors import Invalid
from retinue.kit.json_types import JsonObject
from retinue.kit.lists import Listing, Page
from retinue.kit.schema.base import sent_fields
from retinue.usage import enforcement, periods, refusals
from retinue.usage.enforcement import BudgetCache
from retinue.usage.errors import TooManyBudgets
from retinue.usage.events import BudgetCreated, BudgetDeleted, BudgetUpdated
from retinue.usage.models import Budget, BudgetAction, OnUnpriced, ScopeType
from retinue.usage.schemas import BudgetCreate, BudgetList, BudgetOut, BudgetUpdate, Scope

MAX_BUDGETS = 200

_LISTING = Listing(
    Budget,
    sorts=("created_at", "updated_at", "period", "action"),
    filters=("action", "period", "scope_type", "scope_id"),
)
# These records belong to higher domains, so their tables are known by name only.
_TABLES = {
    ScopeType.agent: "agents",
    ScopeType.embed_key: "embed_keys",
    ScopeType.user: "users",
    ScopeType.provider_key: "provider_keys",
}


async def page(ctx: Context, query: BudgetList) -> Page[BudgetOut]:
    budget_page = await _LISTING.page(ctx.db, query)
    shown_by_id = {budget.id: await render_budget(ctx, budget) for budget in budget_page.items}
    return budget_page.to_page(lambda budget: shown_by_id[budget.id])


async def render_budget(ctx: Context, budget: Budget) -> BudgetOut:
    resets_at = periods.end_of(periods.name_at(ctx.now, budget.period.value))
    spent = await enforcement.load_spent(ctx, budget)
    return BudgetOut.from_record(budget, spent, refusals.count_refused(budget, ctx.now), resets_at)


async def create(ctx: Context, body: BudgetCreate) -> BudgetOut:
    if await ctx.db.count(Budget) >= MAX_BUDGETS:
        raise TooManyBudgets
    _require_one_limit(body.limit_usd, body.limit_tokens)
    budget = await ctx.db.insert(
        Budget(
            scope_type=body.scope.type,
            scope_id=await _validate_scope(ctx, body.scope),
            limit_usd=body.limit_usd,
            limit_tokens=body.limit_tokens,
            period=body.period,
            soft_percent=body.soft_percent,
            action=body.action,
            on_unpriced=_unpriced_rule(body.action, body.on_unpriced),
            created_by=ctx.principal.id,
        )
    )
    ctx.emit(BudgetCreated(budget_id=budget.id))
    return await _started(ctx, budget)


async def update(ctx: Context, budget: Budget, body: BudgetUpdate) -> BudgetOut:
    """Change a budget; it may then announce its threshold once more in the same period."""
    changes: JsonObject = sent_fields(body)
    scope = changes.pop("scope", None)
    if scope is not None:
        changes |= {"scope_type": scope.type, "scope_id": await _validate_scope(ctx, scope)}
    if changes.get("limit_usd") is not None:
        changes.setdefault("limit_tokens", None)
    elif changes.get("limit_tokens") is not None:
        changes.setdefault("limit_usd", None)
    _require_one_limit(
        changes.get("limit_usd", budget.limit_usd), changes.get("limit_tokens", budget.limit_tokens)
    )
    if not changes.keys().isdisjoint({"action", "on_unpriced"}):
        action = changes.get("action", budget.action)
        changes["on_unpriced"] = _unpriced_rule(action, changes.get("on_unpriced"))
    changed = sorted(name for name, value in changes.items() if getattr(budget, name) != value)
    if changed:
        await ctx.db.update(budget, **{name: changes[name] for name in changed}, announced_for="")
        ctx.emit(BudgetUpdated(budget_id=budget.id, changed=changed))
        return await _started(ctx, budget)
    return await render_budget(ctx, budget)


async def _started(ctx: Context, budget: Budget) -> BudgetOut:
    """Let a budget hold from now on; if its threshold is passed already, people are told."""
    _invalidate_cache(ctx)
    budget_out = await render_budget(ctx, budget)
    if enforcement.is_threshold_due(ctx, budget, budget_out.spent):
        enforcement.enqueue_threshold_check(ctx, budget)
    return budget_out


async def delete(ctx: Context, budget: Budget) -> None:
    await ctx.db.delete(budget)
    ctx.emit(BudgetDeleted(budget_id=budget.id))
    _invalidate_cache(ctx)


def _unpriced_rule(action: BudgetAction, requested_rule: OnUnpriced | None) -> OnUnpriced:
    """Return what a budget does about models without a price; one that only notifies refuses nothing."""
    if action is not BudgetAction.notify:
        return requested_rule or OnUnpriced.refuse
    if requested_rule is OnUnpriced.refuse:
        raise Invalid({"on_unpriced": "must be allow if the action is notify"})
    return OnUnpriced.allow


def _require_one_limit(usd: float | None, tokens: int | None) -> None:
    if (usd is None) == (tokens is None):
        raise Invalid({"limit_usd": "give exactly one of limit_usd and limit_tokens"})


async def _validate_scope(ctx: Context, scope: Scope) -> str:
    """Return the id to store, empty for the tenant; raise Invalid if it does not exist."""
    if scope.type is ScopeType.tenant:
        if scope.id not in {None, "", ctx.tenant_id}:
            raise Invalid({"scope.id": "must be omitted for the tenant"})
        return ""
    if not scope.id:
        raise Invalid({"scope.id": "is required"})
    if await ctx.db.get(RECORDS[_TABLES[scope.type]], scope.id) is None:
        raise Invalid({"scope.id": f"there is no such {scope.type.value.replace('_', ' ')}"})
    return scope.id


def _invalidate_cache(ctx: Context) -> None:
    """Drop the cached budgets after the commit; processes on other machines reload within seconds."""
    cache, tenant_id = ctx.state(BudgetCache), ctx.tenant_id

    async def forget() -> None:
        cache.forget_everywhere(tenant_id)

    ctx.after_commit(forget)
