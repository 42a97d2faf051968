"""The time until a streamed reply begins, as a metric."""

from collections.abc import Callable

from retinue.chat.engine.parts import ReplyText, TurnPart
from retinue.chat.turn.storage import PendingTurn
from retinue.kit.context import Context
from retinue.kit.metrics import declarations as metrics


def time_first_token(
    ctx: Context, pending: PendingTurn, on_part: Callable[[TurnPart], None] | None
) -> Callable[[TurnPart], None] | None:
    """Return a listener that also observes the time until the first text of a streamed reply."""
    if on_part is None or not metrics.CHATS.is_on:
        return on_part
    is_waiting = True

    def listen(part: TurnPart) -> None:
        nonlocal is_waiting
        if is_waiting and isinstance(part, ReplyText):
            is_waiting = False
            metrics.CHAT_TIME_TO_FIRST_TOKEN.observe(ctx.clock.monotonic() - pending.started)
        on_part(part)

    return listen
