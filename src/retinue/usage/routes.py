from typing import Annotated

from retinue.kit.context import Context
from retinue.kit.http.replies import Download
from retinue.kit.http.routing import Routes, path_loader
from retinue.kit.lists import Page
from retinue.usage import budgets
from retinue.usage.errors import BudgetNotFound, TooManyBudgets
from retinue.usage.models import Budget
from retinue.usage.report import as_csv, build_report
from retinue.usage.schemas import BudgetCreate, BudgetList, BudgetOut, BudgetUpdate, Usage, UsageQuery

routes = Routes("/api/v1", tag="usage")

BudgetById = Annotated[Budget, path_loader(Budget, "budget_id", BudgetNotFound)]


@routes.get("/usage", requires="usage:read")
async def get_usage(ctx: Context, query: UsageQuery) -> Usage | Download:
    """Return what the tenant used in a period, and what the tokens cost at list prices.

    Without parameters, it covers the current month by days.
    """
    report = await build_report(ctx, query)
    return report if query.format == "json" else as_csv(report, query.group_by)


@routes.get("/budgets", requires="usage:read")
async def list_budgets(ctx: Context, query: BudgetList) -> Page[BudgetOut]:
    """List the tenant's budgets with what is spent of each, newest first by default."""
    return await budgets.page(ctx, query)


@routes.post("/budgets", requires="usage:write", status=201, errors=(TooManyBudgets,))
async def create_budget(ctx: Context, body: BudgetCreate) -> BudgetOut:
    """Create a budget for the tenant, an agent, an embed key, a user or a provider key.

    It counts what was already used in the current period. A tenant has at most 200 budgets.
    """
    return await budgets.create(ctx, body)


@routes.put("/budgets/{budget_id}", requires="usage:write")
async def update_budget(ctx: Context, budget: BudgetById, body: BudgetUpdate) -> BudgetOut:
    """Change the given properties of a budget; the others stay. Takes effect within seconds."""
    return await budgets.update(ctx, budget, body)


@routes.delete("/budgets/{budget_id}", requires="usage:write", status=204)
async def delete_budget(ctx: Context, budget: BudgetById) -> None:
    """Delete a budget; its limit no longer applies."""
    await budgets.delete(ctx, budget)
