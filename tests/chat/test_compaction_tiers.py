"""The tiers of a compaction: results of tools, attachments, and a summary that fails or is interrupted."""

from typing import Any

import msgspec
import pytest

from retinue.chat.models import ConversationSummary
from retinue.chat.turn import compaction_claim
from retinue.kit.clock import ManualClock
from tests.adapters.llm_replies import Call, Reply
from tests.adapters.llm_server import ProviderServer
from tests.chat.attaching import photo, refs, upload
from tests.chat.background_jobs import accept, job_of
from tests.chat.long_talks import (
    LongTalk,
    functions_of,
    is_for_summary,
    long_agent,
    recall,
    shares,
    talk_at_length,
    text_of,
    tokens_in,
    usage_of,
)
from tests.chat.speaking import messages_of
from tests.client import Api
from tests.factories.agents import attach_tool
from tests.factories.people import People
from tests.factories.tools import make_tool
from tests.tools.servers.rest_api import RestApi

Json = dict[str, Any]
LIMIT = 6_000


@pytest.fixture
async def desk_talk(admin: Api, provider: ProviderServer, remote: RestApi) -> LongTalk:
    """An agent whose tool gives long results, and which says little itself."""
    talk_at_length(provider, filling="Done.")
    agent = await long_agent(admin, provider, max_context_tokens=LIMIT)
    await attach_tool(admin, agent, await make_tool(admin, remote.url, description="Tells the weather."))
    return LongTalk(admin, agent, provider)


async def look_up(talk: LongTalk, number: int, length: int = 3_000) -> Json:
    """A turn with a call whose result is long."""
    query = {"query": {"town": f"Town{number}", "pad": "x" * length}}
    talk.provider.says("", Call("weather__get", msgspec.json.encode(query).decode(), f"call_{number}"))
    return await talk.say(f"Weather in town {number}?")


async def look_up_until_compacted(talk: LongTalk) -> None:
    number = 0
    while not talk.compactions():
        assert number < 30
        await look_up(talk, number)
        number += 1


async def first_recall_id(talk: LongTalk) -> str:
    messages = await messages_of(talk.api, talk.conversation_id)
    first = next(one for one in messages if one["details"] and one["details"]["tool_calls"])
    return f"{first['id']}/call_0"


async def test_old_results_are_left_out_before_anything_else(desk_talk: LongTalk) -> None:
    talk = desk_talk
    await look_up_until_compacted(talk)
    assert talk.replies[-1]["compaction"]["tiers"] == [1]
    assert not talk.summaries()
    request = talk.answers()[-1]
    assert functions_of(request) == ["weather__get", "recall"]
    results = [text_of(one) for one in request["messages"] if one["role"] == "tool"]
    left_out = [one for one in results if one.startswith("(result of weather__get, ")]
    assert left_out
    assert left_out == results[: len(left_out)]
    # Those of the last two turns before this one, and its own, are whole.
    assert len(results) - len(left_out) >= 3
    recall_id = await first_recall_id(talk)
    assert left_out[0].endswith(f" characters, left out; recall id {recall_id})")


async def test_a_result_that_was_left_out_can_be_recalled(desk_talk: LongTalk) -> None:
    talk = desk_talk
    await look_up_until_compacted(talk)
    recall_id = await first_recall_id(talk)
    talk.provider.says("", recall(id=recall_id))
    found = await talk.say("What was the weather in the first town?")
    output = found["tool_calls"][0]["output"]
    assert (output["id"], output["role"]) == (recall_id, "tool")
    assert "Town0" in output["text"]
    assert "<material" not in output["text"]
    assert shares(talk.answers()[-2:])[0] >= 0.95
    assert max(map(tokens_in, talk.answers())) <= LIMIT * 1.2


