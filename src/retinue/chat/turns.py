"""A turn and its records: the user's message is stored before the model is asked, the reply after.

The reply's id is settled at the beginning, so a turn that is run again after a crash stores no second reply.
No transaction is open in between.

Messages are numbered. Usually the next number is known, and everything goes to the database at once; where a
parallel turn was faster, the conversation's row is asked for a number while it is held.
"""

from typing import Any

import msgspec
import sqlalchemy as sa

from retinue.adapters.llm import Message as Spoken
from retinue.agents.models import Agent, AgentStatus
from retinue.chat import spending
from retinue.chat.asking import Ask
from retinue.chat.engine import Paused
from retinue.chat.errors import AgentArchived, ConversationNotFound
from retinue.chat.events import ChatMessage, ChatStarted
from retinue.chat.models import (
    ChatLog,
    Conversation,
    ConversationStatus,
    Message,
    MessageStatus,
    Speaker,
    TurnStatus,
)
from retinue.chat.words import Answered, FinishReason, ReplyDetails
from retinue.kit.context import Context
from retinue.kit.db.errors import ReferenceViolation, UniqueViolation
from retinue.kit.db.statements import Statement, reading
from retinue.kit.errors import RetinueError
from retinue.kit.ids import new_id

MAX_HISTORY = 60
_LONGEST_TITLE = 80
_LONGEST_IN_EVENT = 4_000
_WAITING_NOTE = "(This waits for someone's approval and goes on by itself once it is decided.)"

_conversations, _messages = Conversation.__table__, Message.__table__
_ADD_MESSAGE: Statement[Any] = Statement(
    sa.update(_conversations)
    .where(_conversations.c.id == sa.bindparam("conversation_id"))
    .values(
        message_count=_conversations.c.message_count + 1,
        last_message_at=sa.bindparam("now"),
        status=ConversationStatus.active.value,
        updated_at=sa.bindparam("now"),
    )
)
_POSITION: Statement[Any] = Statement(
    sa.select(_conversations.c.message_count).where(_conversations.c.id == sa.bindparam("conversation_id"))
)
_HISTORY = reading(
    Message,
    sa.select(_messages)
    .where(_messages.c.conversation_id == sa.bindparam("conversation_id"))
    .order_by(_messages.c.position.desc())
    .limit(MAX_HISTORY),
)


_HISTORY_BEFORE = reading(
    Message,
    sa.select(_messages)
    .where(
        _messages.c.conversation_id == sa.bindparam("conversation_id"),
        _messages.c.position < sa.bindparam("position"),
    )
    .order_by(_messages.c.position.desc())
    .limit(MAX_HISTORY),
)


class Begun(msgspec.Struct, frozen=True, kw_only=True):
    """A turn whose message is stored and whose reply is still to come."""

    ask: Ask
    conversation_id: str
    user_message_id: str
    reply_id: str
    position: int
    history: tuple[Spoken, ...] = ()
    started: float


class Ending(msgspec.Struct, frozen=True, kw_only=True):
    """How a turn ended: with the whole reply, with a part of it, or with an error and perhaps a part.

    One that is `paused` has only stopped for as long as it waits for approvals.
    """

    answered: Answered
    status: TurnStatus
    error: RetinueError | None = None
    trail: list[int | str] | None = None
    paused: Paused | None = None


async def find_own(ctx: Context, agent: Agent, conversation_id: str) -> Conversation | None:
    """The caller's own conversation with this agent."""
    conversation = await ctx.db.get(Conversation, conversation_id)
    if conversation is None or conversation.agent_id != agent.id:
        return None
    is_own = ctx.principal.kind == "user" and conversation.user_id == ctx.principal.id
    return conversation if is_own else None


def require_answering(agent: Agent) -> None:
    if agent.status is AgentStatus.archived:
        raise AgentArchived


async def begin(ctx: Context, ask: Ask, unit: Context | None = None) -> Begun:
    """Store the message; in `unit` where more is to be stored with it."""
    require_answering(ask.agent)
    await spending.require_room(ctx, ask)
    conversation, history = await _situation(ctx, ask)
    begun = Begun(
        ask=ask,
        conversation_id=conversation.id,
        user_message_id=new_id(Message.__prefix__),
        reply_id=new_id(Message.__prefix__),
        position=conversation.message_count + 1,
        history=history,
        started=ctx.clock.monotonic(),
    )
    if unit is not None:
        return await _store_question(unit, begun, conversation)
    try:
        async with ctx.unit() as own:
            await _store_question_at_once(own, begun, conversation)
    except UniqueViolation:
        if begun.position == 1:
            # The session's first message came twice at once; the other one began the conversation.
            return await begin(ctx, ask)
        async with ctx.unit() as own:
            return await _store_question(own, begun, conversation)
    except ReferenceViolation:
        raise ConversationNotFound from None
    return begun


