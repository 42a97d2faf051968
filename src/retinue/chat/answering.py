"""A message and its whole reply, for callers who wait."""

import itertools

from retinue.chat import turns
from retinue.chat.admission import take_place
from retinue.chat.asking import Ask
from retinue.chat.conducting import conduct
from retinue.chat.models import Message, MessageStatus
from retinue.chat.turns import Begun
from retinue.chat.words import FinishReason
from retinue.kit.context import Context
from retinue.kit.db.errors import UniqueViolation
from retinue.kit.http.steps import step


async def reply(ctx: Context, ask: Ask) -> Message:
    """The reply as it was stored; `ctx` has no open transaction."""
    async with await take_place(ctx):
        return await conduct(ctx, await turns.begin(ctx, ask))


async def reply_once(ctx: Context, ask: Ask) -> Message:
    """The same for a request, which may come again with its key: the question is stored once."""
    async with await take_place(ctx):
        begun, answered = await begin_once(ctx, ask)
        return answered or await conduct(ctx, begun)


async def begin_once(ctx: Context, ask: Ask) -> tuple[Begun, Message | None]:
    """The turn of a request, with the reply if a repetition of the request finds one.

    A reply that was cut off stays as it is, and whoever asks for it again begins another turn.
    """
    if ctx.claim is None:
        return await turns.begin(ctx, ask), None
    for attempt in itertools.count(1):
        question_id = await _store_once(ctx, ask, f"question-{attempt}")
        begun = await turns.begun_with(ctx, ask, question_id)
        answered = await ctx.db.get(Message, begun.reply_id)
        if answered is None or _is_whole(answered):
            return begun, answered
    raise AssertionError("unreachable")


async def _store_once(ctx: Context, ask: Ask, name: str) -> str:
    async def begin(unit: Context) -> str:
        return (await turns.begin(ctx, ask, unit)).user_message_id

    try:
        return await step(ctx, name, str, begin)
    except UniqueViolation:
        # The session's first message came twice at once; the other one began the conversation.
        return await step(ctx, name, str, begin)


def _is_whole(reply: Message) -> bool:
    waits = reply.details is not None and reply.details.finish_reason is FinishReason.awaiting_approval
    return waits or reply.status is MessageStatus.completed
