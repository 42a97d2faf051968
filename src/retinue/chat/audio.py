"""A message that was spoken: what was heard is handled like any other message."""

import asyncio
from pathlib import Path

from msgspec.structs import replace

from retinue.adapters.llm import Audio, Transcription
from retinue.agents.models import Agent
from retinue.chat import answering, sound_models, turns
from retinue.chat.admission import take_place
from retinue.chat.asking import Ask
from retinue.chat.conducting import conduct
from retinue.chat.errors import ConversationNotFound
from retinue.chat.models import Channel, Message, TurnStatus
from retinue.chat.schemas import MAX_MESSAGE
from retinue.chat.turns import Begun, Ending
from retinue.chat.words import Answered, FinishReason, ReplyDetails, TokenUsage
from retinue.kit.context import Context
from retinue.kit.errors import UnsupportedFileType
from retinue.kit.http.sniffing import sniff_file
from retinue.providers import calling

MAX_BYTES = 25 * 1024 * 1024
NOTHING_HEARD = "I could not hear anything in this recording. Please try again."

# What a recording is by its own bytes, and the name that tells a provider so; the caller's tells nothing.
_NAMES = {
    "audio/wav": "audio.wav",
    "audio/mpeg": "audio.mp3",
    "audio/webm": "audio.webm",
    "audio/ogg": "audio.ogg",
    "audio/flac": "audio.flac",
    "audio/mp4": "audio.m4a",
    "video/mp4": "audio.mp4",
}


async def reply(
    ctx: Context, agent: Agent, recording: Path, conversation_id: str | None
) -> tuple[Message, Transcription]:
    """The reply to what was said, and what was heard; `ctx` has no open transaction."""
    turns.require_answering(agent)
    if conversation_id is not None and await turns.find_own(ctx, agent, conversation_id) is None:
        raise ConversationNotFound
    audio = await asyncio.to_thread(_read, recording)
    model = await sound_models.choose(ctx, "transcription")
    async with await take_place(ctx):
        heard = await _heard(ctx, agent, model.asked_for, audio)
        ask = Ask(agent=agent, message=heard.text, channel=Channel.audio, conversation_id=conversation_id)
        begun, answered = await answering.begin_once(ctx, ask)
        if answered is None:
            answered = await (conduct(ctx, begun) if heard.text else _nothing_heard(ctx, begun, model.id))
    return answered, heard


def _read(recording: Path) -> Audio:
    kind = sniff_file(recording) or ""
    if kind not in _NAMES:
        raise UnsupportedFileType("The recording must be wav, mp3, webm, ogg, m4a or flac.")
    return Audio(recording.read_bytes(), _NAMES[kind], kind)


async def _heard(ctx: Context, agent: Agent, model: str, audio: Audio) -> Transcription:
    heard = await calling.transcribe(ctx, model, audio, via={"agent_id": agent.id})
    return replace(heard, text=heard.text.replace("\0", "").strip()[:MAX_MESSAGE])


async def _nothing_heard(ctx: Context, begun: Begun, model: str) -> Message:
    """No model is asked about silence."""
    details = ReplyDetails(
        model=model,
        finish_reason=FinishReason.no_speech,
        usage=TokenUsage(),
        agent_version=begun.ask.agent.version,
        correlation_id=ctx.caller.correlation_id,
    )
    answered = Answered(text=NOTHING_HEARD, details=details)
    stored = await turns.finish(ctx, begun, Ending(answered=answered, status=TurnStatus.completed))
    if stored is None:
        raise ConversationNotFound
    return stored
