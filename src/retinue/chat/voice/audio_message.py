"""Spoken messages: transcribed, then answered like any other message."""

import asyncio
from pathlib import Path

from msgspec.structs import replace

from retinue.adapters.llm import Audio, Transcription
from retinue.chat import voice_models
from retinue.chat.attachments.preparation import RequestedFiles
from retinue.chat.engine.parts import FinishReason, ReplyDetails, TokenUsage, TurnFinished
from retinue.chat.errors import ConversationNotFound
from retinue.chat.models import ChatChannel, Message, TurnStatus
from retinue.chat.recording_types import FILENAMES_BY_TYPE
from retinue.chat.schemas import MAX_MESSAGE_LENGTH
from retinue.chat.turn import storage
from retinue.chat.turn.admission import admit
from retinue.chat.turn.billing import BudgetReservation
from retinue.chat.turn.request import TurnRequest
from retinue.chat.turn.storage import PendingTurn, TurnResult
from retinue.chat.turn.turn_conversation import find_own_conversation
from retinue.kit.context import Context
from retinue.kit.errors import UnsupportedFileType
from retinue.kit.http.media_types import sniff_file
from retinue.providers import model_calls

MAX_RECORDING_BYTES = 25 * 1024 * 1024
NO_SPEECH_REPLY = "I could not hear anything in this recording. Please try again."


class Recording:
    """A recorded message; what was said becomes the text of its turn."""

    transcription: Transcription
    """Set by `transcribe`."""

    def __init__(self, path: Path) -> None:
        self._path = path

    async def load(self, ctx: Context, request: TurnRequest) -> None:
        """Read the recording and choose a model; raise before anything is paid if there is no use in it."""
        agent, conversation_id = request.agent, request.conversation_id
        if conversation_id is not None and await find_own_conversation(ctx, agent, conversation_id) is None:
            raise ConversationNotFound
        self._audio = await asyncio.to_thread(_load_audio, self._path)
        self.model = await voice_models.choose_voice_model(ctx, "transcription")

    async def transcribe(
        self, ctx: Context, request: TurnRequest, reservation: BudgetReservation
    ) -> TurnRequest:
        """Return the turn with what was said."""
        heard = await model_calls.transcribe(
            ctx,
            self.model.configured_id,
            self._audio,
            hold=reservation.single_call(request, channel=ChatChannel.audio),
            via={"agent_id": request.agent.id},
        )
        self.transcription = replace(heard, text=heard.text.replace("\0", "").strip()[:MAX_MESSAGE_LENGTH])
        spoken = replace(request, message=self.transcription.text)
        await reservation.require_affordable(spoken)
        return spoken


async def reply_to_recording(
    ctx: Context, request: TurnRequest, recording: Recording, files: RequestedFiles | None = None
) -> Message:
    """Transcribe and answer a recording; `ctx` must have no open transaction."""
    async with await admit(ctx, request, files=files, recording=recording) as turn:
        if turn.reply is None and not turn.pending.request.message:
            return await _store_no_speech_reply(ctx, turn.pending, recording.model.id)
        return await turn.answer(ctx)


def _load_audio(recording: Path) -> Audio:
    # The type is sniffed from the bytes and passed to the provider as a file name; the caller's is ignored.
    kind = sniff_file(recording) or ""
    if kind not in FILENAMES_BY_TYPE:
        raise UnsupportedFileType("The recording must be wav, mp3, webm, ogg, m4a or flac.")
    return Audio(recording.read_bytes(), FILENAMES_BY_TYPE[kind], kind)


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
