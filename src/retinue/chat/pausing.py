"""A turn that stops until people have agreed to what its model wants to do."""

from typing import Any

import msgspec

from retinue.access.models import Role
from retinue.agents.models import Agent
from retinue.approvals import service as approvals
from retinue.approvals.service import (
    ApprovalSource,
    Approvers,
    OnTimeout,
    RequestedApproval,
    Requester,
    SourceType,
)
from retinue.chat import turns
from retinue.chat.asking import Ask
from retinue.chat.engine import Decided, PendingCall
from retinue.chat.models import Conversation, Message, MessageStatus, PausedTurn, Speaker, TurnStatus
from retinue.chat.turns import Begun, Ending
from retinue.chat.words import Answered, CalledTool, CallError, CallStatus, FinishReason
from retinue.kit.context import Context
from retinue.kit.continuations import Waiting, go_on
from retinue.tools.models import ApprovalRule, Tool

CONTINUATION = "chat_turn"
TOKENS_OF_KEY = "embed_key_tokens"
"""Whoever counts the tokens of an embed key hears what a turn took after it had waited."""


async def finish(ctx: Context, begun: Begun, ending: Ending) -> Message | None:
    """Store the end of a turn, or that it waits."""
    if ending.paused is None:
        return await turns.finish(ctx, begun, ending)
    async with ctx.unit() as unit:
        return await store(unit, begun, ending)


async def store(unit: Context, begun: Begun, ending: Ending) -> Message | None:
    """The reply as far as it came, what it needs to go on, and the questions; None when nobody is left."""
    turns.tell_end(unit, begun, ending)
    if await unit.db.lock(Conversation, begun.conversation_id) is None:
        return None
    position = await turns.next_position(unit, begun.conversation_id)
    reply = await unit.db.insert(turns.reply_of(begun, ending, position))
    await _wait(unit, begun, ending)
    return reply


async def store_again(unit: Context, begun: Begun, held: PausedTurn, ending: Ending) -> Message | None:
    """The same for a turn that goes on and stops once more."""
    reply = await unit.db.get(Message, held.message_id)
    await unit.db.delete(held)
    if reply is None:
        return None
    await _count_rest(unit, held, reply, ending)
    await _write(unit, reply, ending, MessageStatus.incomplete)
    await _wait(unit, begun, ending)
    return reply


async def _wait(unit: Context, begun: Begun, ending: Ending) -> None:
    ask, state = begun.ask, ending.paused
    assert state is not None
    paused = await unit.db.insert(
        PausedTurn(
            agent_id=ask.agent.id,
            conversation_id=begun.conversation_id,
            user_message_id=begun.user_message_id,
            message_id=begun.reply_id,
            job_id=ask.job_id,
            asker_kind=unit.principal.kind,
            asker_id=unit.principal.id,
            channel=ask.channel,
            context=ask.context,
            max_tokens=ask.max_tokens,
            temperature=ask.temperature,
            stop=list(ask.stop),
            state=state,
            decisions={},
        )
    )
    for agent_id, pending in state.questions(ask.agent.id):
        await _request(unit, begun, paused, agent_id, pending)


async def _request(
    unit: Context, begun: Begun, paused: PausedTurn, agent_id: str, pending: PendingCall
) -> None:
    """In the name of the agent that wants to make the call, which may be a sub-agent of the one asked."""
    asked, call = begun.ask.agent, pending.call
    agent = asked if agent_id == asked.id else await unit.db.get(Agent, agent_id) or asked
    tool = await unit.db.get(Tool, pending.tool_id)
    name = tool.name if tool is not None else call.name
    rule = (tool.approval if tool is not None else None) or ApprovalRule()
    approvers = Approvers(rule.approvers.user_ids, rule.approvers.roles)
    is_anyone = approvers == Approvers()
    if is_anyone:
        # What is to be guarded against is the model: whoever asked it may agree to what it makes of that.
        asker = (unit.principal.id,) if unit.principal.kind == "user" else ()
        approvers = Approvers(asker, (Role.tenant_admin,))
    await approvals.request(
        unit,
        RequestedApproval(
            id=pending.approval_id,
            title=f"{agent.name}: {name}",
            description=_wish(agent, asked, name),
            source=ApprovalSource(
                type=SourceType.tool,
                agent_id=agent_id,
                conversation_id=paused.conversation_id,
                tool_id=pending.tool_id,
                tool_call_id=call.id,
            ),
            requested_by=Requester(unit.principal.kind, unit.principal.id),
            approvers=approvers,
            required_approvals=rule.required_approvals,
            allow_self_approval=is_anyone or rule.allow_self_approval,
            payload={"tool": name, "function": call.name, "input": call.arguments or {}},
            editable_fields=rule.editable_fields,
            on_timeout=OnTimeout(rule.on_timeout),
            expires_in_s=rule.expires_in_s,
            waiting=Waiting(CONTINUATION, paused.id),
        ),
    )


