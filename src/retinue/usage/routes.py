from typing import Annotated

from retinue.kit.context import Context
from retinue.kit.http.replies import Download
from retinue.kit.http.routing import Routes, loaded
from retinue.kit.lists import Page
from retinue.usage import budgets
from retinue.usage.errors import BudgetNotFound, TooManyBudgets
from retinue.usage.models import Budget
from retinue.usage.report import as_csv, report
from retinue.usage.schemas import BudgetCreate, BudgetList, BudgetOut, BudgetUpdate, Usage, UsageQuery

routes = Routes("/api/v1", tag="usage")

BudgetById = Annotated[Budget, loaded(Budget, "budget_id", BudgetNotFound)]


@routes.get("/usage", requires="usage:read")
async def get_usage(ctx: Context, query: UsageQuery) -> Usage | Download:
    """What the tenant used and what that costs at list prices; `format=csv` gives the rows as a file."""
    found = await report(ctx, query)
    return found if query.format == "json" else as_csv(found, query.group_by)


@routes.get("/budgets", requires="usage:read")
async def list_budgets(ctx: Context, query: BudgetList) -> Page[BudgetOut]:
    return await budgets.page(ctx, query)


@routes.post("/budgets", requires="usage:write", status=201, errors=(TooManyBudgets,))
async def create_budget(ctx: Context, body: BudgetCreate) -> BudgetOut:
    return await budgets.create(ctx, body)


@routes.put("/budgets/{budget_id}", requires="usage:write")
async def update_budget(ctx: Context, budget: BudgetById, body: BudgetUpdate) -> BudgetOut:
    return await budgets.update(ctx, budget, body)


@routes.delete("/budgets/{budget_id}", requires="usage:write", status=204)
async def delete_budget(ctx: Context, budget: BudgetById) -> None:
    await budgets.delete(ctx, budget)
