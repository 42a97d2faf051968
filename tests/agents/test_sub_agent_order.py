"""The order of an agent's sub-agents in drafts and versions."""

from tests.agents.drafts import differences, draft_of, path_of, publish, save
from tests.client import Api
from tests.factories.agents import attach_agent, make_agent, read_agent


async def test_published_sub_agents_stay_in_the_order_of_the_draft(admin: Api) -> None:
    agent = await make_agent(admin)
    helpers = [await make_agent(admin, name=f"Helper {number}") for number in range(5)]
    for helper in helpers[:3]:
        await attach_agent(admin, agent, helper)
    wanted = [helpers[place]["id"] for place in (4, 2, 3, 0, 1)]
    await save(admin, agent, sub_agents=[{"id": id} for id in wanted])
    published = await publish(admin, agent)
    assert [one["id"] for one in (await draft_of(admin, agent))["snapshot"]["sub_agents"]] == wanted
    assert [one["id"] for one in (await read_agent(admin, agent))["sub_agents"]] == wanted
    listed = (await admin.get(path_of(agent, "/sub-agents"))).json()["data"]
    assert [one["id"] for one in listed] == wanted
    # One that is attached later comes last, also after others are gone; a restored version has its own order.
    for id in wanted[:2]:
        assert (await admin.delete(path_of(agent, f"/sub-agents/{id}"))).status == 204
    last = await make_agent(admin, name="Last")
    await attach_agent(admin, agent, last)
    assert [one["id"] for one in (await read_agent(admin, agent))["sub_agents"]] == [*wanted[2:], last["id"]]
    restored = await admin.post(path_of(agent, f"/versions/{published['version']}/restore"), {})
    assert restored.status == 200, restored
    assert [one["id"] for one in (await read_agent(admin, agent))["sub_agents"]] == wanted


async def test_another_order_of_sub_agents_is_a_change(admin: Api) -> None:
    agent = await make_agent(admin)
    first, second, third = [(await make_agent(admin, name=name))["id"] for name in ("A", "B", "C")]
    await save(admin, agent, sub_agents=[{"id": id} for id in (first, second)])
    await publish(admin, agent)
    await save(admin, agent, sub_agents=[{"id": id} for id in (second, third, first)])
    assert (await draft_of(admin, agent))["is_changed"] is True
    changed = await differences(admin, agent)
    assert changed.keys() == {f"sub_agents.{third}", "sub_agents.order"}
    assert changed["sub_agents.order"] == ([first, second], [second, first])
    # One more in between leaves the order of the others as it is.
    await save(admin, agent, sub_agents=[{"id": id} for id in (first, third, second)])
    assert (await differences(admin, agent)).keys() == {f"sub_agents.{third}"}
    await save(admin, agent, sub_agents=[{"id": id} for id in (second, first)])
    assert (await differences(admin, agent)).keys() == {"sub_agents.order"}
