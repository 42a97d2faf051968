from retinue.kit.clock import Instant
from retinue.kit.context import Context
from retinue.kit.errors import Invalid
from retinue.kit.validation import read_instant


def read_expiry(ctx: Context, written: str | None) -> Instant | None:
    """When a credential or a rule ends, as the caller wrote it; None is never."""
    if written is None:
        return None
    expires_at = read_instant("expires_at", written)
    if expires_at <= ctx.now:
        raise Invalid({"expires_at": "must lie in the future"})
    return expires_at
