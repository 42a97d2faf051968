"""Storage of a turn: the user's message before the model is called, the reply after it.

The reply's id is chosen at the start, so a turn repeated after a crash stores no second reply. No transaction
is open in between.

Messages are numbered. Usually the next number is known, so nothing is read and the data layer sends every
statement at the commit (ADR 10). If a concurrent turn was faster, the same writes follow once more, with the
number taken from the locked row of the conversation.
"""

import msgspec

from retinue.agents.models import Agent
from retinue.chat.attachment_models import ConversationFile
from retinue.chat.engine import SuspendedTurn
from retinue.chat.engine.parts import ReplyDetails, TurnFinished, known_cost_usd
from retinue.chat.errors import ConversationNotFound
from retinue.chat.events import ChatMessage, ChatStarted
from retinue.chat.models import (
    ChatLog,
    Conversation,
    Message,
    MessageStatus,
    Speaker,
    TurnStatus,
)
from retinue.chat.trail import TrailStep
from retinue.chat.turn import billing
from retinue.chat.turn.history import (
    NO_HISTORY,
    ConversationHistory,
    load_history,
    load_history_before,
)
from retinue.chat.turn.positions import TakenPosition, take_next_position
from retinue.chat.turn.request import TurnRequest
from retinue.chat.turn.resent_history import load_resent_history, remember_reply
from retinue.chat.turn.tool_images import keep_images
from retinue.chat.turn.trace import store_logged_turn, store_turn_part
from retinue.chat.turn.turn_conversation import build_conversation, find_conversation
from retinue.kit.clock import hour_of
from retinue.kit.context import Context
from retinue.kit.db.errors import ReferenceViolation, UniqueViolation
from retinue.kit.errors import RetinueError
from retinue.kit.ids import new_id
from retinue.service_accounts.token_budget import count_tokens

_MAX_EVENT_CONTENT_LENGTH = 4_000

_conversations = Conversation.__table__


class PendingTurn(msgspec.Struct, frozen=True, kw_only=True):
    """A turn whose message is stored and whose reply is still to come."""

    request: TurnRequest
    conversation_id: str
    user_message_id: str
    reply_id: str
    position: int
    parent_position: int | None = None
    history: ConversationHistory = NO_HISTORY
    started: float


