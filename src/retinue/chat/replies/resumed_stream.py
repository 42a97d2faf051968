"""The stream of a turn that resumes after an approval, for listeners in the same process.

Listeners in other processes receive the rest once it is stored.
"""

import asyncio

from retinue.chat.engine.parts import TurnFinished, TurnPart
from retinue.chat.models import Message
from retinue.chat.replies.live import LiveTurn, LiveTurns
from retinue.chat.replies.streaming import frames_before_pause, publish_part, publish_stored_end
from retinue.kit.context import Context


async def _never_abandoned() -> bool:
    """Return True: approved calls are made whether or not anyone listens."""
    return True


class ResumedStream:
    def __init__(self, ctx: Context, reply: Message) -> None:
        self._ctx = ctx
        self._closed = asyncio.Event()
        self._live = LiveTurn(
            reply.id, _never_abandoned, is_own=False, earlier_frames=frames_before_pause(reply)
        )
        ctx.state(LiveTurns).start(self._live, self._wait_until_closed)

    async def _wait_until_closed(self, _: LiveTurn) -> None:
        await self._closed.wait()

    def on_part(self, part: TurnPart) -> None:
        if not isinstance(part, TurnFinished):
            publish_part(self._live, part)

    async def notify_end(self) -> None:
        """Publish the stored end of the reply."""
        reply = await self._ctx.db.get(Message, self._live.id)
        if reply is not None:
            publish_stored_end(self._live, reply)

    def close(self) -> None:
        self._closed.set()