async def _situation(ctx: Context, ask: Ask) -> tuple[Conversation, tuple[Spoken, ...]]:
    """The conversation to go on with, or a new one that is not stored yet."""
    known = await _find_conversation(ctx, ask)
    if known is None:
        return _new_conversation(ctx, ask), ask.history or ()
    if ask.history is not None:
        return known, ask.history
    return known, tuple(spoken(await ctx.db.rows(_HISTORY, conversation_id=known.id)))


async def _find_conversation(ctx: Context, ask: Ask) -> Conversation | None:
    if ask.conversation_id is not None:
        found = await find_own(ctx, ask.agent, ask.conversation_id)
        if found is None:
            raise ConversationNotFound
        return found
    if ask.session_key is None:
        return None
    return await ctx.db.find(Conversation, agent_id=ask.agent.id, session_key=ask.session_key)


def _new_conversation(ctx: Context, ask: Ask) -> Conversation:
    first_line = ask.message.strip().partition("\n")[0]
    return Conversation(
        id=new_id(Conversation.__prefix__),
        agent_id=ask.agent.id,
        title=first_line[:_LONGEST_TITLE] or "Conversation",
        channel=ask.channel,
        user_id=ctx.principal.id if ctx.principal.kind == "user" else None,
        session_id=ask.session_id,
        embed_key_id=ask.embed_key_id,
        visitor_id=ask.visitor_id,
        session_key=ask.session_key,
        last_message_at=ctx.now,
    )


async def begun_with(ctx: Context, ask: Ask, question_id: str) -> Begun:
    """The turn whose question is stored already."""
    question = await ctx.db.get(Message, question_id)
    if question is None or question.reply_id is None:
        raise ConversationNotFound
    return Begun(
        ask=ask,
        conversation_id=question.conversation_id,
        user_message_id=question.id,
        reply_id=question.reply_id,
        position=question.position,
        history=await history_before(ctx, question) if ask.history is None else ask.history,
        started=ctx.clock.monotonic(),
    )


async def history_before(ctx: Context, question: Message) -> tuple[Spoken, ...]:
    """What was said before a message that is still to be answered."""
    rows = await ctx.db.rows(
        _HISTORY_BEFORE, conversation_id=question.conversation_id, position=question.position
    )
    return tuple(spoken(rows))


def spoken(newest_first: list[Message]) -> list[Spoken]:
    """Stored messages as a model reads them; what one side said in a row is one message."""
    found: list[Spoken] = []
    for message in reversed(newest_first):
        said = _said(message)
        if found and found[-1].role == message.role.value:
            found[-1] = Spoken(role=message.role.value, content=f"{found[-1].text()}\n\n{said}")
        elif said:
            found.append(Spoken(role=message.role.value, content=said))
    return found


def _said(message: Message) -> str:
    """A reply that waits says so, or the model would believe that it had been given up."""
    if message.details is None or message.details.finish_reason is not FinishReason.awaiting_approval:
        return message.content
    return f"{message.content}\n\n{_WAITING_NOTE}".strip()


async def _store_question_at_once(unit: Context, begun: Begun, conversation: Conversation) -> None:
    if begun.position == 1:
        await unit.db.insert_at_commit(_opened(unit, begun, conversation))
    else:
        unit.db.execute_at_commit(_ADD_MESSAGE, conversation_id=conversation.id, now=unit.now)
    await unit.db.insert_at_commit(_question(begun))
    announce(unit, begun, begun.user_message_id, Speaker.user, begun.ask.message)


async def _store_question(unit: Context, begun: Begun, conversation: Conversation) -> Begun:
    if begun.position == 1:
        await unit.db.insert(_opened(unit, begun, conversation))
    else:
        position = await next_position(unit, conversation.id)
        begun = msgspec.structs.replace(begun, position=position)
    await unit.db.insert(_question(begun))
    announce(unit, begun, begun.user_message_id, Speaker.user, begun.ask.message)
    return begun


def _opened(unit: Context, begun: Begun, conversation: Conversation) -> Conversation:
    unit.emit(
        ChatStarted(
            conversation_id=conversation.id,
            agent_id=conversation.agent_id,
            channel=begun.ask.channel,
            user_id=conversation.user_id,
            session_id=conversation.session_id,
        )
    )
    conversation.message_count = 1
    conversation.last_message_at = unit.now
    return conversation


def _question(begun: Begun) -> Message:
    return Message(
        id=begun.user_message_id,
        conversation_id=begun.conversation_id,
        role=Speaker.user,
        content=begun.ask.message,
        position=begun.position,
        reply_id=begun.reply_id,
    )


async def next_position(unit: Context, conversation_id: str) -> int:
    if not await unit.db.execute(_ADD_MESSAGE, conversation_id=conversation_id, now=unit.now):
        raise ConversationNotFound
    return int(await unit.db.scalar(_POSITION, conversation_id=conversation_id))


