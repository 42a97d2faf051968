from typing import Any

import msgspec

from retinue.adapters.llm import ModelError, ModelTimeout
from retinue.agents.loaders import AgentById
from retinue.chat.attachment_schemas import MAX_ATTACHMENTS, AttachmentRef
from retinue.chat.attachments.preparation import ATTACHMENT_ERRORS, RequestedFiles
from retinue.chat.engine.budget import OutOfTokens
from retinue.chat.engine.compaction_plan import ContextTooLong
from retinue.chat.errors import (
    AgentArchived,
    ConversationNotFound,
    TooManyTurns,
    TtsNotConfigured,
    TurnTimedOut,
)
from retinue.chat.models import ChatChannel
from retinue.chat.schemas import AudioReply, SpeechAsk
from retinue.chat.turn.request import TurnRequest
from retinue.chat.voice import audio_message, speech
from retinue.kit.context import Context
from retinue.kit.errors import Invalid
from retinue.kit.http.idempotency import NotRepeatable, refuse_for_stream
from retinue.kit.http.replies import ByteStream
from retinue.kit.http.request import Request
from retinue.kit.http.routing import Routes, Upload
from retinue.kit.http.uploads import FormData
from retinue.providers.errors import ModelNotConfigured
from retinue.usage.errors import BudgetExceeded, ModelUnpriced

RECORDING = Upload(
    max_file=audio_message.MAX_RECORDING_BYTES,
    fields=("audio",),
    texts=("conversation_id",),
    lists=("attachments",),
)

routes = Routes("/api/v1/agents/{agent_id}/chat", tag="chat")

_AUDIO_ERRORS: tuple[Any, ...] = (
    AgentArchived,
    BudgetExceeded,
    ConversationNotFound,
    ModelError,
    ModelTimeout,
    ModelNotConfigured,
    ModelUnpriced,
    OutOfTokens,
    ContextTooLong,
    TooManyTurns,
    TurnTimedOut,
    *ATTACHMENT_ERRORS,
)


@routes.post(
    "/audio", requires="agents:chat", cost="chat", calls_out=True, upload=RECORDING, errors=_AUDIO_ERRORS
)
async def chat_audio(ctx: Context, agent: AgentById, form: FormData) -> AudioReply:
    """Transcribe a recording and answer it like a typed message.

    If no speech is recognized, the reply says so with `finish_reason: no_speech`.
    """
    request = TurnRequest(
        agent=agent,
        message="",
        channel=ChatChannel.audio,
        conversation_id=_conversation_id(form),
        warnings=ctx.ignored_field_warnings,
    )
    recording = audio_message.Recording(form.file("audio").path)
    files = RequestedFiles.of(_attachments(form))
    reply = await audio_message.reply_to_recording(ctx, request, recording, files)
    return AudioReply.heard(reply, recording.transcription)


@routes.post(
    "/tts",
    requires="agents:chat",
    cost="chat",
    calls_out=True,
    idempotent=False,
    errors=(
        AgentArchived,
        BudgetExceeded,
        ModelError,
        ModelTimeout,
        ModelUnpriced,
        NotRepeatable,
        TooManyTurns,
        TtsNotConfigured,
    ),
)
async def chat_tts(ctx: Context, agent: AgentById, body: SpeechAsk, request: Request) -> ByteStream:
    """Speak a text: the response is audio, `audio/mpeg` by default, sent while it is generated."""
    refuse_for_stream(request)
    return speech.stream_speech(ctx, agent, body)


def _attachments(form: FormData) -> list[AttachmentRef]:
    sent = [{"file_id": file_id} for file_id in form.lists.get("attachments", ())]
    if len(sent) > MAX_ATTACHMENTS:
        raise Invalid({"attachments": f"must be at most {MAX_ATTACHMENTS} files"})
    try:
        return msgspec.convert(sent, list[AttachmentRef])
    except msgspec.ValidationError:
        raise Invalid({"attachments": "must be the ids of files"}) from None


def _conversation_id(form: FormData) -> str | None:
    conversation_id = form.fields.get("conversation_id") or None
    if conversation_id is not None and len(conversation_id) > 64:
        raise Invalid({"conversation_id": "must be at most 64 characters"})
    return conversation_id
