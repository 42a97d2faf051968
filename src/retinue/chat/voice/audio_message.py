"""Spoken messages: transcribed, then answered like any other message."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from retinue.adapters.llm import Audio, Transcription
from retinue.agents.models import Agent
from retinue.chat import voice_models
from retinue.chat.attachment_schemas import AttachmentRef
from retinue.chat.attachments.preparation import attach
from retinue.chat.engine.parts import FinishReason, ReplyDetails, TokenUsage, TurnFinished
from retinue.chat.errors import ConversationNotFound
from retinue.chat.models import ChatChannel, Message, TurnStatus
from retinue.chat.recording_types import FILENAMES_BY_TYPE
from retinue.chat.replies import blocking
from retinue.chat.schemas import MAX_MESSAGE_LENGTH
from retinue.chat.turn import storage
from retinue.chat.turn.admission import acquire_turn_slot
from retinue.chat.turn.billing import BudgetReservation
from retinue.chat.turn.preconditions import require_answerable, require_not_archived
from retinue.chat.turn.request import TurnRequest
from retinue.chat.turn.runner import run_turn
from retinue.chat.turn.storage import PendingTurn, TurnResult
from retinue.chat.turn.turn_conversation import find_own_conversation
from retinue.kit.context import Context
from retinue.kit.errors import UnsupportedFileType
from retinue.kit.http.media_types import sniff_file
from retinue.providers import model_calls
from retinue.usage.single_call import SingleCall, spender_of

MAX_RECORDING_BYTES = 25 * 1024 * 1024
NO_SPEECH_REPLY = "I could not hear anything in this recording. Please try again."


async def reply_to_recording(
    ctx: Context, request: TurnRequest, recording: Path, refs: Sequence[AttachmentRef] = ()
) -> tuple[Message, Transcription]:
    """Transcribe and answer a recording; return the reply and the transcription.

    What was said becomes the message of `request`. `ctx` must have no open transaction.
    """
    agent, conversation_id = request.agent, request.conversation_id
    require_not_archived(agent)
    if conversation_id is not None and await find_own_conversation(ctx, agent, conversation_id) is None:
        raise ConversationNotFound
    audio = await asyncio.to_thread(_load_audio, recording)
    model = await voice_models.choose_voice_model(ctx, "transcription")
    # Check before paying for the transcription.
    await require_answerable(ctx, request)
    request = await attach(ctx, request, refs)
    async with await acquire_turn_slot(ctx), BudgetReservation(ctx) as reservation:
        transcription = await _transcribe(ctx, agent, model.configured_id, audio)
        request = replace(request, message=transcription.text)
        pending, answered = await blocking.start_turn_idempotently(ctx, request, reservation)
        if answered is None and not transcription.text:
            answered = await _store_no_speech_reply(ctx, pending, model.id)
        elif answered is None:
            answered = await run_turn(ctx, pending, reservation=reservation)
    return answered, transcription


def _load_audio(recording: Path) -> Audio:
    # The type is sniffed from the bytes and passed to the provider as a file name; the caller's is ignored.
    kind = sniff_file(recording) or ""
    if kind not in FILENAMES_BY_TYPE:
        raise UnsupportedFileType("The recording must be wav, mp3, webm, ogg, m4a or flac.")
    return Audio(recording.read_bytes(), FILENAMES_BY_TYPE[kind], kind)


async def _transcribe(ctx: Context, agent: Agent, model: str, audio: Audio) -> Transcription:
    hold = SingleCall(spender_of(ctx, agent.id), channel=ChatChannel.audio)
    transcription = await model_calls.transcribe(ctx, model, audio, hold=hold, via={"agent_id": agent.id})
    return replace(transcription, text=transcription.text.replace("\0", "").strip()[:MAX_MESSAGE_LENGTH])


async def _store_no_speech_reply(ctx: Context, pending: PendingTurn, model: str) -> Message:
    """Store a fixed reply; no model is called for silence."""
    details = ReplyDetails(
        model=model,
        finish_reason=FinishReason.no_speech,
        usage=TokenUsage(),
        warnings=pending.request.warnings,
        estimated_cost_usd=0.0,
        agent_version=pending.request.agent.version,
        correlation_id=ctx.caller.correlation_id,
    )
    answered = TurnFinished(text=NO_SPEECH_REPLY, details=details)
    stored = await storage.store_result(
        ctx, pending, TurnResult(answered=answered, status=TurnStatus.completed)
    )
    if stored is None:
        raise ConversationNotFound
    return stored
