"""Limits on guessing the secrets of service accounts: those of the sign-in, by client and by address.

Only failures are counted. The machines of one network ask for tokens at the same moment, and must not use up
each other's attempts; a secret has 256 random bits, so a burst of guesses wins nothing.
"""

from retinue.kit.attempts import AttemptGuard
from retinue.kit.context import Context
from retinue.kit.http.request import limit_address
from retinue.service_accounts.errors import TooManyTokenRequests

_WINDOW_SECONDS = 15 * 60
_TOO_MANY = "Too many refused requests for tokens."
# No account is ever locked: the right secret from another address still works.
_BY_CLIENT_AND_ADDRESS = AttemptGuard(
    "client-secret", limit=5, window_s=_WINDOW_SECONDS, message=_TOO_MANY, error=TooManyTokenRequests
)
_BY_ADDRESS = AttemptGuard(
    "client-secret-address",
    limit=100,
    window_s=_WINDOW_SECONDS,
    message=_TOO_MANY,
    error=TooManyTokenRequests,
)


async def require_attempts_left(ctx: Context, client_id: str) -> int:
    """Return how often this client was refused at this address lately; raise if that was too often."""
    address = limit_address(ctx.caller.ip_address)
    failures = await _BY_CLIENT_AND_ADDRESS.require_attempts_left(ctx, client_id, address)
    await _BY_ADDRESS.require_attempts_left(ctx, address)
    return failures


async def count_failure(ctx: Context, client_id: str) -> None:
    """Count a refusal; one that comes with others at once and exceeds the limit is answered as such."""
    address = limit_address(ctx.caller.ip_address)
    await _BY_CLIENT_AND_ADDRESS.count(ctx, client_id, address)
    await _BY_ADDRESS.count(ctx, address)


async def reset_failures(ctx: Context, client_id: str) -> None:
    """Forget the refusals of this client at this address, after it proved its secret."""
    async with ctx.unit() as unit:
        await _BY_CLIENT_AND_ADDRESS.reset_attempts(unit, client_id, limit_address(ctx.caller.ip_address))
