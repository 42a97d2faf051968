"""The time until a streamed reply begins, for the metric and the turn's log entry."""

from collections.abc import Callable

from retinue.chat.engine.parts import ReplyText, TurnPart
from retinue.chat.turn.storage import PendingTurn
from retinue.kit.context import Context
from retinue.kit.metrics import declarations as metrics


class FirstTokenTimer:
    """Takes the time until the first text of a streamed reply; `elapsed_ms` is None without one."""

    def __init__(self, ctx: Context, pending: PendingTurn) -> None:
        self.elapsed_ms: int | None = None
        self._clock, self._started = ctx.clock, pending.started

    def listening(self, on_part: Callable[[TurnPart], None] | None) -> Callable[[TurnPart], None] | None:
        """Return a listener that also takes the time; a reply that nobody streams has no first token."""
        if on_part is None:
            return None

        def listen(part: TurnPart) -> None:
            if self.elapsed_ms is None and isinstance(part, ReplyText):
                elapsed_s = self._clock.monotonic() - self._started
                self.elapsed_ms = round(elapsed_s * 1000)
                metrics.CHAT_TIME_TO_FIRST_TOKEN.observe(elapsed_s)
            on_part(part)

        return listen
