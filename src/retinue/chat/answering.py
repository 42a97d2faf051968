"""A message and its whole reply, for callers who wait."""

from retinue.chat import turns
from retinue.chat.admission import admitted
from retinue.chat.asking import Ask
from retinue.chat.conducting import conduct
from retinue.chat.models import Message
from retinue.kit.context import Context


async def reply(ctx: Context, ask: Ask) -> Message:
    """The reply as it was stored; `ctx` has no open transaction."""
    async with admitted(ctx):
        begun = await turns.begin(ctx, ask)
        return await conduct(ctx, begun)
