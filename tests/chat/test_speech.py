"""Speech in and out through the embedded models, without any key for it."""

import re
from typing import Any

import pytest

from retinue.adapters.embedded.weights import TRANSCRIPTION_WEIGHTS
from retinue.adapters.embedded.weights_download import pull
from retinue.app import Service
from retinue.chat.voice.audio_message import NO_SPEECH_REPLY
from tests.adapters.recordings import MODELS, SENTENCE, noise, plain_wav, silence
from tests.chat.attaching import refs, upload
from tests.chat.listening import Listener
from tests.chat.speaking import path_of, say
from tests.client import Api, Response

pytestmark = [pytest.mark.either_database, pytest.mark.slow]


@pytest.fixture
async def service(make_service: Any) -> Service:
    pull(MODELS, (TRANSCRIPTION_WEIGHTS,))
    return await make_service(models_dir=MODELS)


async def speak(api: Api, agent: dict[str, Any], content: bytes) -> Response:
    return await api.post(path_of(agent, "/audio"), files={"audio": ("a.mp3", content, "audio/mpeg")})


async def test_what_the_embedded_voice_says_the_embedded_listener_understands(
    admin: Api, agent: dict[str, Any], provider: Any
) -> None:
    spoken = await admin.post(path_of(agent, "/tts"), {"text": SENTENCE})
    assert (spoken.status, spoken.headers["content-type"]) == (200, "audio/mpeg")
    provider.says("Noted.")
    answer = await speak(admin, agent, spoken.body)
    assert answer.status == 200, answer
    reply = answer.json()
    heard = reply["transcription"]
    words = re.findall(r"[a-z0-9]+", heard["text"].lower().replace("9", "nine"))
    assert words == re.findall(r"[a-z]+", SENTENCE.lower())
    assert heard["language"] == "en"
    assert 4 < heard["duration_seconds"] < 7
    assert provider.last.json["messages"][-1]["content"] == heard["text"]
    assert reply["message"]["content"] == "Noted."


@pytest.mark.parametrize("sound", [silence(2), noise(2)], ids=["silence", "noise"])
async def test_a_recording_without_speech_is_answered_with_a_request_to_speak(
    admin: Api, agent: dict[str, Any], sound: Any
) -> None:
    nothing = (await speak(admin, agent, plain_wav(sound))).json()
    assert nothing["transcription"] == {"text": "", "language": None, "duration_seconds": 2.0}
    assert nothing["message"]["content"] == NO_SPEECH_REPLY
    assert (nothing["finish_reason"], nothing["model"]) == ("no_speech", "local/whisper-base")


async def test_a_recording_that_is_too_long_or_damaged_is_refused(admin: Api, agent: dict[str, Any]) -> None:
    too_long = await speak(admin, agent, plain_wav(silence(601)))
    assert (too_long.status, too_long.details) == (422, {"audio": "must not be longer than 10 minutes"})
    damaged = b"ID3\x04\0\0\0\0\0\0" + bytes(1000)
    broken = await speak(admin, agent, damaged)
    assert (broken.status, broken.details) == (422, {"audio": "is not a readable recording"})
    file_id = await upload(admin, "memo.mp3", damaged)
    attached = await say(admin, agent, "What is said?", attachments=refs(file_id))
    assert (attached.status, attached.details) == (422, {"attachments.0": "is not a readable recording"})


async def test_the_embedded_voice_refuses_what_it_cannot_say(admin: Api, agent: dict[str, Any]) -> None:
    refused = {
        "text": {"text": "你好世界"},
        "voice": {"text": "Hello.", "voice": "alloy"},
    }
    for field, body in refused.items():
        answer = await admin.post(path_of(agent, "/tts"), body)
        assert (answer.status, set(answer.details)) == (422, {field})
        assert answer.headers["content-type"] == "application/json"


async def test_who_stops_listening_to_the_embedded_voice_leaves_the_place_to_others(
    admin: Api, agent: dict[str, Any]
) -> None:
    for _ in range(3):
        await Listener(admin, path_of(agent, "/tts"), {"text": f"{SENTENCE} " * 50}).leave()
    assert (await admin.post(path_of(agent, "/tts"), {"text": "Hello."})).status == 200
