"""Text read out by a scripted provider; `test_speech.py` has the embedded voice."""

import asyncio
from typing import Any

import pytest

from retinue.app import Service
from tests.adapters.llm_server import ProviderServer, chunked, refusing
from tests.chat.listening import Listener
from tests.chat.speaking import path_of
from tests.client import Api, Response
from tests.factories.agents import make_agent
from tests.factories.providers import add_key_for

pytestmark = pytest.mark.either_database


@pytest.fixture
async def service(make_service: Any) -> Service:
    return await make_service(tts_model="openai_compatible/tts-1", metrics=True)


@pytest.fixture
async def agent(admin: Api, provider: ProviderServer) -> dict[str, Any]:
    await add_key_for(admin, provider, models=["test-model", "tts-1"])
    return await make_agent(admin, primary_model="openai_compatible/test-model")


async def read_out(api: Api, agent: dict[str, Any], text: Any = "Hello.", **more: Any) -> Response:
    return await api.post(path_of(agent, "/tts"), {"text": text, **more})


@pytest.mark.parametrize(
    ("asked", "mime_type", "begins"),
    [
        ({}, "audio/mpeg", b"mp3:alloy:Hello."),
        ({"format": "wav", "voice": "nova"}, "audio/wav", b"wav:nova:Hello."),
        ({"format": "opus", "speed": 1.5}, "audio/ogg", b"opus:alloy:Hello."),
        ({"format": None, "voice": None, "speed": None}, "audio/mpeg", b"mp3:alloy:Hello."),
    ],
)
async def test_the_answer_is_sound_with_its_own_media_type(
    admin: Api, agent: dict[str, Any], asked: dict[str, Any], mime_type: str, begins: bytes
) -> None:
    answer = await read_out(admin, agent, **asked)
    assert (answer.status, answer.headers["content-type"]) == (200, mime_type)
    assert answer.headers["cache-control"] == "no-store"
    assert "content-length" not in answer.headers
    assert answer.headers["x-request-id"].startswith("req_")
    assert answer.body == begins * 100


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "text"),
        ({"text": ""}, "text"),
        ({"text": "a" * 4_097}, "text"),
        ({"text": "Hi", "speed": 2.1}, "speed"),
        ({"text": "Hi", "speed": 0.4}, "speed"),
        ({"text": "Hi", "format": "flac"}, "format"),
        ({"text": "Hi", "voice": "x" * 65}, "voice"),
    ],
)
async def test_what_cannot_be_read_out_is_refused(
    admin: Api, agent: dict[str, Any], body: dict[str, Any], field: str
) -> None:
    answer = await admin.post(path_of(agent, "/tts"), body)
    assert answer.status == 422
    assert set(answer.details) == {field}


async def test_4096_characters_are_read_out(admin: Api, agent: dict[str, Any]) -> None:
    assert (await read_out(admin, agent, "a" * 4_096)).status == 200


async def test_a_failure_before_the_first_byte_is_an_error_with_its_own_status(
    admin: Api, agent: dict[str, Any], provider: ProviderServer
) -> None:
    provider.fails(refusing(400))
    answer = await read_out(admin, agent)
    assert (answer.status, answer.code) == (502, "model_error")
    assert answer.headers["content-type"] == "application/json"


async def test_who_stops_listening_hangs_up_on_the_provider(
    admin: Api, agent: dict[str, Any], provider: ProviderServer
) -> None:
    began = asyncio.Event()

    async def speak_for_ever(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = b"HTTP/1.1 200 X\r\nContent-Type: audio/mpeg\r\nTransfer-Encoding: chunked\r\n\r\n"
        writer.write(head + chunked(b"sound"))
        await writer.drain()
        began.set()
        await reader.read()

    provider.hung_up.clear()
    provider.fails(speak_for_ever)
    listener = Listener(admin, path_of(agent, "/tts"), {"text": "Hello."})
    await began.wait()
    await listener.leave()
    assert listener.body in {b"", b"sound"}
    async with asyncio.timeout(10):
        await provider.hung_up.wait()


async def test_an_archived_agent_does_not_speak(admin: Api, agent: dict[str, Any]) -> None:
    await admin.put(f"/api/v1/agents/{agent['id']}", {"status": "archived"})
    answer = await read_out(admin, agent)
    assert (answer.status, answer.code) == (409, "agent_archived")


async def test_a_voice_that_nobody_serves_is_said(admin: Api, agent: dict[str, Any]) -> None:
    keys = (await admin.get("/api/v1/api-keys")).json()["data"]
    await admin.put(f"/api/v1/api-keys/{keys[0]['id']}", {"models": ["test-model"]})
    answer = await read_out(admin, agent)
    assert (answer.status, answer.code) == (422, "tts_not_configured")
