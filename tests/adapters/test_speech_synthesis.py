"""Text as sound, by the real voice in its real process."""

import asyncio
import io
from contextlib import aclosing

import av
import pytest
from hibari.voices import VOICES as KNOWN_VOICES

from retinue.adapters.embedded.speech.synthesizer import VOICES, SpeechSynthesizer
from retinue.kit.errors import Invalid
from retinue.kit.http.media_types import sniff
from tests.adapters.recordings import SENTENCE, samples_of

pytestmark = pytest.mark.slow

pytest_plugins = ("tests.adapters.speech_fixtures",)

SNIFFED = {"mp3": "audio/mpeg", "wav": "audio/wav", "opus": "audio/ogg"}


async def speak(speaker: SpeechSynthesizer, text: str, **more: object) -> list[bytes]:
    return [part async for part in speaker.speak(text, **more)]


def seconds(content: bytes) -> float:
    return len(samples_of(content)) / 16_000


@pytest.mark.parametrize("format", SNIFFED)
async def test_a_text_becomes_sound_of_every_format(speaker, format):
    parts = await speak(speaker, SENTENCE, format=format)
    sound = b"".join(parts)
    assert sniff(sound) == SNIFFED[format]
    assert 4 < seconds(sound) < 7
    assert len(parts) >= 2, "each sentence leaves when it is ready"


async def test_opus_is_what_the_ogg_file_holds(speaker):
    with av.open(io.BytesIO(b"".join(await speak(speaker, "Hello.", format="opus")))) as file:
        assert file.streams.audio[0].codec_context.name in {"opus", "libopus"}


async def test_the_same_text_is_the_same_sound(speaker):
    assert await speak(speaker, "Hello there.") == await speak(speaker, "Hello there.")


async def test_speed_changes_how_long_it_takes(speaker):
    slow, usual, fast = [
        seconds(b"".join(await speak(speaker, SENTENCE, format="wav", speed=speed)))
        for speed in (0.5, None, 2)
    ]
    assert slow > 1.6 * usual
    assert fast < 0.65 * usual


@pytest.mark.parametrize("text", ["", "  ", "...", "你好世界", "Привет, мир", "नमस्ते", "😀", "$$$"])
async def test_what_the_voice_cannot_say_is_an_error_and_not_silence(speaker, text):
    with pytest.raises(Invalid) as refused:
        await speak(speaker, text)
    assert "the embedded voice reads English" in refused.value.details["text"]


async def test_foreign_words_in_an_english_text_do_not_silence_it(speaker):
    assert b"".join(await speak(speaker, "The Greek word for it is λόγος."))


@pytest.mark.parametrize(
    ("field", "wrong"), [("voice", "emma"), ("format", "flac"), ("speed", 0.4), ("speed", float("nan"))]
)
async def test_what_cannot_be_done_is_refused_before_any_work(speaker, field, wrong):
    with pytest.raises(Invalid) as refused:
        await speak(speaker, "Hello.", **{field: wrong})
    assert set(refused.value.details) == {field}


async def test_a_text_that_is_too_long_is_refused(speaker):
    with pytest.raises(Invalid) as refused:
        await speak(speaker, "a" * 4_097)
    assert refused.value.details == {"text": "must be at most 4096 characters"}


async def test_every_voice_comes_with_the_package():
    assert [name for name in VOICES if not KNOWN_VOICES[name].get("bundled")] == []


@pytest.mark.parametrize(
    "text", ["9" * 400, "1-2/3:" * 40, "aB1'_-" * 40, "https://example.com/a?b=c&d=" * 9]
)
async def test_odd_texts_are_said_somehow(speaker, text):
    assert b"".join(await speak(speaker, text))


async def test_several_speak_at_once_and_each_gets_their_own(speaker):
    texts = ["One.", "Two and a half.", "Three, four and five."]
    alone = [await speak(speaker, text) for text in texts]
    assert await asyncio.gather(*(speak(speaker, text) for text in texts)) == alone


async def test_who_stops_listening_stops_the_work(speaker):
    """Two long texts hold both places; once they are hung up on, a third is answered long before they end."""
    long = " ".join([SENTENCE] * 50)
    for _ in range(2):
        async with aclosing(speaker.speak(long)) as parts:
            await anext(parts)
    whole_long_text = asyncio.create_task(speak(speaker, long))
    await speak(speaker, "Hello.")
    assert not whole_long_text.done()
    whole_long_text.cancel()
    await asyncio.wait([whole_long_text])
    assert b"".join(await speak(speaker, "Still here."))


@pytest.mark.slow
async def test_the_longest_text_is_said_piece_by_piece(speaker):
    text = (SENTENCE + " ") * 60
    parts = await speak(speaker, text[:4_096])
    assert len(parts) > 100
    assert 200 < seconds(b"".join(parts)) < 400
