"""A desk whose turn does everything that traces tell about."""

import asyncio
from typing import Any

from tests.adapters.llm_replies import Call
from tests.adapters.llm_server import KEY, ProviderServer
from tests.chat.approving import delegation
from tests.client import multipart
from tests.e2e.cluster import Cluster
from tests.e2e.load import call
from tests.factories.agents import agent_body
from tests.factories.tools import tool_body

PATIENCE_S = 60
IN_PARTS = {"Content-Type": "multipart/form-data; boundary=XXtestXX"}
FACT = b"# Opening hours\n\nThe desk in Graz is open from nine to five."
SPANS = {
    "invoke_agent Desk": 2,
    "chat dead-model": 6,
    "chat test-model": 3,
    "embeddings bag-of-words": 1,
    "retrieval knowledge": 1,
    "execute_tool weather": 1,
    "execute_tool refund": 2,
    "execute_tool delegate_to_helper": 1,
    "invoke_agent Helper": 1,
    "approval refund": 1,
}
"""The number of spans of a turn, by name; the id of the knowledge base is left out of its name."""


async def set_up_desk(running: Cluster, provider_url: str, remote_url: str) -> tuple[Any, Any]:
    """Return an agent with a fallback, two tools, a sub-agent and a document, and the sub-agent."""
    key = {"provider": "openai_compatible", "api_key": KEY, "base_url": f"{provider_url}/v1"}
    await running.made("/api/v1/api-keys", key)
    # Nobody listens there.
    dead = {**key, "provider": "groq", "base_url": "http://127.0.0.1:9/v1", "models": ["dead-model"]}
    await running.made("/api/v1/api-keys", dead)
    body = agent_body(
        name="Desk",
        primary_model="groq/dead-model",
        fallback_models=["openai_compatible/test-model"],
        status="published",
    )
    agent = await running.made("/api/v1/agents", body)
    helper = await running.made(
        "/api/v1/agents", agent_body(name="Helper", primary_model="openai_compatible/test-model")
    )
    await running.made(f"/api/v1/agents/{agent['id']}/sub-agents/attach", {"agent_id": helper["id"]})
    for name, more in (("weather", {}), ("refund", {"requires_approval": True})):
        tool = await running.made("/v1/tools", tool_body(remote_url, name=name))
        await running.made(f"/v1/agents/{agent['id']}/tools", {"tool_id": tool["id"], **more})
    document = multipart({"files": ("hours.md", FACT, "text/markdown")}, {})
    status, answer = await running.call(
        "POST", f"/api/v1/agents/{agent['id']}/train", headers=IN_PARTS, form=document
    )
    assert status == 200, answer
    async with asyncio.timeout(PATIENCE_S):
        while (state := await running.read(f"/api/v1/agents/{agent['id']}/status"))["training"][
            "status"
        ] == "training":
            await asyncio.sleep(0.1)
    assert state["training"]["status"] == "completed", state
    return agent, helper


async def ask_the_desk(
    running: Cluster, provider: ProviderServer, agent: Any, helper: Any
) -> tuple[str, str]:
    """Return the trace and the approval of a turn that the first server begins."""
    provider.says(
        "",
        Call("weather", "{}", "call_1"),
        Call("refund", "{}", "call_2"),
        delegation(helper, "call_3", "Count to three."),
    )
    provider.says("One, two, three.")
    provider.says("All done.")
    path = f"/api/v1/agents/{agent['id']}/chat"
    asked = {"token": running.token, "body": {"message": "When is the desk in Graz open?"}}
    status, reply = await call(running.servers[0].port, "POST", path, **asked)
    assert (status, reply["finish_reason"]) == (200, "awaiting_approval"), reply
    (approval_id,) = [one["approval_id"] for one in reply["tool_calls"] if one["approval_id"]]
    return reply["trace_id"], approval_id


async def approve(running: Cluster, approval_id: str) -> None:
    """Decide at the second server."""
    path = f"/api/v1/approvals/{approval_id}/approve"
    status, answer = await call(running.servers[1].port, "POST", path, token=running.token, body={})
    assert status == 200, answer
