"""Kill -9 while a history is compacted: nothing is lost, and the claim of the dead process expires."""

import asyncio
import os
import random
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import pytest

from retinue.chat.models import Conversation, ConversationSummary
from retinue.chat.turn.compaction_claim import LEASE_SECONDS
from retinue.kit.clock import SystemClock
from tests.adapters.llm_replies import Reply
from tests.adapters.llm_server import KEY, ProviderServer, provider_server
from tests.chat.long_talks import (
    FILLING,
    SUMMARY,
    SUMMARY_REQUEST,
    is_for_summary,
    recall,
    talk_at_length,
    text_of,
    usage_of,
)
from tests.e2e.chatting import open_database
from tests.e2e.conftest import Serving
from tests.e2e.crashing import sign_in
from tests.e2e.load import Unreachable, call
from tests.e2e.processes import ServerProcess

pytestmark = pytest.mark.slow

Json = dict[str, Any]
KILLS = int(os.environ.get("RETINUE_TEST_COMPACTION_KILLS", "4"))
SEED = int(os.environ.get("RETINUE_TEST_SEED", "1"))
LIMIT = 4_000
PATIENCE_S = 60
FIRST = "The harbour master is Mrs Ødegård, berth 47."
LONG = "And all of the islands? " * 170


@dataclass
class Talk:
    """One conversation with a server that is killed; `questions` are those that were sent."""

    server: ServerProcess
    provider: ProviderServer
    token: str = ""
    agent_id: str = ""
    conversation_id: str = ""
    questions: list[str] = field(default_factory=list)

    async def call(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        return await call(self.server.port, method, path, token=self.token, body=body)

    async def say(self, message: str) -> Json:
        self.questions.append(message)
        body = {"message": message, "conversation_id": self.conversation_id or None}
        status, reply = await self.call("POST", f"/api/v1/agents/{self.agent_id}/chat", body)
        assert status == 200, reply
        self.conversation_id = reply["conversation_id"]
        return reply

    async def fill(self) -> None:
        """Talk until one more long message is too much, but not so long that a summary takes two requests."""
        reply = await self.say(FIRST)
        while reply["usage"]["total_tokens"] < LIMIT - 1_000:
            reply = await self.say(f"What about day {len(self.questions)}?")
            assert reply["compaction"] is None

    def summary_requests(self) -> list[Json]:
        chats = (one.json for one in self.provider.requests if one.path.endswith("/chat/completions"))
        return [one for one in chats if is_for_summary(one)]

    async def killed_while_waiting(self, message: str, request_count: int) -> None:
        """Send a message and kill the server during this request to the model."""
        said = asyncio.create_task(self.say(message))
        async with asyncio.timeout(PATIENCE_S):
            while len(self.provider.requests) < request_count:
                assert not said.done()
                await asyncio.sleep(0.005)
        self.server.kill()
        with suppress(*Unreachable):
            raise AssertionError(f"answered: {await said}")
        self.provider.may_answer.set()

    async def messages(self) -> list[Json]:
        path = f"/api/v1/conversations/{self.conversation_id}/messages?per_page=100"
        status, page = await self.call("GET", path)
        assert status == 200, page
        return page["data"]


@asynccontextmanager
async def talking_at_length(serving: Serving) -> AsyncIterator[Talk]:
    """A server whose agent answers at length; it ends before the provider, which waits for its clients."""
    async with provider_server() as provider:
        talk_at_length(provider, filling=FILLING * 4)
        try:
            async with serving() as server:
                await server.start()
                talk = Talk(server, provider, await sign_in(server.port))
                await set_up(talk)
                yield talk
        finally:
            provider.may_answer.set()


async def set_up(talk: Talk) -> None:
    base_url = f"{talk.provider.url}/v1"
    key = {"provider": "openai_compatible", "api_key": KEY, "base_url": base_url, "models": ["m"]}
    status, made = await talk.call("POST", "/api/v1/api-keys", key)
    assert status == 201, made
    agent = {
        "name": "Pilot",
        "primary_model": "openai_compatible/m",
        "system_prompt": "You help sailors.",
        "max_context_tokens": LIMIT,
    }
    status, made = await talk.call("POST", "/api/v1/agents", agent)
    assert status == 201, made
    talk.agent_id = made["id"]


async def stored_summaries(server: ServerProcess) -> tuple[list[ConversationSummary], str | None]:
    """Every claim and summary, and the one that the conversation points to."""
    async with open_database(server) as ctx:
        system = ctx.system("the test looks at everything")
        (conversation,) = await system.all(Conversation)
        return await system.all(ConversationSummary), conversation.summary_id


async def expire_claim(server: ServerProcess, claim: ConversationSummary, seconds: float) -> None:
    """Let the claim of the dead process expire in this time, as it would after its lease."""
    async with open_database(server) as ctx:
        ctx.bind_tenant(claim.tenant_id)
        async with ctx.unit() as unit:
            locked = await unit.db.lock(ConversationSummary, claim.id)
            assert locked is not None
            await unit.db.update(locked, lease_expires_at=SystemClock().ahead(seconds))


async def check_nothing_lost(talk: Talk) -> None:
    """Every question is there once and in order, and the model can still read the first one."""
    found = [one["content"] for one in await talk.messages() if one["role"] == "user"]
    assert found == talk.questions
    talk.provider.says("", recall(query="Who is the harbour master, and which berth?"))
    talk.provider.says("It is berth 47.", usage=usage_of(talk.provider, ""))
    (called,) = (await talk.say("Which berth did I name?"))["tool_calls"]
    assert called["status"] == "completed", called
    assert called["output"]["messages"][0]["text"] == FIRST


async def test_a_compaction_that_was_killed_is_made_by_the_next_turn(serving: Serving) -> None:
    async with talking_at_length(serving) as talk:
        server = talk.server
        await talk.fill()
        talk.provider.may_answer.clear()
        before = len(talk.provider.requests)
        await talk.killed_while_waiting(LONG, before + 1)
        assert len(talk.summary_requests()) == 1
        (claim,), pointed_to = await stored_summaries(server)
        assert pointed_to is None
        assert claim.lease_expires_at is not None
        assert claim.lease_expires_at <= SystemClock().ahead(LEASE_SECONDS)

        # Killed once more, after the summary was stored and before the answer.
        def answer_after_summary(heard: str) -> Reply:
            if SUMMARY_REQUEST in heard:
                talk.provider.may_answer.clear()
            return Reply(SUMMARY, usage=usage_of(talk.provider, SUMMARY))

        talk.provider.otherwise = answer_after_summary
        await expire_claim(server, claim, 4)
        await server.start()
        await talk.killed_while_waiting("And now?", before + 3)
        assert len(talk.summary_requests()) == 2
        (stored,), pointed_to = await stored_summaries(server)
        expected = (claim.id, claim.id, None, SUMMARY)
        assert (stored.id, pointed_to, stored.lease_expires_at, stored.text) == expected

        talk_at_length(talk.provider)
        await server.start()
        reply = await talk.say("And after that?")
        assert (reply["compaction"], len(talk.summary_requests())) == (None, 2)
        assert SUMMARY in text_of(talk.provider.last.json["messages"][1])
        await check_nothing_lost(talk)
        assert await server.stop() == 0


async def test_killed_compactions_block_no_longer_than_their_lease(serving: Serving) -> None:
    """The lease as it is, and kills at random moments of a compaction."""
    chance = random.Random(SEED)
    async with talking_at_length(serving) as talk:
        server = talk.server
        await talk.fill()
        for number in range(KILLS):
            claimed = len(talk.summary_requests())
            said = asyncio.create_task(talk.say(LONG))
            if number % 2 == 0:
                talk.provider.may_answer.clear()
                async with asyncio.timeout(PATIENCE_S):
                    while len(talk.summary_requests()) == claimed:
                        await asyncio.sleep(0.005)
            await asyncio.sleep(chance.uniform(0, 0.1))
            server.kill()
            with suppress(*Unreachable):
                await said
            talk.provider.may_answer.set()
            await server.start()
            started = time.monotonic()
            await talk.say(f"And after kill {number}?")
            assert time.monotonic() - started < LEASE_SECONDS + 5
            rows, pointed_to = await stored_summaries(server)
            assert [(row.id, row.lease_expires_at) for row in rows] == [(pointed_to, None)]
            while talk.provider.last.json and number + 1 < KILLS:
                if (await talk.say("Tell me more."))["usage"]["prompt_tokens"] > LIMIT * 0.8:
                    break
        found = {one["content"] for one in await talk.messages() if one["role"] == "user"}
        assert found >= set(talk.questions) - {LONG}
        assert await server.stop() == 0
