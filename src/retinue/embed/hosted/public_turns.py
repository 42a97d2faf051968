"""Turns of visitors beside the chat: stopping a reply, rating one, speaking instead of writing."""

from retinue.agents.models import Agent
from retinue.chat import conversations
from retinue.chat.errors import MessageNotFound
from retinue.chat.models import Conversation, Message, Speaker
from retinue.chat.replies.stream_control import stop_reply_to
from retinue.chat.schemas import FeedbackGiven, Stopped, TranscriptionOut
from retinue.chat.turn.request import session_key
from retinue.chat.voice import audio_message
from retinue.embed import public_chat, visitor_files, visitors
from retinue.embed.failures import hide_provider_errors
from retinue.embed.hosted.page_schemas import (
    PublicAudioReply,
    SessionFeedback,
    SessionMessage,
)
from retinue.embed.public_chat import PublicVisit
from retinue.embed.schemas import PublicAsk
from retinue.embed.token_budget import turn_allowance
from retinue.kit.context import Context
from retinue.kit.errors import Invalid
from retinue.kit.http.request import Request
from retinue.kit.http.uploads import FileLimit, FormData


async def stop(ctx: Context, agent: Agent, body: SessionMessage) -> Stopped:
    """Stop a reply of the session; what was said so far is kept."""
    conversation = await _require_conversation(ctx, agent, body)
    question = await ctx.db.find(Message, reply_id=body.message_id)
    if question is None or question.conversation_id != conversation.id:
        raise MessageNotFound
    await stop_reply_to(ctx, question, body.message_id)
    return Stopped(message_id=body.message_id)


async def rate(ctx: Context, agent: Agent, body: SessionFeedback) -> FeedbackGiven:
    """Store the visitor's rating of a reply of the session."""
    conversation = await _require_conversation(ctx, agent, body)
    message = await ctx.db.get(Message, body.message_id)
    if message is None or message.role is not Speaker.assistant or message.conversation_id != conversation.id:
        raise MessageNotFound
    await conversations.set_rating(ctx, message, body)
    return FeedbackGiven(
        message_id=message.id, rating=body.rating, comment=message.comment, reasons=message.reasons or []
    )


async def admit_recording(ctx: Context, _request: Request, agent: Agent) -> FileLimit:  # noqa: ARG001
    """Refuse a recording before it is read."""
    await visitor_files.require_allowed(ctx)
    return FileLimit(visitor_files.MAX_FILE_BYTES)


async def reply_to_recording(
    ctx: Context, agent: Agent, form: FormData, visit: PublicVisit
) -> PublicAudioReply:
    """Transcribe and answer a recording like a typed message, within the limits of the embed key."""
    session_id = form.fields.get("session_id", "")
    if not 1 <= len(session_id) <= visitor_files.MAX_SESSION_ID_LENGTH:
        raise Invalid({"session_id": f"must be 1 to {visitor_files.MAX_SESSION_ID_LENGTH} characters"})
    body = PublicAsk(session_id=session_id, message="")
    recording = audio_message.Recording(form.file("audio").path)
    async with turn_allowance(ctx, agent) as allowance:
        with hide_provider_errors():
            request = await public_chat.to_turn_request(ctx, agent, body, allowance, visit)
            message = await audio_message.reply_to_recording(ctx, request, recording)
    reply = await public_chat.render_reply(ctx, request, message)
    return PublicAudioReply.of(reply, transcription=TranscriptionOut.of(recording.transcription))


async def _require_conversation(
    ctx: Context, agent: Agent, body: SessionMessage | SessionFeedback
) -> Conversation:
    visitor_id = await visitors.verify_visitor_id(ctx, body.user)
    key = session_key(ctx.principal.id, visitor_id, body.session_id)
    conversation = await ctx.db.find(Conversation, agent_id=agent.id, session_key=key)
    if conversation is None:
        raise MessageNotFound
    return conversation
