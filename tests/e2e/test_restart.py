"""A restart after kill -9 waits for nothing that the killed process had begun."""

import asyncio
from pathlib import Path

import pytest

from tests.e2e.crashing import sign_in
from tests.e2e.load import Unreachable, call
from tests.e2e.processes import ServerProcess
from tests.factories.agents import agent_body
from tests.webhooks.receiver import receiving

EVENTS = 40
AGENT = agent_body(name="Once")
KEY = {"Idempotency-Key": "once"}


@pytest.mark.every_case
@pytest.mark.campaign
async def test_the_first_request_after_a_kill_is_acknowledged(tmp_path: Path, database_url: str) -> None:
    """The same request again, whose key the killed process held, with its work half done and leased."""
    async with receiving() as receiver, ServerProcess(tmp_path, database_url) as server:
        await server.start()
        token = await sign_in(server.port)
        hook = {"url": receiver.url + "/hanging", "events": ["order.*"]}
        assert (await call(server.port, "POST", "/api/v1/webhooks", token=token, body=hook))[0] == 201
        server.kill()
        assert await server.ended(10)
        server.env["RETINUE_FAILPOINTS"] = "before_answer_kept:1:kill"
        await server.start()
        body = {"event_type": "order.placed", "data": {}}
        for _ in range(EVENTS):
            await call(server.port, "POST", "/api/v1/events/test", token=token, body=body)
        await receiver.until("/hanging", 1)
        with pytest.raises(Unreachable):
            await call(server.port, "POST", "/api/v1/agents", token=token, body=AGENT, headers=KEY)
        assert await server.ended(10)
        del server.env["RETINUE_FAILPOINTS"]
        receiver.release.set()
        await server.start()
        status, made = await call(server.port, "POST", "/api/v1/agents", token=token, body=AGENT, headers=KEY)
        assert status == 201, made
        again = await call(server.port, "POST", "/api/v1/agents", token=token, body=AGENT, headers=KEY)
        assert again == (201, made)
        _, found = await call(server.port, "GET", "/api/v1/agents", token=token)
        assert len(found["data"]) == 1
        async with asyncio.timeout(60):
            while len({one.json["id"] for one in receiver.received}) < EVENTS:
                await asyncio.sleep(0.05)
        assert await server.stop() == 0
