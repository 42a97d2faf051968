"""A turn that goes on after an approval, for those who listen in the process that goes on with it.

In another process they get the rest when it is stored.
"""

import asyncio

from retinue.chat.live import LiveTurn, LiveTurns
from retinue.chat.models import Message
from retinue.chat.streaming import before_pause, publish, publish_end
from retinue.chat.words import Answered, Part
from retinue.kit.context import Context


async def _always() -> bool:
    """Nobody need listen: what was approved is done in any case."""
    return True


class ContinuedStream:
    def __init__(self, ctx: Context, reply: Message) -> None:
        self._ctx = ctx
        self._over = asyncio.Event()
        self._live = LiveTurn(reply.id, _always, is_own=False, so_far=before_pause(reply))
        ctx.adapter(LiveTurns).start(self._live, self._until_over)

    async def _until_over(self, _: LiveTurn) -> None:
        await self._over.wait()

    def hear(self, part: Part) -> None:
        if not isinstance(part, Answered):
            publish(self._live, part)

    async def tell_end(self) -> None:
        """However it ended, by whomever it was stored."""
        reply = await self._ctx.db.get(Message, self._live.id)
        if reply is not None:
            publish_end(self._live, reply)

    def close(self) -> None:
        self._over.set()
