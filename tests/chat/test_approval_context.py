"""Why an approval is asked for: the end of its conversation, and lists by what asked."""

from retinue.access.models import Role
from retinue.kit.clock import ManualClock
from tests.chat.approving import LOOK_AT_GRAZ, Desk

PATH = "/api/v1/approvals"


async def test_who_reads_the_conversation_sees_what_was_said_before(desk: Desk, clock: ManualClock) -> None:
    for text in ("One", "Two"):
        desk.provider.says(f"Answer {text}")
    first = await desk.ask(message="One")
    await desk.ask(message="Two", conversation_id=first["conversation_id"])
    desk.provider.says("I ask.", LOOK_AT_GRAZ)
    reply = await desk.ask(message="How is Graz?", conversation_id=first["conversation_id"])
    approval_id = reply["tool_calls"][-1]["approval_id"]
    shown = await desk.approval(approval_id)
    assert [one["content"] for one in shown["context"]][-1] in {"How is Graz?", "I ask."}
    assert "How is Graz?" in [one["content"] for one in shown["context"]]
    assert len(shown["context"]) == 3
    assert set(shown["context"][0]) == {"role", "content", "created_at"}
    listed = (await desk.admin.get(PATH)).json()["data"]
    assert "context" not in listed[0]
    colleague = await desk.people.signed_in(Role.agent_user)
    assert (await colleague.get(f"{PATH}/{approval_id}")).status == 404
    await desk.approve(approval_id)
    desk.provider.says("Sunny.")


async def test_lists_are_filtered_by_agent_and_tool_and_sorted_by_expiry(desk: Desk) -> None:
    desk.provider.says("I ask.", LOOK_AT_GRAZ)
    reply = await desk.ask(message="How is Graz?")
    approval_id = reply["tool_calls"][-1]["approval_id"]

    async def listed(**query: str) -> list[str]:
        answer = await desk.admin.get(PATH, query=query)
        assert answer.status == 200, answer
        return [one["id"] for one in answer.json()["data"]]

    assert await listed(agent_id=desk.agent["id"]) == [approval_id]
    assert await listed(tool_id=desk.tool["id"], sort="expires_at") == [approval_id]
    assert await listed(agent_id="agt_other") == []
    assert await listed(tool_id="tool_other") == []
    assert (await desk.admin.get(PATH, query={"sort": "title"})).status == 422
