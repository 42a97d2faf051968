"""Tests of a visitor's reply that waits for an approval: its content and its cost."""

from typing import Any

import pytest

from retinue.app import Service
from tests.adapters.llm_replies import Call
from tests.adapters.llm_server import ProviderServer
from tests.chat.speaking import messages_of
from tests.client import Api
from tests.embed.keys import Holder, list_keys
from tests.factories.agents import attach_tool
from tests.factories.tools import make_tool
from tests.tools.servers.rest_api import rest_api


@pytest.mark.either_database
async def test_a_visitors_turn_waits_for_an_administrator(
    service: Service, admin: Api, agent: dict[str, Any], holder: Holder, provider: ProviderServer
) -> None:
    async with rest_api() as remote:
        tool = await make_tool(admin, remote.url, name="Refund")
        await attach_tool(admin, agent, tool, requires_approval=True)
        provider.says("I have to ask.", Call("refund", '{"amount": "INPUT-CANARY"}', "call_1"))
        answer = await holder.say("My money back!", stream=True)
        assert b"CANARY" not in answer.body
        assert b"approval_required" not in answer.body
        assert b"awaiting_approval" in answer.body
        (pending,) = (await admin.get("/api/v1/approvals")).json()["data"]
        assert pending["requested_by"]["type"] == "embed_key"
        (before,) = await list_keys(admin)

        provider.says("You get it back.")
        decided = await admin.post(f"/api/v1/approvals/{pending['id']}/approve", {})
        assert decided.status == 200, decided
        await service.runner.drain()
        stored = await messages_of(admin, pending["source"]["conversation_id"])
        assert stored[-1]["content"] == "I have to ask.\n\nYou get it back."
        assert len(remote.seen) == 1
        (after,) = await list_keys(admin)
        assert after["request_count"] == before["request_count"]
        assert after["tokens_used"] == stored[-1]["details"]["usage"]["total_tokens"] > before["tokens_used"]
