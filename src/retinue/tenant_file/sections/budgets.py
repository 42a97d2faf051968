"""Budgets of the tenant, an agent, an embed key, a user or a provider key."""

from retinue.kit.context import Context
from retinue.kit.db.errors import RecordGone
from retinue.kit.json_types import JsonObject
from retinue.tenant_file.document import convert_values
from retinue.tenant_file.integration_parts import BudgetPart, ScopePart
from retinue.tenant_file.planner import PlannedChange
from retinue.tenant_file.references import ReferenceIndex
from retinue.tenant_file.sections.base import FileSection, fill_part, load_all
from retinue.usage import budgets
from retinue.usage.models import Budget, ScopeType
from retinue.usage.schemas import BudgetCreate, BudgetUpdate


def _name(names: ReferenceIndex, budget: Budget) -> str:
    of = f" {names.key_of(budget.scope_id)}" if budget.scope_id else ""
    return f"{budget.scope_type.value}{of} {budget.period.value}"


async def _export(_ctx: Context, names: ReferenceIndex, budget: Budget) -> BudgetPart:
    scope = None
    if budget.scope_type is not ScopeType.tenant:
        scope = ScopePart(type=budget.scope_type.value, id=names.to_references(budget.scope_id))
    part: BudgetPart = fill_part(BudgetPart, budget, scope=scope)
    return part


def _fields(names: ReferenceIndex, part: BudgetPart) -> JsonObject:
    scope = part.scope or ScopePart(type=ScopeType.tenant.value)
    fields: JsonObject = {
        "scope": {"type": scope.type, "id": names.to_ids(scope.id, "scope.id")},
        "limit_usd": part.limit_usd,
        "limit_tokens": part.limit_tokens,
        "period": part.period,
        "soft_percent": part.soft_percent,
        "action": part.action,
    }
    return fields if part.on_unpriced is None else {**fields, "on_unpriced": part.on_unpriced}


async def _create(ctx: Context, names: ReferenceIndex, change: PlannedChange) -> Budget:
    created = await budgets.create(ctx, convert_values(BudgetCreate, _fields(names, change.part)))
    stored = await ctx.db.get(Budget, created.id)
    if stored is None:
        raise RecordGone
    return stored


async def _update(ctx: Context, names: ReferenceIndex, change: PlannedChange, budget: Budget) -> None:
    await budgets.update(ctx, budget, convert_values(BudgetUpdate, _fields(names, change.part)))


SECTION = FileSection(
    name="budgets",
    write_key="usage:write",
    load=load_all(Budget),
    natural_name=_name,
    export=_export,
    create=_create,
    update=_update,
    delete=budgets.delete,
)
