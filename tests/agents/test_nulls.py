"""Tests that null is the same as an omitted field where something is attached."""

from tests.client import Api
from tests.factories.agents import attach_tool, make_agent
from tests.factories.tools import make_tool


async def test_null_says_no_more_than_nothing_when_something_is_attached(admin: Api) -> None:
    parent, child = await make_agent(admin, name="Parent"), await make_agent(admin, name="Child")
    path = f"/api/v1/agents/{parent['id']}"
    nothing = {"delegation_prompt": None, "is_enabled": None}
    attached = await admin.post(f"{path}/sub-agents/attach", {"agent_id": child["id"], **nothing})
    direct = await admin.post(
        f"{path}/sub-agents/direct",
        {"name": "Own", "primary_model": "local/x", "system_prompt": "Hi", **nothing},
    )
    for answer in (attached, direct):
        assert answer.status == 201, answer
        shown = answer.json()
        assert (shown["is_enabled"], shown["delegation_prompt"]) == (True, "")
    tool = await make_tool(admin)
    made = await attach_tool(admin, parent, tool, is_enabled=None, display_order=None, config_override=None)
    assert made["is_enabled"] is True
