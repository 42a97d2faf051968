"""What a limit answered, and the headers and the refusal that say so."""

import msgspec

from retinue.kit.errors import RateLimited, Unavailable

Header = tuple[bytes, bytes]


class _Lines(dict[int, Header]):
    """One header's ready-made lines: limits and windows are few, and the reset changes once a second."""

    def __init__(self, name: bytes) -> None:
        super().__init__()
        self._name = name

    def __missing__(self, number: int) -> Header:
        if len(self) >= 4096:
            self.clear()
        line = self[number] = (self._name, b"%d" % number)
        return line


_LIMIT = _Lines(b"x-ratelimit-limit")
_REMAINING = _Lines(b"x-ratelimit-remaining")
_RESET = _Lines(b"x-ratelimit-reset")
_WINDOW = _Lines(b"x-ratelimit-window")


class Decision(msgspec.Struct, frozen=True, gc=False):
    """`reset` is the Unix second at which the oldest cost leaves; `retry_after` is 0 unless refused."""

    allowed: bool
    limit: int
    remaining: int
    reset: int
    window: int
    retry_after: int = 0

    def headers(self) -> list[Header]:
        """The four headers of every answer, ready for ASGI."""
        return [_LIMIT[self.limit], _REMAINING[self.remaining], _RESET[self.reset], _WINDOW[self.window]]

    def refusal(self, kind: type[RateLimited] = RateLimited, message: str | None = None) -> RateLimited:
        """The error to raise when this is not `allowed`."""
        return kind(
            limit=self.limit,
            window=self.window,
            retry_after=self.retry_after,
            reset=self.reset,
            message=message,
        )


class LimitsUnreachable(Unavailable):
    """The limits shared by all processes cannot be reached."""
