"""Tests of cached configuration: read once, and never stale after a change."""

import asyncio
from typing import Any

import pytest
import sqlalchemy as sa

from retinue.access.models import Role
from retinue.agents.loaders import find_agent
from retinue.agents.models import Agent, LogSettings, WebSearch
from retinue.app import Service
from retinue.kit.config_cache import config_version_now
from retinue.kit.context import Context
from retinue.kit.db.config_versions import config_version_of
from retinue.kit.db.statements import Statement
from retinue.kit.principal import Principal
from retinue.tenants.models import Tenant
from tests.client import Api
from tests.databases import SERVER
from tests.factories.agents import change_agent, make_agent, read_agent
from tests.factories.people import People

pytestmark = pytest.mark.one_service

_agents, _tenants = Agent.__table__, Tenant.__table__
STAMPS: Statement[Any] = Statement(sa.select(_tenants.c.id, config_version_of(_tenants.c.id)))
RENAME: Statement[Any] = Statement(
    sa.update(_agents).where(_agents.c.id == sa.bindparam("agent_id")).values(name=sa.bindparam("name"))
)


@pytest.fixture
def reads(service: Service, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The SQL of every read that the service makes from now on."""
    database, seen = service.instance.database, []
    fetch = database.fetch

    async def noted(sql: str, arguments: list[Any], **how: Any) -> Any:
        seen.append(sql)
        return await fetch(sql, arguments, **how)

    monkeypatch.setattr(database, "fetch", noted)
    return seen


def count_agent_reads(reads: list[str]) -> int:
    return sum("FROM agents" in sql for sql in reads)


async def test_an_agent_is_read_once(admin: Api, reads: list[str]) -> None:
    agent = await make_agent(admin, name="Remembered")
    path = f"/api/v1/agents/{agent['id']}/status"
    first = await admin.get(path)
    reads.clear()
    assert (await admin.get(path)).json() == first.json()
    assert count_agent_reads(reads) == 0


async def test_what_one_process_changes_the_next_request_of_another_sees(admin, other_process) -> None:
    there = Api(other_process, token=admin.token)
    agent = await make_agent(admin, name="Before")
    for name in ("Now", "Then", "Last"):
        await read_agent(there, agent)
        await change_agent(admin, agent, name=name)
        assert (await read_agent(there, agent))["name"] == name
    assert (await admin.delete(f"/api/v1/agents/{agent['id']}")).status == 204
    assert (await there.get(f"/api/v1/agents/{agent['id']}")).status == 404


async def test_that_there_is_nothing_is_not_remembered(admin, people: People) -> None:
    async with people.context(admin.user.tenant_id) as ctx:
        agent = _new()
        agent.id = "agt_" + "b" * 26
        assert (await admin.get(f"/api/v1/agents/{agent.id}")).status == 404
        await ctx.db.insert(agent)
    assert (await admin.get(f"/api/v1/agents/{agent.id}")).status == 200


async def _stamps(ctx: Context) -> dict[str, int]:
    return {id: stamp or 0 for id, stamp in await ctx.detached().system("test").rows(STAMPS)}


async def _update(ctx: Context, agent: Agent) -> None:
    await ctx.db.update(agent, name="Other")


async def _delete(ctx: Context, agent: Agent) -> None:
    await ctx.db.delete(agent)


async def _execute(ctx: Context, agent: Agent) -> None:
    await ctx.db.execute(RENAME, agent_id=agent.id, name="Other")


async def _execute_many(ctx: Context, agent: Agent) -> None:
    await ctx.db.execute_many(RENAME, [{"agent_id": agent.id, "name": name} for name in ("a", "b")])


async def _execute_at_commit(ctx: Context, agent: Agent) -> None:
    ctx.db.execute_at_commit(RENAME, agent_id=agent.id, name="Other")


async def _insert_at_commit(ctx: Context, _agent: Agent) -> None:
    await ctx.db.insert_at_commit(_new())


async def _insert_many(ctx: Context, _agent: Agent) -> None:
    await ctx.db.insert_many([_new(), _new()])


def _new() -> Agent:
    return Agent(
        name="New",
        primary_model="local/smollm2-135m",
        fallback_models=[],
        system_prompt="",
        web_search=WebSearch(),
        log_settings=LogSettings(),
        created_by="",
    )


CHANGES = (
    _update,
    _delete,
    _execute,
    _execute_many,
    _execute_at_commit,
    _insert_at_commit,
    _insert_many,
)


@pytest.mark.every_case
@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__.strip("_"))
async def test_every_way_to_change_it_moves_the_stamp_of_the_tenant_alone(people: People, change) -> None:
    tenant = await people.tenant("Mine")
    await people.signed_in(Role.tenant_admin)
    async with people.context(tenant.id) as ctx:
        agent = await ctx.db.insert(_new())
    async with people.context(tenant.id) as ctx:
        before = await _stamps(ctx)
        assert len(before) > 1
        await change(ctx, agent)
    async with people.context(tenant.id) as ctx:
        assert await _stamps(ctx) == {**before, tenant.id: before[tenant.id] + 1}


async def test_who_changes_them_beyond_the_fence_moves_every_stamp(people: People) -> None:
    tenant = await people.tenant("Mine")
    async with people.context(tenant.id) as ctx:
        agent = await ctx.db.insert(_new())
    async with people.context(tenant.id) as ctx:
        before = await _stamps(ctx)
        await ctx.system("test").execute(RENAME, agent_id=agent.id, name="Other")
    async with people.context(tenant.id) as ctx:
        assert await _stamps(ctx) == {id: stamp + 1 for id, stamp in before.items()}


async def test_what_is_rolled_back_moves_nothing(people: People) -> None:
    tenant = await people.tenant("Mine")
    async with people.context(tenant.id) as ctx:
        before = await _stamps(ctx)
        await ctx.db.insert(_new())
        await ctx.rollback()
    async with people.context(tenant.id) as ctx:
        assert await _stamps(ctx) == before


async def test_what_is_remembered_is_nobodys_to_change(admin, service, people: People) -> None:
    """A request gets a copy; changing it does not change the cache."""
    agent = await make_agent(admin, name="Shared")
    system = people.context(admin.user.tenant_id)
    stamp = (await _stamps(system))[admin.user.tenant_id]
    asking = Principal(
        kind="user",
        tenant_id=admin.user.tenant_id,
        config_version=config_version_now(service.instance.clock, stamp),
    )
    ctx = Context(service.instance, asking, system.caller, reads_outside_transaction=True)
    first, again = await find_agent(ctx, agent["id"]), await find_agent(ctx, agent["id"])
    assert first == again
    first.name = "Mine"
    assert (await find_agent(ctx, agent["id"])).name == again.name == "Shared"


async def test_a_stamp_heard_a_while_ago_says_nothing_any_more(admin, service, clock, people, reads) -> None:
    agent = await make_agent(admin)
    system = people.context(admin.user.tenant_id)
    stamp = (await _stamps(system))[admin.user.tenant_id]
    asking = Principal(
        kind="user", tenant_id=admin.user.tenant_id, config_version=config_version_now(clock, stamp)
    )
    ctx = Context(service.instance, asking, system.caller, reads_outside_transaction=True)
    for seconds, expected in ((0, 1), (0.5, 1), (0.6, 2), (0, 3)):
        clock.advance(seconds)
        await find_agent(ctx, agent["id"])
        assert count_agent_reads(reads) == expected


async def test_what_changed_without_the_stamp_is_seen_within_seconds(admin, service, clock, people) -> None:
    """An older release or a manual change of the database does not move the stamp."""
    agent = await make_agent(admin, name="Before")
    assert (await read_agent(admin, agent))["name"] == "Before"
    connection = await service.instance.database.begin()
    await connection.execute("UPDATE agents SET name = 'After'", [])
    await service.instance.database.commit(connection)
    assert (await read_agent(admin, agent))["name"] == "Before"
    clock.advance(11)
    assert (await read_agent(admin, agent))["name"] == "After"


@pytest.mark.skipif(not SERVER, reason="SQLite has one writer")
async def test_a_stamp_moves_while_the_row_of_its_tenant_is_held(admin, people) -> None:
    """Otherwise a request that locks the tenant first would deadlock with one that changes an agent."""
    agent = await make_agent(admin, name="Before")
    async with asyncio.timeout(30), people.context(admin.user.tenant_id) as ctx:
        assert await ctx.system("test").lock(Tenant, admin.user.tenant_id) is not None
        assert (await change_agent(admin, agent, name="After"))["name"] == "After"
