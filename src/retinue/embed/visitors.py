"""Identity of visitors: verified by the page's signature, or anonymous."""

import hashlib
import hmac

from retinue.embed.models import EmbedKey
from retinue.embed.schemas import Visitor
from retinue.kit.context import Context
from retinue.kit.errors import Invalid
from retinue.kit.http.request import limit_address


async def verify_visitor_id(ctx: Context, visitor: Visitor | None) -> str | None:
    """Return the visitor's id if the page signed it; raise Invalid for a wrong signature."""
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


async def require_quota(ctx: Context, visitor_id: str | None) -> None:
    """Count a message of this visitor; raise `RateLimited` over the limit that the key sets for each.

    Whoever is not verified is known by the network address: anybody can begin a new session.
    """
    limit = ctx.principal.requests_per_visitor
    if limit is None:
        return
    visitor = f"id:{visitor_id}" if visitor_id is not None else f"at:{limit_address(ctx.caller.ip_address)}"
    name = hashlib.sha256(visitor.encode()).hexdigest()
    decision = await ctx.instance.limiter.hit_window(f"visitor:{ctx.principal.id}:{name}", limit, 60)
    if not decision.allowed:
        raise decision.refusal()


def describe_visitor(visitor: Visitor | None, *, is_verified: bool) -> dict[str, object]:
    """Return what the agent is told about its visitor; only the id can be verified."""
    if visitor is None:
        return {}
    visitor_fields = {"id": visitor.id, "name": visitor.name, "email": visitor.email}
    present: dict[str, object] = {name: value for name, value in visitor_fields.items() if value}
    return {**present, "is_id_proven": is_verified} if present else {}
