"""A provider key that a published agent cannot do without."""

import pytest

from tests.factories.agents import change_agent, make_agent, read_agent
from tests.factories.providers import PATH, add_key


async def test_the_last_key_of_a_published_agents_model_is_deleted_only_by_force(admin) -> None:
    agent = await make_agent(admin, name="Support", primary_model="openai/gpt-4o", status="published")
    await make_agent(admin, name="Other", primary_model="anthropic/claude", status="published")
    key = await add_key(admin)
    answer = await admin.delete(f"{PATH}/{key['id']}")
    assert (answer.status, answer.code) == (409, "api_key_in_use")
    assert answer.details == {"agents": [{"id": agent["id"], "name": "Support"}]}
    assert (await admin.delete(f"{PATH}/{key['id']}?force=true")).status == 204
    assert (await read_agent(admin, agent))["primary_model"] == "openai/gpt-4o"


async def test_a_key_is_free_while_another_serves_the_model(admin) -> None:
    await make_agent(admin, primary_model="openai/gpt-4o", status="published")
    first, second = await add_key(admin), await add_key(admin)
    await add_key(admin, models=["gpt-4o-mini"])
    assert (await admin.delete(f"{PATH}/{first['id']}")).status == 204
    assert (await admin.delete(f"{PATH}/{second['id']}")).status == 409


@pytest.mark.parametrize("status", ["draft", "archived"])
async def test_an_agent_that_is_not_published_holds_no_key(admin, status: str) -> None:
    agent = await make_agent(admin, primary_model="openai/gpt-4o")
    await change_agent(admin, agent, status=status)
    key = await add_key(admin)
    assert (await admin.delete(f"{PATH}/{key['id']}")).status == 204
