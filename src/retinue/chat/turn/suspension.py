"""Turns that are suspended until their tool calls are approved."""

from typing import Any

import msgspec

from retinue.access.models import Role
from retinue.agents.models import Agent
from retinue.agents.pinned import configured
from retinue.approvals import service as approvals
from retinue.approvals.service import (
    ApprovalSource,
    Approvers,
    OnTimeout,
    RequestedApproval,
    Requester,
    SourceType,
)
from retinue.chat.engine import CallDecision, PendingCall
from retinue.chat.engine.parts import CalledTool, CallError, CallStatus, FinishReason, TurnFinished
from retinue.chat.models import (
    Conversation,
    Message,
    MessageStatus,
    PausedTurn,
    Speaker,
    TurnStatus,
)
from retinue.chat.turn import storage
from retinue.chat.turn.history import NO_HISTORY, ConversationHistory, load_history_before
from retinue.chat.turn.positions import take_next_position
from retinue.chat.turn.request import TurnRequest
from retinue.chat.turn.resent_history import restore_resent_history
from retinue.chat.turn.storage import PendingTurn, TurnResult
from retinue.chat.turn.tool_images import keep_images
from retinue.kit.context import Context
from retinue.kit.context.continuations import ContinuationRef, resume_continuation
from retinue.kit.json_types import JsonObject
from retinue.service_accounts.token_budget import count_tokens
from retinue.tools.models import ApprovalRule, Tool

TURN_CONTINUATION = "chat_turn"
_MAX_QUOTED_LENGTH = 1_000
EMBED_KEY_TOKENS_CONTINUATION = "embed_key_tokens"
"""Continuation that counts the tokens a resumed turn used for its embed key."""


async def store_result_or_suspend(
    ctx: Context, pending_turn: PendingTurn, turn_result: TurnResult
) -> Message | None:
    """Store the result of a turn, or suspend it."""
    if turn_result.paused is None:
        return await storage.store_result(ctx, pending_turn, turn_result)
    async with ctx.unit() as unit:
        return await suspend_turn(unit, pending_turn, turn_result)


async def suspend_turn(unit: Context, pending_turn: PendingTurn, turn_result: TurnResult) -> Message | None:
    """Store the reply so far, the suspended state and its approval requests.

    Return None if the conversation was deleted.
    """
    storage.notify_end(unit, pending_turn, turn_result)
    if await unit.db.lock(Conversation, pending_turn.conversation_id) is None:
        return None
    taken = await take_next_position(unit, pending_turn.conversation_id)
    reply = await unit.db.insert(storage.build_reply(pending_turn, turn_result, taken))
    await keep_images(unit, reply.conversation_id, reply.id, turn_result.answered.details.tool_calls)
    await _store_suspended_turn(unit, pending_turn, turn_result)
    await storage.store_result_part(unit, pending_turn, turn_result)
    return reply


async def suspend_again(
    unit: Context, pending_turn: PendingTurn, locked: PausedTurn, turn_result: TurnResult
) -> Message | None:
    """Suspend a resumed turn once more."""
    reply = await _end_pause(unit, locked)
    if reply is None:
        return None
    await _count_remaining_tokens(unit, locked, reply, turn_result)
    await _update_reply(unit, reply, turn_result, MessageStatus.incomplete)
    await _store_suspended_turn(unit, pending_turn, turn_result)
    await storage.store_result_part(unit, pending_turn, turn_result)
    return reply


async def _end_pause(unit: Context, locked: PausedTurn) -> Message | None:
    """Delete the suspended state and return its reply, unless that was deleted."""
    reply = await unit.db.get(Message, locked.message_id)
    await unit.db.delete(locked)
    return reply


