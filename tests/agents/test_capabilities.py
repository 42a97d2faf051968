"""Tests of the tools and sub-agents that an agent may use in a turn."""

import asyncio
from typing import Any

import pytest

from retinue.agents.capabilities import Capabilities, capabilities
from retinue.agents.models import Agent
from retinue.kit.context import Caller, Context
from retinue.kit.principal import SYSTEM
from tests.factories.agents import attach_agent, attach_tool, change_agent, make_agent, make_direct_sub_agent
from tests.factories.tools import change_tool, make_tool


@pytest.fixture
def look(service, admin, monkeypatch):
    """Returns a function that loads an agent's capabilities and counts the statements."""

    async def find(agent: dict[str, Any]) -> tuple[Capabilities, int]:
        ctx = Context(service.instance, SYSTEM, Caller(correlation_id="c"), reads_outside_transaction=True)
        ctx.bind_tenant(admin.user.tenant_id)
        record = await ctx.db.get(Agent, agent["id"])
        asked = []
        fetch = service.instance.database.fetch

        me = asyncio.current_task()

        async def counted(*arguments: Any, **named: Any) -> Any:
            if asyncio.current_task() is me:
                asked.append(arguments)
            return await fetch(*arguments, **named)

        with monkeypatch.context() as patched:
            patched.setattr(service.instance.database, "fetch", counted)
            found = await capabilities(ctx, record)
        assert not ctx.unit_of_work.is_open
        return found, len(asked)

    return find


async def test_an_agent_with_nothing_attached_asks_the_database_nothing(admin, look) -> None:
    found, statements = await look(await make_agent(admin))
    assert (found.tools, found.sub_agents, statements) == ([], [], 0)


async def test_only_what_is_enabled_is_offered_in_its_order(admin, look) -> None:
    agent = await make_agent(admin)
    last, first, hidden, disabled = [await make_tool(admin, name=name) for name in "abcd"]
    await attach_tool(admin, agent, last, display_order=9)
    await attach_tool(admin, agent, first, display_order=1, config_override={"timeout_ms": 7})
    await attach_tool(admin, agent, hidden, is_enabled=False)
    await attach_tool(admin, agent, disabled)
    await change_tool(admin, disabled, is_enabled=False)
    helper, archived, off = [await make_agent(admin, name=name) for name in ("Helper", "Archived", "Off")]
    await attach_agent(admin, agent, helper, delegation_prompt="Ask it.")
    await attach_agent(admin, agent, archived)
    await attach_agent(admin, agent, off, is_enabled=False)
    direct = await make_direct_sub_agent(admin, agent)
    await change_agent(admin, archived, status="archived")
    found, statements = await look(agent)
    assert statements == 2
    assert [one.tool.id for one in found.tools] == [first["id"], last["id"]]
    assert found.tools[0].attachment.config_override == {"timeout_ms": 7}
    assert found.tools[0].tool.slug == first["slug"]
    assert [one.agent.id for one in found.sub_agents] == [helper["id"], direct["id"]]
    assert found.sub_agents[0].relation.delegation_prompt == "Ask it."
    assert found.sub_agents[1].agent.system_prompt == direct["system_prompt"]
