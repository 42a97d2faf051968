"""Old traces are deleted: by the agent's own retention, and at the latest by that of the instance."""

from retinue.app import Service
from retinue.kit.clock import ManualClock
from retinue.kit.tracing.models import TracePart
from tests.client import Api
from tests.factories.agents import make_agent
from tests.factories.people import People
from tests.factories.traces import record_part

DAY_SECONDS = 86_400


async def list_turns(people: People) -> list[str]:
    async with people.context() as ctx:
        return [part.name for part in await ctx.system("test").all(TracePart, kind="turn")]


async def test_agents_may_keep_less_but_not_more(
    owner: Api, people: People, service: Service, clock: ManualClock
) -> None:
    await service.runner.drain()
    for name, days in (("Short", 3), ("Usual", 30), ("Forever", 0), ("Long", 400)):
        agent = await make_agent(owner, name=name)
        settings = f"/api/v1/agents/{agent['id']}/log-settings"
        assert (await owner.put(settings, {"retention_days": days})).status == 200
        await record_part(people, owner.user.tenant_id, name, agent_id=agent["id"])
    await record_part(people, owner.user.tenant_id, "Without agent")
    clock.advance(2 * DAY_SECONDS)
    await service.runner.drain()
    assert len(await list_turns(people)) == 5
    clock.advance(2 * DAY_SECONDS)
    await service.runner.drain()
    assert sorted(await list_turns(people)) == ["Forever", "Long", "Usual", "Without agent"]
    clock.advance(27 * DAY_SECONDS)
    await record_part(people, owner.user.tenant_id, "New")
    await service.runner.drain()
    assert await list_turns(people) == ["New"]
