"""Replies for callers that wait for the whole text."""

import itertools

from retinue.chat.engine.parts import FinishReason
from retinue.chat.models import Message, MessageStatus
from retinue.chat.turn import storage
from retinue.chat.turn.admission import acquire_turn_slot
from retinue.chat.turn.billing import BudgetReservation
from retinue.chat.turn.request import TurnRequest
from retinue.chat.turn.runner import run_turn
from retinue.chat.turn.storage import PendingTurn
from retinue.kit.context import Context
from retinue.kit.db.errors import UniqueViolation
from retinue.kit.http.idempotent_steps import idempotent_step


async def reply(ctx: Context, request: TurnRequest) -> Message:
    """Answer the message and return the stored reply; `ctx` must have no open transaction."""
    async with await acquire_turn_slot(ctx), BudgetReservation(ctx) as reservation:
        return await run_turn(
            ctx, await storage.start_turn(ctx, request, reservation=reservation), reservation=reservation
        )


async def reply_idempotently(ctx: Context, request: TurnRequest) -> Message:
    """Answer a request that may be repeated with its Idempotency-Key; the question is stored once."""
    async with await acquire_turn_slot(ctx), BudgetReservation(ctx) as reservation:
        pending, answered = await start_turn_idempotently(ctx, request, reservation)
        return answered or await run_turn(ctx, pending, reservation=reservation)


async def start_turn_idempotently(
    ctx: Context, request: TurnRequest, reservation: BudgetReservation
) -> tuple[PendingTurn, Message | None]:
    """Return the turn of a request, with the reply if a repeated request finds one.

    A reply that was cut off stays as it is; repeating the request then starts another turn.
    """
    if ctx.claim is None:
        return await storage.start_turn(ctx, request, reservation=reservation), None
    for attempt in itertools.count(1):
        question_id = await _store_question_once(ctx, request, reservation, f"question-{attempt}")
        pending = await storage.load_pending_turn(ctx, request, question_id)
        answered = await ctx.db.get(Message, pending.reply_id)
        if answered is None or _is_whole(answered):
            return pending, answered
    raise AssertionError("unreachable")


async def _store_question_once(
    ctx: Context, request: TurnRequest, reservation: BudgetReservation, name: str
) -> str:
    async def begin(unit: Context) -> str:
        return (await storage.start_turn(ctx, request, unit, reservation=reservation)).user_message_id

    try:
        return await idempotent_step(ctx, name, str, begin)
    except UniqueViolation:
        # Two first messages of the session arrived at once; the other one created the conversation.
        return await idempotent_step(ctx, name, str, begin)


def _is_whole(reply: Message) -> bool:
    is_waiting = reply.details is not None and reply.details.finish_reason is FinishReason.awaiting_approval
    return is_waiting or reply.status is MessageStatus.completed