class TurnResult(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome of a turn: a whole reply, a part of it, or an error and possibly a part.

    With `paused` the turn has not ended but waits for approvals.
    """

    answered: TurnFinished
    status: TurnStatus
    error: RetinueError | None = None
    trail: list[TrailStep] | None = None
    paused: SuspendedTurn | None = None
    first_token_ms: int | None = None


async def start_turn(ctx: Context, request: TurnRequest, unit: Context | None = None) -> PendingTurn:
    """Store the message, in `unit` if given, and return the turn that is to answer it."""
    conversation = await find_conversation(ctx, request)
    # With `unit`, the question is only stored here; whoever answers it loads the history.
    history = NO_HISTORY if unit is not None else await _load_history(ctx, request, conversation)
    conversation = conversation or build_conversation(ctx, request)
    pending = PendingTurn(
        request=request,
        conversation_id=conversation.id,
        user_message_id=new_id(Message.__prefix__),
        reply_id=new_id(Message.__prefix__),
        position=conversation.message_count + 1,
        history=history,
        started=ctx.clock.monotonic(),
    )
    if unit is not None:
        return await _store_question(unit, pending, conversation, is_position_known=False)
    try:
        async with ctx.unit() as own:
            return await _store_question(own, pending, conversation, is_position_known=True)
    except UniqueViolation:
        if pending.position == 1:
            # Two first messages of the session arrived at once; the other one created the conversation.
            return await start_turn(ctx, request)
        return await ctx.run_in_unit(
            lambda own: _store_question(own, pending, conversation, is_position_known=False)
        )
    except ReferenceViolation:
        raise ConversationNotFound from None


async def _load_history(
    ctx: Context, request: TurnRequest, existing: Conversation | None
) -> ConversationHistory:
    if request.history is not None:
        return await load_resent_history(ctx, request)
    return NO_HISTORY if existing is None else await load_history(ctx, existing, request.placement)


async def load_pending_turn(ctx: Context, request: TurnRequest, question_id: str) -> PendingTurn:
    """Return the turn of a question that is already stored."""
    question = await ctx.db.get(Message, question_id)
    if question is None or question.reply_id is None:
        raise ConversationNotFound
    return PendingTurn(
        request=request,
        conversation_id=question.conversation_id,
        user_message_id=question.id,
        reply_id=question.reply_id,
        position=question.position,
        history=await load_history_before(ctx, question)
        if request.history is None
        else await load_resent_history(ctx, request),
        started=ctx.clock.monotonic(),
    )


async def _store_question(
    unit: Context, pending: PendingTurn, conversation: Conversation, *, is_position_known: bool
) -> PendingTurn:
    if pending.position == 1:
        await unit.db.insert_at_commit(_open_conversation(unit, pending, conversation))
    else:
        pending = await _take_place(unit, pending, conversation, is_position_known=is_position_known)
    await unit.db.insert_at_commit(_build_user_message(pending))
    for attachment in pending.request.attachments:
        await unit.db.insert_at_commit(
            ConversationFile(
                conversation_id=pending.conversation_id,
                message_id=pending.user_message_id,
                file_id=attachment.file_id,
            )
        )
    placement = pending.request.placement
    if placement is None or placement.repeats_position is None:
        emit_chat_message(unit, pending, pending.user_message_id, Speaker.user, pending.request.message)
    return pending


async def _take_place(
    unit: Context, pending: PendingTurn, conversation: Conversation, *, is_position_known: bool
) -> PendingTurn:
    placement = pending.request.placement
    taken = await take_next_position(unit, conversation.id, pending.position if is_position_known else None)
    if placement is None:
        # The message follows the one that was the newest when its history was read.
        parent = taken.after(pending.position - 1)
    else:
        parent = placement.parent_position
        await unit.db.update(conversation, is_branched=True)
    return msgspec.structs.replace(pending, position=taken.position, parent_position=parent)


def _open_conversation(unit: Context, pending: PendingTurn, conversation: Conversation) -> Conversation:
    unit.emit(
        ChatStarted(
            conversation_id=conversation.id,
            agent_id=conversation.agent_id,
            channel=pending.request.channel,
            user_id=conversation.user_id,
            session_id=conversation.session_id,
        )
    )
    conversation.message_count = 1
    conversation.last_message_at = unit.now
    conversation.last_message_hour = hour_of(conversation.last_message_at)
    return conversation


def _build_user_message(pending: PendingTurn) -> Message:
    placement = pending.request.placement
    return Message(
        id=pending.user_message_id,
        conversation_id=pending.conversation_id,
        role=Speaker.user,
        content=pending.request.message,
        position=pending.position,
        parent_position=pending.parent_position,
        repeats_position=placement.repeats_position if placement is not None else None,
        reply_id=pending.reply_id,
        attachments=list(pending.request.attachments) or None,
    )


def emit_chat_message(
    unit: Context,
    pending: PendingTurn,
    message_id: str,
    role: Speaker,
    text: str,
    details: ReplyDetails | None = None,
) -> None:
    request = pending.request
    log_settings = request.agent.log_settings
    usage = details.usage if details is not None and log_settings.log_token_usage else None
    unit.emit(
        ChatMessage(
            conversation_id=pending.conversation_id,
            agent_id=request.agent.id,
            message_id=message_id,
            role=role,
            content=text[:_MAX_EVENT_CONTENT_LENGTH] if log_settings.log_messages else None,
            job_id=request.job_id,
            tool_call_count=len(details.tool_calls) if details is not None else 0,
            usage=msgspec.to_builtins(usage),
        )
    )


async def store_result(ctx: Context, pending: PendingTurn, result: TurnResult) -> Message | None:
    """Store the reply and the log; return None without a reply, or if the conversation was deleted."""
    if _has_reply(result):
        try:
            async with ctx.unit() as unit:
                return await store_result_within(unit, pending, result, is_undisturbed=True)
        except (UniqueViolation, ReferenceViolation):
            pass  # another turn took the position, or the conversation or the agent was deleted
    return await ctx.run_in_unit(lambda unit: store_result_within(unit, pending, result))


async def store_result_within(
    unit: Context, pending: PendingTurn, result: TurnResult, *, is_undisturbed: bool = False
) -> Message | None:
    """Store the result in this unit; if the conversation was deleted, no text is kept.

    `is_undisturbed` supposes that nothing was deleted and no other turn took the position since the question
    was stored. This saves reading; if it is wrong, the unit fails and stores nothing.
    """
    reply = None
    is_stored = is_undisturbed or await unit.db.lock(Conversation, pending.conversation_id) is not None
    if is_stored and _has_reply(result):
        known = pending.position + 1 if is_undisturbed else None
        taken = await take_next_position(unit, pending.conversation_id, known)
        reply = await unit.db.insert_at_commit(_build_and_emit_reply(unit, pending, result, taken))
        await remember_reply(unit, pending.request, reply)
        await keep_images(unit, reply.conversation_id, reply.id, result.answered.details.tool_calls)
    if is_undisturbed or await unit.db.get(Agent, pending.request.agent.id) is not None:
        log = build_chat_log(unit, pending, result, reply, keeps_texts=is_stored)
        await store_logged_turn(unit, pending.request, log, result.answered.details, result.error)
    else:
        await store_result_part(unit, pending, result)
    notify_end(unit, pending, result)
    return reply


async def store_result_part(unit: Context, pending: PendingTurn, result: TurnResult) -> None:
    """Store the part of the trace that tells about this turn."""
    details, error = result.answered.details, result.error
    conversation_id = pending.conversation_id
    await store_turn_part(unit, pending.request, conversation_id, pending.reply_id, details, error)


def notify_end(unit: Context, pending: PendingTurn, result: TurnResult) -> None:
    tokens = result.answered.details.usage.total_tokens
    count_tokens(unit, tokens)
    if pending.request.on_turn_end is not None:
        pending.request.on_turn_end(unit, tokens)


def _has_reply(result: TurnResult) -> bool:
    return result.status is TurnStatus.completed or bool(result.answered.text)


def _build_and_emit_reply(
    unit: Context, pending: PendingTurn, result: TurnResult, taken: TakenPosition
) -> Message:
    reply = build_reply(pending, result, taken)
    emit_chat_message(unit, pending, reply.id, Speaker.assistant, reply.content, reply.details)
    return reply


def build_reply(pending: PendingTurn, result: TurnResult, taken: TakenPosition) -> Message:
    is_whole = result.status is TurnStatus.completed and result.paused is None
    return Message(
        id=pending.reply_id,
        conversation_id=pending.conversation_id,
        role=Speaker.assistant,
        content=result.answered.text,
        position=taken.position,
        parent_position=taken.after(pending.position),
        status=MessageStatus.completed if is_whole else MessageStatus.incomplete,
        details=result.answered.details,
        trail=result.trail,
        rounds=list(result.answered.rounds) or None,
    )


def build_chat_log(
    unit: Context,
    pending: PendingTurn,
    result: TurnResult,
    reply: Message | None,
    *,
    keeps_texts: bool = True,
) -> ChatLog:
    request, details = pending.request, result.answered.details
    log_settings = request.agent.log_settings
    keeps_messages, keeps_calls = (
        keeps_texts and log_settings.log_messages,
        keeps_texts and log_settings.log_tool_calls,
    )
    error = result.error
    log = ChatLog(
        agent_id=request.agent.id,
        conversation_id=pending.conversation_id,
        message_id=pending.reply_id,
        channel=request.channel,
        user_id=unit.principal.owner_id or None,
        session_id=request.session_id,
        embed_key_id=request.embed_key_id,
        user_message=request.message if keeps_messages else None,
        assistant_message=reply.content if reply is not None and keeps_messages else None,
        tool_calls=msgspec.to_builtins(details.tool_calls) if keeps_calls else [],
        tool_call_count=len(details.tool_calls),
        message_count=2 if reply is not None else 1,
        has_usage=log_settings.log_token_usage,
        prompt_tokens=details.usage.prompt_tokens,
        completion_tokens=details.usage.completion_tokens,
        cached_tokens=details.usage.cached_tokens,
        cache_write_tokens=details.usage.cache_write_tokens,
        reasoning_tokens=details.usage.reasoning_tokens,
        cost_usd=known_cost_usd(details.usage_by_model),
        usage_by_model=list(details.usage_by_model),
        model=details.model,
        response_time_ms=round((unit.clock.monotonic() - pending.started) * 1000),
        first_token_ms=result.first_token_ms,
        status=result.status,
        error={"code": error.code, "message": error.message} if error is not None else None,
        correlation_id=unit.caller.correlation_id,
    )
    billing.meter_turn(unit, request, log)
    return log
