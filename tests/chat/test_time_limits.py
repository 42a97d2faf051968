"""Tests of the time limits of models and turns: the instance's settings, and an agent's own."""

import asyncio
from typing import Any

import pytest

from tests.adapters.llm_server import STREAM_HEAD, Fault, ProviderServer, chunked, hanging
from tests.chat.speaking import path_of, say, stream
from tests.client import Api
from tests.factories.agents import change_agent, make_agent

pytestmark = pytest.mark.either_database

Json = dict[str, Any]
WORDS = tuple(b'data: {"choices":[{"delta":{"content":"%b"}}]}\n\n' % word for word in (b"Well", b"done"))
END = b'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'


def think_for(seconds: float) -> Fault:
    """Return a model that is silent for this long before its first word, and before its second."""

    async def answer(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(seconds)
        writer.write(STREAM_HEAD + chunked(WORDS[0]))
        await writer.drain()
        await asyncio.sleep(seconds)
        writer.write(chunked(WORDS[1]) + chunked(END) + b"0\r\n\r\n")
        await writer.drain()

    return answer


async def test_an_agent_may_be_less_patient_than_the_instance(
    admin: Api, agent: Json, provider: ProviderServer
) -> None:
    agent = await change_agent(admin, agent, timeouts={"first_byte_s": 1, "turn_s": 20})
    assert agent["timeouts"] == {"first_byte_s": 1, "between_chunks_s": None, "turn_s": 20}
    provider.fails(hanging())
    answer = await admin.post(path_of(agent, "/stream"), {"message": "Hello"})
    assert (answer.status, answer.code) == (504, "model_timeout")


async def test_silence_within_a_reply_has_its_own_limit(
    admin: Api, agent: Json, provider: ProviderServer
) -> None:
    agent = await change_agent(admin, agent, timeouts={"between_chunks_s": 1})
    provider.fails(hanging(STREAM_HEAD + chunked(WORDS[0])))
    *_, last = await stream(admin, agent)
    assert (last.event, last.data["code"]) == ("error", "model_timeout")


async def test_a_turn_has_the_time_that_its_agent_says(
    admin: Api, agent: Json, provider: ProviderServer
) -> None:
    agent = await change_agent(admin, agent, timeouts={"turn_s": 1})
    provider.fails(hanging())
    answer = await say(admin, agent)
    assert answer.status == 504


@pytest.mark.parametrize("seconds", [0, -1, 3601, 1.5, "1", True])
async def test_seconds_are_whole_and_at_most_an_hour(admin: Api, seconds: Any) -> None:
    agent = await make_agent(admin)
    answer = await admin.put(f"/api/v1/agents/{agent['id']}", {"timeouts": {"turn_s": seconds}})
    assert (answer.status, list(answer.details)) == (422, ["timeouts.turn_s"])


async def test_a_model_may_think_for_a_moment(admin: Api, agent: Json, provider: ProviderServer) -> None:
    provider.fails(think_for(0.5))
    heard = await stream(admin, agent)
    assert [one.data["delta"] for one in heard if one.event == "content_delta"] == ["Well", "done"]


@pytest.mark.slow
async def test_a_model_may_think_for_a_long_time(admin: Api, agent: Json, provider: ProviderServer) -> None:
    provider.fails(think_for(100))
    heard = await stream(admin, agent)
    assert [one.data["delta"] for one in heard if one.event == "content_delta"] == ["Well", "done"]
    assert heard[-1].event == "message_stop"
