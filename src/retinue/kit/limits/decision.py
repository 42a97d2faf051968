"""The result of a rate limit check, with its response headers and its error."""

import msgspec

from retinue.kit.errors import InternalError, RateLimited

Header = tuple[bytes, bytes]


class _Lines(dict[int, Header]):
    """A cache of encoded header lines by value: few values recur often."""

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

# By the prefix of the name that a limiter counts under; a tenant's id has none.
_SCOPES = {"ip": "address", "key": "key"}


class RateLimitDecision(msgspec.Struct, frozen=True, gc=False):
    """The result of a check; `reset` is the Unix second at which the oldest cost leaves its window.

    `retry_after` is 0 unless the request is refused.
    """

    allowed: bool
    limit: int
    remaining: int
    reset: int
    window: int
    retry_after: int = 0

    def headers(self) -> list[Header]:
        """Return the four rate limit headers of every response, encoded for ASGI."""
        return [_LIMIT[self.limit], _REMAINING[self.remaining], _RESET[self.reset], _WINDOW[self.window]]

    def refusal(
        self, kind: type[RateLimited] = RateLimited, message: str | None = None, *, counted_for: str = ""
    ) -> RateLimited:
        """Return the error to raise if the request is not `allowed`.

        `counted_for` is the name under which all requests of a caller are counted. The error then says whose
        they are, because limits of a single operation have the same code.
        """
        refused = kind(
            limit=self.limit,
            window=self.window,
            retry_after=self.retry_after,
            reset=self.reset,
            message=message,
        )
        if counted_for:
            refused.headers["X-RateLimit-Scope"] = _SCOPES.get(counted_for.partition(":")[0], "tenant")
        return refused


class LimitsUnreachable(InternalError):
    """The shared rate limits are temporarily unavailable. Try again later."""
