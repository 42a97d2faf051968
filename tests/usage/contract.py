"""Objects and calls of budgets and prices for the contract tests."""

from retinue.usage.models import Budget, ModelPrice
from tests.contract.knowledge import Call, DomainContract, Scene, World
from tests.factories.budgets import some_budget


async def _make(world: World) -> dict[str, str]:
    return {"budget_id": (await world.ctx.db.insert(some_budget(world.name))).id}


CONTRACT = DomainContract(records=(Budget, ModelPrice), make=_make)


@CONTRACT.writes(budgets=1)
async def create_budget(scene: Scene) -> Call:
    scope = {"type": "tenant", "id": scene.user.tenant_id}
    return Call(scene.me, {"scope": scope, "limit_usd": 5})


@CONTRACT.writes("budgets.soft_percent budgets.announced_for budgets.updated_at")
async def update_budget(scene: Scene) -> Call:
    async with scene.people.context(scene.user.tenant_id) as ctx:
        budget = await ctx.db.insert(some_budget(scene.user.id))
    return Call(scene.me, {"soft_percent": 70}, {"budget_id": budget.id})


@CONTRACT.writes(model_prices=1)
async def set_model_price(scene: Scene) -> Call:
    body = {"model": "openai_compatible/m", "input_price_per_mtok": 1, "output_price_per_mtok": 2}
    return Call(scene.me, body)
