"""Text to speech for an agent."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing

from retinue.agents.models import Agent
from retinue.chat import voice_models
from retinue.chat.models import ChatChannel
from retinue.chat.schemas import SpeechAsk
from retinue.chat.turn.preconditions import require_not_archived
from retinue.chat.turn.slots import acquire_turn_slot
from retinue.kit.context import Context
from retinue.kit.http.replies import ByteStream
from retinue.providers import model_calls
from retinue.usage.single_call import SingleCall, spender_of

MIME_TYPES: Mapping[str, str] = {"mp3": "audio/mpeg", "wav": "audio/wav", "opus": "audio/ogg"}

# The embedded model has its own default voice; every OpenAI-compatible provider knows this one.
_DEFAULT_VOICE = "alloy"


def stream_speech(ctx: Context, agent: Agent, speech_request: SpeechAsk) -> ByteStream:
    """Stream the audio while it is generated; an error before the first byte is a normal error response."""
    require_not_archived(agent)
    return ByteStream(
        lambda: _speech_bytes(ctx.detached(), agent, speech_request),
        MIME_TYPES[speech_request.format or "mp3"],
    )


async def _speech_bytes(ctx: Context, agent: Agent, speech_request: SpeechAsk) -> AsyncGenerator[bytes, None]:
    model = await voice_models.choose_voice_model(ctx, "speech")
    parts = model_calls.speak(
        ctx,
        model.configured_id,
        speech_request.text,
        hold=SingleCall(spender_of(ctx, agent.id), channel=ChatChannel.audio),
        voice=speech_request.voice or ("" if model.is_embedded else _DEFAULT_VOICE),
        format=speech_request.format or "mp3",
        speed=speech_request.speed,
        via={"agent_id": agent.id},
    )
    async with await acquire_turn_slot(ctx), aclosing(parts):
        async for part in parts:
            yield part