async def _store_suspended_turn(unit: Context, pending_turn: PendingTurn, turn_result: TurnResult) -> None:
    request, state = pending_turn.request, turn_result.paused
    assert state is not None
    paused = await unit.db.insert(
        PausedTurn(
            agent_id=request.agent.id,
            conversation_id=pending_turn.conversation_id,
            user_message_id=pending_turn.user_message_id,
            message_id=pending_turn.reply_id,
            job_id=request.job_id,
            asker_kind=unit.principal.kind,
            asker_id=unit.principal.id,
            channel=request.channel,
            context=request.context,
            max_tokens=request.max_tokens,
            temperature=request.temperature,
            stop=list(request.stop),
            lineage=unit.caller.lineage,
            state=state,
            decisions={},
            pinned=request.pinned,
            output=request.output,
            reasoning_effort=request.reasoning_effort,
            asks_before=list(request.asks_before) or None,
        )
    )
    for agent_id, pending in state.pending_approvals(request.agent.id):
        await _request_approval(unit, pending_turn, paused, agent_id, pending)


async def _request_approval(
    unit: Context, pending_turn: PendingTurn, paused: PausedTurn, agent_id: str, pending: PendingCall
) -> None:
    """Request the approval of a call for the agent that makes it, which may be a sub-agent."""
    asked, call = pending_turn.request.agent, pending.call
    agent = asked if agent_id == asked.id else await unit.db.get(Agent, agent_id) or asked
    tool = await unit.db.get(Tool, pending.tool_id)
    name = tool.name if tool is not None else call.name
    function = _function_of(tool, call.name)
    rule = (tool.approval if tool is not None else None) or ApprovalRule()
    approvers = Approvers(rule.approvers.user_ids, rule.approvers.roles)
    is_anyone = approvers == Approvers()
    if is_anyone:
        # Approval guards against the model, so the requester may approve what it derives from the request.
        requester_ids = (unit.principal.id,) if unit.principal.kind == "user" else ()
        approvers = Approvers(requester_ids, (Role.tenant_admin,))
    await approvals.request(
        unit,
        RequestedApproval(
            id=pending.approval_id,
            title=f"{agent.name}: {name}, {function}" if function else f"{agent.name}: {name}",
            description=_describe_request(agent, asked, name, function),
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
            payload={
                "tool": name,
                "function": call.name,
                "function_name": function or call.name,
                "input": call.arguments or {},
                "message": pending_turn.request.message[:_MAX_QUOTED_LENGTH],
            },
            editable_fields=rule.editable_fields,
            on_timeout=OnTimeout(rule.on_timeout),
            expires_in_s=rule.expires_in_s,
            waiting=ContinuationRef(TURN_CONTINUATION, paused.id),
        ),
    )


def _function_of(tool: Tool | None, called: str) -> str:
    """Return which function of its tool a call is for; empty for a tool that is one function."""
    prefix = f"{tool.slug}__" if tool is not None else None
    return called.removeprefix(prefix) if prefix and called.startswith(prefix) else ""


def _describe_request(agent: Agent, asked: Agent, tool: str, function: str) -> str:
    on_behalf = f", on behalf of the agent {asked.name}" if agent.id != asked.id else ""
    used = f"the function {function} of the tool {tool}" if function else f"the tool {tool}"
    return f"The agent {agent.name} wants to use {used}{on_behalf}."


async def rebuild_pending_turn(
    ctx: Context, paused: PausedTurn, *, loads_history: bool = False
) -> PendingTurn | None:
    """Return the turn as it was started; None if its agent or question was deleted."""
    agent = await ctx.db.get(Agent, paused.agent_id)
    question = await ctx.db.get(Message, paused.user_message_id)
    conversation = await ctx.db.get(Conversation, paused.conversation_id)
    if agent is None or question is None or conversation is None:
        return None
    pinned = paused.pinned
    return PendingTurn(
        request=TurnRequest(
            agent=agent if pinned is None else configured(agent, pinned),
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
            pinned=pinned,
            output=paused.output,
            reasoning_effort=paused.reasoning_effort,
            attachments=tuple(question.attachments or ()),
            asks_before=tuple(paused.asks_before or ()),
        ),
        conversation_id=conversation.id,
        user_message_id=question.id,
        reply_id=paused.message_id,
        position=question.position,
        history=await _load_history(ctx, paused, question) if loads_history else NO_HISTORY,
        started=ctx.clock.monotonic(),
    )