async def test_a_summary_that_fails_is_told_and_the_turn_goes_on(desk_talk: LongTalk) -> None:
    """Results alone do not go down to 60 %, so a summary is tried; without it the turn fits as well."""
    talk = desk_talk
    filling = "Not much to say, except for this and that. " * 24
    talk.provider.otherwise = lambda _: Reply(filling, usage=usage_of(talk.provider, filling))
    for day in range(8):
        await talk.say(f"Day {day}?")
    await look_up(talk, 0, 2_000)
    await look_up(talk, 1, 2_000)
    number = 2
    while talk.replies[-1]["usage"]["prompt_tokens"] < LIMIT - 700 or talk.replies[-1]["tool_calls"]:
        await talk.say(f"More of {number}?")
        number += 1
        assert number < 40
    assert not talk.compactions()
    talk.provider.otherwise = lambda heard: (
        Reply("", finish="content_filter") if "Write one summary" in heard else Reply("Fine.")
    )
    reply = await talk.say("And now? " * 400)
    assert "history_summary_failed" in reply["warnings"]
    assert reply["compaction"]["tiers"] == [1]
    assert talk.summaries()


async def test_old_attachments_become_lines(admin: Api, provider: ProviderServer) -> None:
    talk_at_length(provider, filling="I see.")
    talk = LongTalk(admin, await long_agent(admin, provider, max_context_tokens=LIMIT), provider)
    picture = await upload(admin, "boat.jpg", photo())
    text = await upload(admin, "log.txt", b"Day 1: calm. " * 700)
    await talk.say("Look at this.", attachments=refs(picture, text))
    number = 0
    while not talk.compactions():
        await talk.say(f"More {number}: " + "and so on " * 60)
        number += 1
        assert number < 40
    assert talk.replies[-1]["compaction"]["tiers"] == [2]
    request = str(talk.answers()[-1]["messages"])
    assert "image_url" not in request
    assert "Attached image: boat.jpg" in request
    assert "Day 1: calm" not in request
    assert functions_of(talk.answers()[-1]) == ["read_attachment", "recall"]
    while len(talk.compactions()) < 2:
        await talk.say(f"More {number}: " + "and so on " * 60)
        number += 1
        assert number < 80
    assert 3 in talk.replies[-1]["compaction"]["tiers"]
    arguments = msgspec.json.encode({"file_id": text, "page": 1}).decode()
    talk.provider.says("", Call("read_attachment", arguments, "call_page"))
    read = await talk.say("What does the log say?")
    assert "Day 1: calm" in read["tool_calls"][0]["output"]["text"]


async def test_a_background_turn_compacts_too(admin: Api, provider: ProviderServer, service: Any) -> None:
    talk_at_length(provider, filling="word " * 300)
    talk = LongTalk(admin, await long_agent(admin, provider, max_context_tokens=4_000), provider)
    await talk.say("Hello.")
    for number in range(14):
        body = {"message": f"And {number}?", "conversation_id": talk.conversation_id}
        accepted = await accept(admin, talk.agent, **body)
        await service.runner.drain()
        job = await job_of(admin, talk.agent, accepted)
        assert job["status"] == "completed", job
        if job["result"]["compaction"]:
            break
    assert job["result"]["compaction"]["tiers"] == [3]
    assert talk.summaries()


async def test_a_claim_whose_process_was_killed_is_taken_over(
    admin: Api, provider: ProviderServer, people: People, clock: ManualClock, monkeypatch: Any
) -> None:
    """A row that nobody renews: the next turn waits until it expires, and then makes the summary."""
    monkeypatch.setattr(compaction_claim, "LEASE_SECONDS", 0.5)
    talk_at_length(provider, filling="word " * 300)
    talk = LongTalk(admin, await long_agent(admin, provider, max_context_tokens=4_000), provider)
    await talk.say("Hello.")
    async with people.context((await people.default_tenant()).id) as ctx:
        await ctx.db.insert(
            ConversationSummary(
                conversation_id=talk.conversation_id,
                key=f"{talk.conversation_id}/1",
                number=1,
                lease_expires_at=clock.ahead(-1),
            )
        )
        await ctx.commit()
    while not talk.compactions():
        await talk.say(f"And {len(talk.replies)}?")
        assert len(talk.replies) < 20
    assert talk.replies[-1]["compaction"]["tiers"] == [3]
    assert all(map(is_for_summary, talk.summaries()))
