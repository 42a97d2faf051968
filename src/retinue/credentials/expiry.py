from retinue.kit.clock import Instant
from retinue.kit.context import Context
from retinue.kit.errors import Invalid
from retinue.kit.schema.validation import read_instant


def read_expiry(ctx: Context, written: str | None) -> Instant | None:
    """Parse the expiry of a credential or a rule; None means never."""
    if written is None:
        return None
    expires_at = read_instant("expires_at", written)
    if expires_at <= ctx.now:
        raise Invalid({"expires_at": "must be in the future"})
    return expires_at