def _wish(agent: Agent, asked: Agent, tool: str) -> str:
    on_behalf = f", on behalf of the agent {asked.name}" if agent.id != asked.id else ""
    return f"The agent {agent.name} wants to use the tool {tool}{on_behalf}."


async def again(ctx: Context, paused: PausedTurn) -> Begun | None:
    """The turn as it was begun; None when its agent or its question is gone."""
    agent = await ctx.db.get(Agent, paused.agent_id)
    question = await ctx.db.get(Message, paused.user_message_id)
    conversation = await ctx.db.get(Conversation, paused.conversation_id)
    if agent is None or question is None or conversation is None:
        return None
    return Begun(
        ask=Ask(
            agent=agent,
            message=question.content,
            channel=paused.channel,
            conversation_id=conversation.id,
            session_id=conversation.session_id,
            embed_key_id=conversation.embed_key_id,
            visitor_id=conversation.visitor_id,
            context=paused.context,
            max_tokens=paused.max_tokens,
            temperature=paused.temperature,
            stop=tuple(paused.stop),
            job_id=paused.job_id,
        ),
        conversation_id=conversation.id,
        user_message_id=question.id,
        reply_id=paused.message_id,
        position=question.position,
        started=ctx.clock.monotonic(),
    )


async def conclude(unit: Context, begun: Begun, held: PausedTurn, ending: Ending) -> Message | None:
    """The end of a turn that had waited: its reply is completed where it stands."""
    reply = await unit.db.get(Message, held.message_id)
    await unit.db.delete(held)
    if reply is None:
        return None
    is_whole = ending.status is TurnStatus.completed
    await _count_rest(unit, held, reply, ending)
    await _write(unit, reply, ending, MessageStatus.completed if is_whole else MessageStatus.incomplete)
    turns.announce(unit, begun, reply.id, Speaker.assistant, reply.content, reply.details)
    await unit.db.insert(turns.log_of(unit, begun, ending, reply))
    return reply


async def _count_rest(unit: Context, held: PausedTurn, reply: Message, ending: Ending) -> None:
    if held.asker_kind != "embed_key" or reply.details is None:
        return
    tokens = ending.answered.details.usage.total_tokens - reply.details.usage.total_tokens
    await go_on(unit, Waiting(TOKENS_OF_KEY, held.asker_id), {"tokens": tokens})


async def _write(unit: Context, reply: Message, ending: Ending, status: MessageStatus) -> None:
    said = ending.answered
    await unit.db.update(reply, content=said.text, details=said.details, status=status, trail=ending.trail)


async def withdraw(ctx: Context, paused: PausedTurn) -> None:
    """Nobody need decide any more what a turn waits for; before anything of the turn is held."""
    await approvals.cancel_waiting(ctx, CONTINUATION, paused.id)


async def give_up(unit: Context, paused: PausedTurn) -> None:
    """End a turn that nobody wants any more, whether it waits or goes on."""
    begun = await again(unit, paused)
    if await unit.db.lock(Conversation, paused.conversation_id) is None or begun is None:
        return
    held = await unit.db.lock(PausedTurn, paused.id)
    reply = await unit.db.get(Message, paused.message_id)
    if held is not None and reply is not None:
        await conclude(unit, begun, held, cut_off(reply, TurnStatus.cancelled))


def cut_off(reply: Message, status: TurnStatus, **known: Any) -> Ending:
    """A reply that ends where it waited: what was not decided by then is not done."""
    assert reply.details is not None
    calls = tuple(_undone(call) for call in reply.details.tool_calls)
    details = msgspec.structs.replace(
        reply.details, tool_calls=calls, finish_reason=FinishReason.cancelled, **known
    )
    return Ending(answered=Answered(text=reply.content, details=details), status=status, trail=reply.trail)


def _undone(call: CalledTool) -> CalledTool:
    if call.status is not CallStatus.awaiting_approval:
        return call
    error = CallError("approval_denied", "The reply was ended before anyone approved this call.")
    return msgspec.structs.replace(call, status=CallStatus.denied, error=error)


def decided(result: dict[str, Any]) -> Decided:
    return Decided(
        decision=result["decision"], comment=result.get("comment"), edited_input=result.get("edited_input")
    )
