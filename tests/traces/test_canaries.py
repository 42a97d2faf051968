"""No secret of a key or a tool lies in traces, in any form, wherever a trace is read."""

from typing import Any

from retinue.app import Service
from tests.adapters.llm_replies import Call
from tests.adapters.llm_server import ProviderServer, refusing
from tests.canaries import hits
from tests.chat.speaking import path_of
from tests.client import Api
from tests.factories.agents import attach_tool, make_agent
from tests.factories.people import People
from tests.factories.providers import KEY, add_key_for
from tests.factories.tools import endpoint, make_tool
from tests.tools.servers.rest_api import RestApi

TOKEN = "canary/tool+token==Wv92"


async def test_neither_errors_nor_urls_nor_headers_leave_a_secret(
    service: Service, admin: Api, people: People, provider: ProviderServer, remote: RestApi
) -> None:
    await add_key_for(admin, provider, models=["test-model"])
    agent = await make_agent(admin, primary_model="openai_compatible/test-model", status="published")
    tool = await make_tool(
        admin,
        name="leaky",
        config={"base_url": remote.url, "endpoints": endpoint("/scripted")},
        auth_type="api_key",
        auth_config={"api_key_value": TOKEN, "api_key_header": "key", "api_key_location": "query"},
    )
    await attach_tool(admin, agent, tool)
    remote.answers.append((500, {"X-Echo": TOKEN}, f"no such token {TOKEN}".encode()))
    provider.says("", Call("leaky", "{}", "call_1"))
    provider.says("It failed.")
    reply = await admin.post(path_of(agent), {"message": "Go"})
    assert reply.status == 200, reply
    assert not remote.answers, "the tool was called"
    provider.fails(*[refusing(400, {"error": {"message": f"Bad key {KEY}"}})] * 3)
    assert (await admin.post(path_of(agent), {"message": "Go"})).status == 502
    listed: list[dict[str, Any]] = (await admin.get("/api/v1/traces")).json()["data"]
    assert {one["status"] for one in listed} == {"ok", "error"}
    seen = b""
    for one in listed:
        for rest in ("", "/otlp"):
            answer = await admin.get(f"/api/v1/traces/{one['trace_id']}{rest}")
            assert answer.status == 200
            seen += answer.body
    assert b"execute_tool leaky" in seen
    assert hits(seen, [KEY, TOKEN]) == []
