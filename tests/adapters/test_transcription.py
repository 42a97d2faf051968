"""Recordings as text, by the real model in its real process."""

import asyncio
import re
from pathlib import Path

import numpy as np
import pytest

from retinue.adapters.embedded.speech.transcriber import Transcriber
from retinue.adapters.llm.errors import ModelError
from retinue.adapters.llm.messages import Audio, Transcription
from retinue.kit.errors import Invalid
from tests.adapters.recordings import encode_recording, noise, plain_wav, silence, tone

pytestmark = pytest.mark.slow

pytest_plugins = ("tests.adapters.speech_fixtures",)

HEARD = "the library opens at 9 in the morning nobody may bring food inside"


async def transcribe(transcriber: Transcriber, content: bytes, **more: str) -> Transcription:
    return await transcriber.transcribe(Audio(content, "anything.bin", "text/plain"), **more)


def words(text: str) -> str:
    return " ".join(re.findall(r"[a-z0-9]+", text.lower())).replace("nine", "9")


@pytest.mark.parametrize("kind", ["wav", "mp3", "webm", "ogg"])
async def test_what_was_said_is_understood_from_every_common_format(transcriber, sentence, kind):
    found = await transcribe(transcriber, encode_recording(sentence, kind))
    assert (words(found.text), found.language) == (HEARD, "en")
    assert found.duration_seconds == pytest.approx(len(sentence) / 16_000, abs=0.15)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["wav_24_bit", "wav_telephone", "matroska", "mp4", "m4a"])
async def test_what_was_said_is_understood_from_rarer_formats(transcriber, sentence, kind):
    assert words((await transcribe(transcriber, encode_recording(sentence, kind, "stereo"))).text) == HEARD


@pytest.mark.parametrize(
    "sound",
    [silence(5), noise(5), noise(5, 0.002), tone(5), np.ones(80_000, np.int16), silence(0.01)],
    ids=["silence", "noise", "hiss", "tone", "current", "blip"],
)
async def test_nothing_is_heard_where_nobody_speaks(transcriber, sound):
    found = await transcribe(transcriber, plain_wav(sound))
    assert found == Transcription("", None, round(len(sound) / 16_000, 2))


async def test_speech_between_silence_and_noise_is_found(transcriber, sentence):
    sound = np.concatenate((silence(3), noise(2, 0.01), sentence, noise(2, 0.01)))
    assert words((await transcribe(transcriber, plain_wav(sound))).text) == HEARD


@pytest.mark.slow
async def test_a_recording_with_a_damaged_place_is_still_heard(transcriber, sentence):
    content = bytearray(encode_recording(sentence, "mp3"))
    content[len(content) // 2 : len(content) // 2 + 300] = b"\0" * 300
    assert words((await transcribe(transcriber, bytes(content))).text).startswith("the library opens at 9")


async def test_a_language_can_be_given_and_an_unknown_one_is_refused(transcriber):
    assert (await transcribe(transcriber, plain_wav(silence(1)), language="en")).text == ""
    with pytest.raises(Invalid) as refused:
        await transcribe(transcriber, plain_wav(silence(1)), language="klingon")
    assert refused.value.details == {"language": "is not supported for transcription"}


async def test_parallel_recordings_are_not_mixed_up(transcriber, sentence):
    asked = [transcribe(transcriber, plain_wav(sound)) for sound in (silence(1), sentence, noise(1))]
    assert [words(found.text) for found in await asyncio.gather(*asked)] == ["", HEARD, ""]


async def test_a_caller_who_goes_leaves_the_place_to_others(transcriber, sentence):
    asked = asyncio.create_task(transcribe(transcriber, plain_wav(np.tile(sentence, 40))))
    waiting = asyncio.create_task(transcribe(transcriber, plain_wav(sentence)))
    await asyncio.sleep(0)
    asked.cancel()
    assert words((await waiting).text) == HEARD
    assert asked.cancelled()


async def test_missing_weights_are_said(tmp_path: Path, sentence):
    transcriber = Transcriber(tmp_path)
    with pytest.raises(ModelError, match="retinue models pull"):
        await transcribe(transcriber, plain_wav(sentence))
    await transcriber.close()
