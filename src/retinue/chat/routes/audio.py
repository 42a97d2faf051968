from typing import Any

from retinue.adapters.llm import ModelError, ModelTimeout
from retinue.agents.loaders import AgentById
from retinue.chat import audio, speech
from retinue.chat.engine.budget import OutOfTokens
from retinue.chat.errors import (
    AgentArchived,
    ConversationNotFound,
    SttNotConfigured,
    TooManyTurns,
    TtsNotConfigured,
    TurnTimedOut,
)
from retinue.chat.schemas import AudioReply, SpeechAsk
from retinue.kit.context import Context
from retinue.kit.errors import Invalid, UnsupportedFileType
from retinue.kit.http.idempotency import NotRepeatable, refuse_for_stream
from retinue.kit.http.replies import ByteStream
from retinue.kit.http.request import Request
from retinue.kit.http.routing import Routes, Upload
from retinue.kit.http.uploads import FormData
from retinue.providers.errors import ModelNotConfigured

RECORDING = Upload(max_file=audio.MAX_BYTES, fields=("audio",), texts=("conversation_id",))

routes = Routes("/api/v1/agents/{agent_id}/chat", tag="chat")

_AUDIO_FAULTS: tuple[Any, ...] = (
    AgentArchived,
    ConversationNotFound,
    ModelError,
    ModelTimeout,
    ModelNotConfigured,
    OutOfTokens,
    SttNotConfigured,
    TooManyTurns,
    TurnTimedOut,
    UnsupportedFileType,
)


@routes.post(
    "/audio", requires="agents:chat", cost="chat", calls_out=True, upload=RECORDING, errors=_AUDIO_FAULTS
)
async def chat_audio(ctx: Context, agent: AgentById, form: FormData) -> AudioReply:
    """Multipart: `audio` (wav, mp3, webm, ogg, m4a or flac; at most 25 MB), `conversation_id`."""
    answer, heard = await audio.reply(ctx, agent, form.file("audio").path, _conversation_id(form))
    return AudioReply.heard(answer, heard)


@routes.post(
    "/tts",
    requires="agents:chat",
    cost="chat",
    calls_out=True,
    idempotent=False,
    errors=(AgentArchived, ModelError, ModelTimeout, NotRepeatable, TooManyTurns, TtsNotConfigured),
)
async def chat_tts(ctx: Context, agent: AgentById, body: SpeechAsk, request: Request) -> ByteStream:
    """The text as sound, `audio/mpeg` unless `format` says otherwise, sent while it is made."""
    refuse_for_stream(request)
    return speech.say(ctx, agent, body)


def _conversation_id(form: FormData) -> str | None:
    given = form.fields.get("conversation_id") or None
    if given is not None and len(given) > 64:
        raise Invalid({"conversation_id": "must have at most 64 characters"})
    return given
