"""Spoken messages, transcribed by a scripted provider; `test_speech.py` has the embedded model."""

from typing import Any

import pytest

from retinue.app import Service
from retinue.chat.voice.audio_message import NO_SPEECH_REPLY
from tests.adapters.llm_server import ProviderServer, refusing
from tests.adapters.recordings import encode_recording, plain_wav, silence, tone
from tests.chat.attaching import upload
from tests.chat.speaking import messages_of, path_of, reply_to
from tests.client import Api, Response
from tests.contract.declared import find_undeclared
from tests.factories.agents import make_agent
from tests.factories.providers import add_key_for

pytestmark = pytest.mark.either_database

SOUND = plain_wav(tone(0.1))


@pytest.fixture
async def service(make_service: Any) -> Service:
    return await make_service(stt_model="openai_compatible/whisper-1")


@pytest.fixture
async def agent(admin: Api, provider: ProviderServer) -> dict[str, Any]:
    await add_key_for(admin, provider, models=["test-model", "whisper-1"])
    return await make_agent(admin, primary_model="openai_compatible/test-model")


async def speak(
    api: Api, agent: dict[str, Any], content: bytes = SOUND, name: str = "voice.wav", **fields: str
) -> Response:
    files = {"audio": (name, content, "text/plain")}
    return await api.post(path_of(agent, "/audio"), files=files, fields=fields)


async def test_what_was_said_is_answered_and_stored_like_a_message(
    admin: Api, agent: dict[str, Any], provider: ProviderServer
) -> None:
    provider.says("I heard you.")
    answer = await speak(admin, agent)
    assert answer.status == 200, answer
    assert find_undeclared("POST /api/v1/agents/{agent_id}/chat/audio", answer) == []
    reply = answer.json()
    said = f"audio.wav has {len(SOUND)} bytes"
    assert reply["transcription"] == {"text": said, "language": "english", "duration_seconds": 8.5}
    assert reply["message"]["content"] == "I heard you."
    assert (reply["finish_reason"], reply["model"]) == ("stop", "openai_compatible/test-model")
    stored = await messages_of(admin, reply["conversation_id"])
    assert [(one["role"], one["content"]) for one in stored] == [
        ("user", said),
        ("assistant", "I heard you."),
    ]
    logged = (await admin.get(f"/api/v1/agents/{agent['id']}/logs")).json()["data"]
    assert [(one["channel"], one["user_message"]) for one in logged] == [("audio", said)]


async def test_a_spoken_message_goes_on_with_a_conversation(admin: Api, agent: dict[str, Any]) -> None:
    first = await reply_to(admin, agent, "Hello")
    answer = await speak(admin, agent, conversation_id=first["conversation_id"])
    assert answer.json()["conversation_id"] == first["conversation_id"]
    assert len(await messages_of(admin, first["conversation_id"])) == 4


@pytest.mark.parametrize(
    ("kind", "name"),
    [("mp3", "audio.mp3"), ("webm", "audio.webm"), ("ogg", "audio.ogg"), ("m4a", "audio.m4a")],
)
async def test_the_content_says_what_a_recording_is_and_not_its_name(
    admin: Api, agent: dict[str, Any], kind: str, name: str
) -> None:
    answer = await speak(admin, agent, encode_recording(tone(0.2), kind), "holiday.exe")
    assert answer.json()["transcription"]["text"].startswith(f"{name} has")


@pytest.mark.parametrize(
    "content",
    [
        b"#EXTM3U\n#EXTINF:1,\nhttp://127.0.0.1/secret\n",
        b"concat:/etc/passwd",
        b"\xff" * 1000,
        b"<html></html>",
        b"",
    ],
    ids=["playlist", "concat", "0xFF", "page", "empty"],
)
async def test_what_is_no_recording_is_refused_whatever_it_is_called(
    admin: Api, agent: dict[str, Any], provider: ProviderServer, content: bytes
) -> None:
    answer = await speak(admin, agent, content, "song.mp3")
    assert (answer.status, answer.code) == (415, "unsupported_file_type")
    assert [request.path for request in provider.requests if "audio" in request.path] == []


