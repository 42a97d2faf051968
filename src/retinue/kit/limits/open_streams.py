"""How many streams one caller may have open in a process."""

from retinue.kit.clock import Clock
from retinue.kit.errors import RateLimited

MAX_STREAMS_PER_USER = 20
"""Per user, kind of stream and process; a browser opens one for each window."""

_RETRY_AFTER_SECONDS = 5


def require_stream_seat(taken: int, clock: Clock) -> None:
    """Raise `RateLimited` if the caller has as many streams open as are allowed."""
    if taken >= MAX_STREAMS_PER_USER:
        raise RateLimited(
            limit=MAX_STREAMS_PER_USER,
            window="concurrent",
            retry_after=_RETRY_AFTER_SECONDS,
            reset=int(clock.time()) + _RETRY_AFTER_SECONDS,
            message=f"You already have {MAX_STREAMS_PER_USER} open streams. Close one of them.",
        )
