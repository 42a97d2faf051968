"""What the contract tests know of budgets."""

from retinue.usage.models import Budget
from tests.contract.knowledge import Call, DomainContract, Scene, World
from tests.factories.budgets import some_budget


async def _make(world: World) -> dict[str, str]:
    return {"budget_id": (await world.ctx.db.insert(some_budget(world.name))).id}


CONTRACT = DomainContract(records=(Budget,), make=_make)


@CONTRACT.writes(budgets=1)
async def create_budget(scene: Scene) -> Call:
    scope = {"type": "tenant", "id": scene.user.tenant_id}
    return Call(scene.me, {"scope": scope, "limit_usd": 5})


@CONTRACT.writes("budgets.soft_percent budgets.announced_for budgets.updated_at")
async def update_budget(scene: Scene) -> Call:
    async with scene.people.context(scene.user.tenant_id) as ctx:
        budget = await ctx.db.insert(some_budget(scene.user.id))
    return Call(scene.me, {"soft_percent": 70}, {"budget_id": budget.id})