async def _load_history(ctx: Context, paused: PausedTurn, question: Message) -> ConversationHistory:
    """Return the history, which is compacted if the turn has become too long."""
    if paused.state.seed in {"", paused.conversation_id}:
        return await load_history_before(ctx, question)
    return restore_resent_history(paused.state.conversation)


async def finish_suspended_turn(
    unit: Context, pending_turn: PendingTurn, locked: PausedTurn, turn_result: TurnResult
) -> Message | None:
    """Complete the reply of a turn that had been suspended."""
    reply = await _end_pause(unit, locked)
    if reply is None:
        return None
    # Whoever ends the turn, it belongs to the work that asked.
    unit.caller = msgspec.structs.replace(unit.caller, lineage=locked.lineage)
    is_whole = turn_result.status is TurnStatus.completed
    await _count_remaining_tokens(unit, locked, reply, turn_result)
    await _update_reply(
        unit, reply, turn_result, MessageStatus.completed if is_whole else MessageStatus.incomplete
    )
    storage.emit_chat_message(unit, pending_turn, reply.id, Speaker.assistant, reply.content, reply.details)
    await unit.db.insert(storage.build_chat_log(unit, pending_turn, turn_result, reply))
    await storage.store_result_part(unit, pending_turn, turn_result)
    return reply


async def _count_remaining_tokens(
    unit: Context, locked: PausedTurn, reply: Message, turn_result: TurnResult
) -> None:
    if reply.details is None:
        return
    tokens = turn_result.answered.details.usage.total_tokens - reply.details.usage.total_tokens
    count_tokens(unit, tokens)
    if locked.asker_kind != "embed_key":
        return
    await resume_continuation(
        unit, ContinuationRef(EMBED_KEY_TOKENS_CONTINUATION, locked.asker_id), {"tokens": tokens}
    )


async def _update_reply(
    unit: Context, reply: Message, turn_result: TurnResult, status: MessageStatus
) -> None:
    answered = turn_result.answered
    earlier = reply.details.tool_calls if reply.details is not None else ()
    await keep_images(unit, reply.conversation_id, reply.id, answered.details.tool_calls, earlier)
    await unit.db.update(
        reply,
        content=answered.text,
        details=answered.details,
        status=status,
        trail=turn_result.trail,
        rounds=list(answered.rounds) or None,
    )


async def cancel_approvals(ctx: Context, paused: PausedTurn) -> None:
    """Cancel the approvals a turn waits for; call this before locking anything of the turn."""
    await approvals.cancel_waiting(ctx, TURN_CONTINUATION, paused.id)


async def cancel_suspended_turn(unit: Context, paused: PausedTurn) -> None:
    """Cancel a turn that is suspended or being resumed."""
    pending_turn = await rebuild_pending_turn(unit, paused)
    if await unit.db.lock(Conversation, paused.conversation_id) is None or pending_turn is None:
        return
    locked = await unit.db.lock(PausedTurn, paused.id)
    reply = await unit.db.get(Message, paused.message_id)
    if locked is not None and reply is not None:
        await finish_suspended_turn(
            unit, pending_turn, locked, build_cut_off_result(reply, TurnStatus.cancelled)
        )


def build_cut_off_result(reply: Message, status: TurnStatus, **changes: Any) -> TurnResult:
    """Return the result of a reply that ends while suspended: undecided calls count as denied."""
    assert reply.details is not None
    calls = tuple(_denied_call(call) for call in reply.details.tool_calls)
    details = msgspec.structs.replace(
        reply.details, tool_calls=calls, finish_reason=FinishReason.cancelled, **changes
    )
    return TurnResult(
        answered=TurnFinished(text=reply.content, details=details, rounds=tuple(reply.rounds or ())),
        status=status,
        trail=reply.trail,
    )


def _denied_call(call: CalledTool) -> CalledTool:
    if call.status is not CallStatus.awaiting_approval:
        return call
    error = CallError("approval_denied", "The reply ended before this call was approved.")
    return msgspec.structs.replace(call, status=CallStatus.denied, error=error)


def parse_decision(result: JsonObject) -> CallDecision:
    return CallDecision(
        decision=result["decision"],
        is_late=result["status"] == "timeout",
        comment=result.get("comment"),
        edited_input=result.get("edited_input"),
    )