async def test_more_than_25_megabytes_are_refused(admin: Api, agent: dict[str, Any]) -> None:
    answer = await speak(admin, agent, b"\xff\xfb\x90\x64" + bytes(25 * 1024 * 1024))
    assert (answer.status, answer.code) == (413, "file_too_large")


async def test_a_form_without_a_recording_is_refused(admin: Api, agent: dict[str, Any]) -> None:
    answer = await admin.post(path_of(agent, "/audio"), files={}, fields={"audio": "text"})
    assert (answer.status, answer.details) == (422, {"audio": "A file is required."})


async def test_silence_is_answered_without_asking_the_agents_model(
    admin: Api, agent: dict[str, Any], provider: ProviderServer
) -> None:
    provider.fails(refusing(200, {"text": "  ", "language": "english", "duration": 1.0}))
    answer = await speak(admin, agent, plain_wav(silence(1)))
    assert answer.status == 200, answer
    reply = answer.json()
    assert reply["transcription"]["text"] == ""
    assert (reply["finish_reason"], reply["message"]["content"]) == ("no_speech", NO_SPEECH_REPLY)
    assert set(reply["usage"].values()) == {0}
    assert [request.path for request in provider.requests if "chat" in request.path] == []
    stored = await messages_of(admin, reply["conversation_id"])
    assert [one["id"] for one in stored][-1:] == [reply["message"]["id"]]


async def test_somebody_elses_conversation_and_an_archived_agent_are_refused_before_anything_is_heard(
    admin: Api, agent: dict[str, Any], provider: ProviderServer
) -> None:
    heard_before = len(provider.requests)
    answer = await speak(admin, agent, conversation_id="conv_unknown")
    assert (answer.status, answer.code) == (404, "conversation_not_found")
    await admin.put(f"/api/v1/agents/{agent['id']}", {"status": "archived"})
    answer = await speak(admin, agent)
    assert (answer.status, answer.code) == (409, "agent_archived")
    assert len(provider.requests) == heard_before


async def test_a_transcriber_that_nobody_serves_is_said(admin: Api, agent: dict[str, Any]) -> None:
    keys = (await admin.get("/api/v1/api-keys")).json()["data"]
    await admin.put(f"/api/v1/api-keys/{keys[0]['id']}", {"models": ["test-model"]})
    answer = await speak(admin, agent)
    assert (answer.status, answer.code) == (422, "stt_not_configured")


async def test_missing_weights_of_the_embedded_transcriber_are_said(admin: Api) -> None:
    """Without any key the embedded model would listen, but nobody pulled its weights."""
    answer = await speak(admin, await make_agent(admin))
    assert (answer.status, answer.code) == (422, "stt_not_configured")
    assert "retinue models pull" in answer.json()["error"]["message"]


async def test_a_recording_may_have_files_beside_it(
    admin: Api, agent: dict[str, Any], provider: ProviderServer
) -> None:
    ids = [await upload(admin, f"{name}.txt", f"Text of {name}".encode()) for name in ("one", "two")]
    boundary = "----files"
    parts = [
        f'--{boundary}\r\nContent-Disposition: form-data; name="attachments"\r\n\r\n{file_id}\r\n'
        for file_id in ids
    ]
    head = f'--{boundary}\r\nContent-Disposition: form-data; name="audio"; filename="a.wav"\r\n\r\n'
    body = "".join(parts).encode() + head.encode() + SOUND + f"\r\n--{boundary}--\r\n".encode()
    headers = {"Content-Type": f"multipart/form-data; boundary={boundary}"}
    answer = await admin.post(path_of(agent, "/audio"), content=body, headers=headers)
    assert answer.status == 200, answer
    sent = str(provider.last.json["messages"][-1])
    assert sent.index("Text of one") < sent.index("Text of two")
    stored = await messages_of(admin, answer.json()["conversation_id"])
    assert [one["file_id"] for one in stored[0]["attachments"]] == ids
    refused = await speak(admin, agent, attachments="file_of_nobody")
    assert (refused.status, refused.code) == (404, "file_not_found")
