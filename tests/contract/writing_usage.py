"""How the routes of budgets are called so that they succeed, and what that may change."""

from tests.contract.writing import Call, Scene, writes
from tests.factories.budgets import some_budget


@writes(budgets=1)
async def create_budget(scene: Scene) -> Call:
    scope = {"type": "tenant", "id": scene.user.tenant_id}
    return Call(scene.me, {"scope": scope, "limit_usd": 5})


@writes("budgets.soft_percent budgets.announced_for budgets.updated_at")
async def update_budget(scene: Scene) -> Call:
    async with scene.people.context(scene.user.tenant_id) as ctx:
        budget = await ctx.db.insert(some_budget(scene.user.id))
    return Call(scene.me, {"soft_percent": 70}, {"budget_id": budget.id})
