"""Text as an agent says it."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing

from retinue.agents.models import Agent
from retinue.chat import sound_models, turns
from retinue.chat.admission import take_place
from retinue.chat.schemas import SpeechAsk
from retinue.kit.context import Context
from retinue.kit.http.replies import ByteStream
from retinue.providers import calling

MIME_TYPES: Mapping[str, str] = {"mp3": "audio/mpeg", "wav": "audio/wav", "opus": "audio/ogg"}

# The embedded voice has a default of its own; this one is known wherever the protocol is OpenAI's.
_COMMON_VOICE = "alloy"


def say(ctx: Context, agent: Agent, ask: SpeechAsk) -> ByteStream:
    """The sound as it is made; what goes wrong before the first of it is an error like any other."""
    turns.require_answering(agent)
    return ByteStream(lambda: _sound(ctx.apart(), agent, ask), MIME_TYPES[ask.format or "mp3"])


async def _sound(ctx: Context, agent: Agent, ask: SpeechAsk) -> AsyncGenerator[bytes, None]:
    model = await sound_models.choose(ctx, "speech")
    parts = calling.speak(
        ctx,
        model.asked_for,
        ask.text,
        voice=ask.voice or ("" if model.is_embedded else _COMMON_VOICE),
        format=ask.format or "mp3",
        speed=ask.speed,
        via={"agent_id": agent.id},
    )
    async with await take_place(ctx), aclosing(parts):
        async for part in parts:
            yield part
