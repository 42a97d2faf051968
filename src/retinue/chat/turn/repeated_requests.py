"""Requests that are repeated with their Idempotency-Key: the question is stored once, and answered once.

A reply that was cut off stays as it is; repeating the request then starts another turn.
"""

import itertools

from retinue.chat.engine.parts import FinishReason
from retinue.chat.models import Message, MessageStatus
from retinue.chat.turn import storage
from retinue.chat.turn.request import TurnRequest
from retinue.chat.turn.storage import PendingTurn
from retinue.kit.context import Context
from retinue.kit.db.errors import UniqueViolation
from retinue.kit.http.idempotent_steps import find_step_result, idempotent_step


async def find_answered(ctx: Context, request: TurnRequest) -> tuple[PendingTurn, Message] | None:
    """Return the turn of an earlier attempt, and its whole reply: it is due even if a budget is spent now."""
    for attempt in itertools.count(1):
        question_id = await find_step_result(ctx, _step_name(attempt), str)
        if question_id is None:
            return None
        pending, reply = await _load_turn(ctx, request, question_id)
        if reply is None:
            return None
        if _is_whole(reply):
            return pending, reply
    raise AssertionError("unreachable")


async def store_question_once(ctx: Context, request: TurnRequest) -> tuple[PendingTurn, Message | None]:
    """Return the turn of a request, with the reply if a repeated request finds one."""
    if ctx.claim is None:
        return await storage.start_turn(ctx, request), None
    for attempt in itertools.count(1):
        question_id = await _store_in_step(ctx, request, _step_name(attempt))
        pending, reply = await _load_turn(ctx, request, question_id)
        if reply is None or _is_whole(reply):
            return pending, reply
    raise AssertionError("unreachable")


async def _store_in_step(ctx: Context, request: TurnRequest, name: str) -> str:
    async def store(unit: Context) -> str:
        return (await storage.start_turn(ctx, request, unit)).user_message_id

    try:
        return await idempotent_step(ctx, name, str, store)
    except UniqueViolation:
        # Two first messages of the session arrived at once; the other one created the conversation.
        return await idempotent_step(ctx, name, str, store)


async def _load_turn(
    ctx: Context, request: TurnRequest, question_id: str
) -> tuple[PendingTurn, Message | None]:
    pending = await storage.load_pending_turn(ctx, request, question_id)
    return pending, await ctx.db.get(Message, pending.reply_id)


def _step_name(attempt: int) -> str:
    return f"question-{attempt}"


def _is_whole(reply: Message) -> bool:
    is_waiting = reply.details is not None and reply.details.finish_reason is FinishReason.awaiting_approval
    return is_waiting or reply.status is MessageStatus.completed
