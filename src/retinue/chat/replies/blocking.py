"""Replies for callers that wait for the whole text."""

from retinue.chat.attachments.preparation import RequestedFiles
from retinue.chat.models import Message
from retinue.chat.playground import Trial
from retinue.chat.turn.admission import admit
from retinue.chat.turn.placement import RequestedPlace
from retinue.chat.turn.request import TurnRequest
from retinue.kit.context import Context


async def reply(
    ctx: Context,
    request: TurnRequest,
    *,
    files: RequestedFiles | None = None,
    trial: Trial | None = None,
    place: RequestedPlace | None = None,
) -> Message:
    """Answer the message and return the stored reply; `ctx` must have no open transaction.

    A request that is repeated with its Idempotency-Key stores its question once.
    """
    async with await admit(ctx, request, files=files, trial=trial, place=place) as turn:
        return await turn.answer(ctx)