def announce(
    unit: Context,
    begun: Begun,
    message_id: str,
    role: Speaker,
    text: str,
    details: ReplyDetails | None = None,
) -> None:
    ask = begun.ask
    keeps = ask.agent.log_settings
    usage = details.usage if details is not None and keeps.log_token_usage else None
    unit.emit(
        ChatMessage(
            conversation_id=begun.conversation_id,
            agent_id=ask.agent.id,
            message_id=message_id,
            role=role,
            content=text[:_LONGEST_IN_EVENT] if keeps.log_messages else None,
            job_id=ask.job_id,
            tool_call_count=len(details.tool_calls) if details is not None else 0,
            usage=msgspec.to_builtins(usage),
        )
    )


async def finish(ctx: Context, begun: Begun, ending: Ending) -> Message | None:
    """Store the reply and the log of the turn; None when nothing was said, or nobody is left to hear it."""
    if not _is_heard(ending):
        async with ctx.unit() as unit:
            return await store_ending(unit, begun, ending)
    try:
        async with ctx.unit() as unit:
            unit.db.execute_at_commit(_ADD_MESSAGE, conversation_id=begun.conversation_id, now=unit.now)
            reply = _reply(unit, begun, ending, begun.position + 1)
            await unit.db.insert_at_commit(reply)
            await unit.db.insert_at_commit(log_of(unit, begun, ending, reply))
            tell_end(unit, begun, ending)
    except (UniqueViolation, ReferenceViolation):
        async with ctx.unit() as unit:
            return await store_ending(unit, begun, ending)
    return reply


async def store_ending(unit: Context, begun: Begun, ending: Ending) -> Message | None:
    """The same within a transaction; of a conversation that was deleted meanwhile no text is kept."""
    reply = None
    is_there = await unit.db.lock(Conversation, begun.conversation_id) is not None
    if is_there and _is_heard(ending):
        position = await next_position(unit, begun.conversation_id)
        reply = await unit.db.insert(_reply(unit, begun, ending, position))
    if await unit.db.get(Agent, begun.ask.agent.id) is not None:
        await unit.db.insert(log_of(unit, begun, ending, reply, keeps_texts=is_there))
    tell_end(unit, begun, ending)
    return reply


def tell_end(unit: Context, begun: Begun, ending: Ending) -> None:
    if begun.ask.at_end is not None:
        begun.ask.at_end(unit, ending.answered.details.usage.total_tokens)


def _is_heard(ending: Ending) -> bool:
    return ending.status is TurnStatus.completed or bool(ending.answered.text)


def _reply(unit: Context, begun: Begun, ending: Ending, position: int) -> Message:
    reply = reply_of(begun, ending, position)
    announce(unit, begun, reply.id, Speaker.assistant, reply.content, reply.details)
    return reply


def reply_of(begun: Begun, ending: Ending, position: int) -> Message:
    is_whole = ending.status is TurnStatus.completed and ending.paused is None
    return Message(
        id=begun.reply_id,
        conversation_id=begun.conversation_id,
        role=Speaker.assistant,
        content=ending.answered.text,
        position=position,
        status=MessageStatus.completed if is_whole else MessageStatus.incomplete,
        details=ending.answered.details,
        trail=ending.trail,
    )


def log_of(
    unit: Context, begun: Begun, ending: Ending, reply: Message | None, *, keeps_texts: bool = True
) -> ChatLog:
    ask, details = begun.ask, ending.answered.details
    keeps = ask.agent.log_settings
    keeps_messages, keeps_calls = keeps_texts and keeps.log_messages, keeps_texts and keeps.log_tool_calls
    error = ending.error
    log = ChatLog(
        agent_id=ask.agent.id,
        conversation_id=begun.conversation_id,
        message_id=begun.reply_id,
        channel=ask.channel,
        user_id=unit.principal.id if unit.principal.kind == "user" else None,
        session_id=ask.session_id,
        embed_key_id=ask.embed_key_id,
        user_message=ask.message if keeps_messages else None,
        assistant_message=reply.content if reply is not None and keeps_messages else None,
        tool_calls=msgspec.to_builtins(details.tool_calls) if keeps_calls else [],
        tool_call_count=len(details.tool_calls),
        message_count=2 if reply is not None else 1,
        has_usage=keeps.log_token_usage,
        prompt_tokens=details.usage.prompt_tokens,
        completion_tokens=details.usage.completion_tokens,
        cost_usd=spending.cost_usd(details.model, details.usage),
        model=details.model,
        response_time_ms=round((unit.clock.monotonic() - begun.started) * 1000),
        status=ending.status,
        error={"code": error.code, "message": error.message} if error is not None else None,
        correlation_id=unit.caller.correlation_id,
    )
    spending.meter_turn(unit, ask, log)
    return log
