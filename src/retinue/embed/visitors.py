"""Who writes on the page of a key: whoever the page proves it is, or nobody in particular."""

import hashlib
import hmac

from retinue.embed.models import EmbedKey
from retinue.embed.schemas import Visitor
from retinue.kit.context import Context
from retinue.kit.errors import Invalid


async def proven_id(ctx: Context, visitor: Visitor | None) -> str | None:
    """The visitor's id where the page has signed it; a wrong signature is refused, not overlooked."""
    if visitor is None or visitor.hash is None:
        return None
    if visitor.id is None:
        raise Invalid({"user.id": "is required with a hash"})
    key = await ctx.db.get(EmbedKey, ctx.principal.id)
    if key is None:
        return None
    secret = key.identity_secret.open(ctx.instance.ring)
    expected = hmac.new(secret, visitor.id.encode(), hashlib.sha256).hexdigest()
    if not hmac.compare_digest(expected.encode(), visitor.hash.lower().encode()):
        raise Invalid({"user.hash": "is not the HMAC-SHA256 of user.id with the key's identity_secret"})
    return visitor.id


def described(visitor: Visitor | None, *, is_proven: bool) -> dict[str, object]:
    """What the agent is told of its visitor; only the id can be proven."""
    if visitor is None:
        return {}
    told = {"id": visitor.id, "name": visitor.name, "email": visitor.email}
    known: dict[str, object] = {name: value for name, value in told.items() if value}
    return {**known, "is_id_proven": is_proven} if known else {}
