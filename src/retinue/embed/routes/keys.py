from retinue.agents.errors import AgentNotFound
from retinue.embed import service as keys
from retinue.embed.errors import EmbedKeyAlreadyRevoked, EmbedKeyNotFound
from retinue.embed.loaders import EmbedKeyById
from retinue.embed.schemas import (
    EmbedKeyCreate,
    EmbedKeyList,
    EmbedKeyOut,
    EmbedKeyRotate,
    EmbedKeyUpdate,
    NewEmbedKeyOut,
    Revoked,
    RotatedEmbedKeyOut,
    WhichKey,
    WhichKeyBody,
)
from retinue.kit.context import Context
from retinue.kit.errors import VaultSealed
from retinue.kit.http.routing import Routes
from retinue.kit.lists import Page

routes = Routes("/api/v1/embed/api-keys", tag="embed keys")


@routes.get("", requires="embed_keys:read")
async def list_embed_keys(ctx: Context, query: EmbedKeyList) -> Page[EmbedKeyOut]:
    """List the embed keys of the tenant, newest first by default, including revoked ones."""
    return await keys.page(ctx, query)


@routes.post("", requires="embed_keys:write", status=201, errors=(AgentNotFound, VaultSealed))
async def create_embed_key(ctx: Context, body: EmbedKeyCreate) -> NewEmbedKeyOut:
    """Create a key with which pages and programs chat with one agent; the response shows it once."""
    return await keys.create(ctx, body)


@routes.delete("", requires="embed_keys:write", errors=(EmbedKeyNotFound,))
async def revoke_embed_key(ctx: Context, query: WhichKey, body: WhichKeyBody) -> Revoked:
    """Revoke the key named by its id in the query or the body, or by the key itself in the body.

    It stops working at once; revoking it again changes nothing. Its record stays in the list.
    """
    return await keys.revoke(ctx, await keys.fetch(ctx, query, body))


@routes.delete("/{embed_key_id}", requires="embed_keys:write")
async def revoke_embed_key_by_id(ctx: Context, key: EmbedKeyById) -> Revoked:
    """Revoke the key: it stops working at once, and its record stays. Revoking it again changes nothing."""
    return await keys.revoke(ctx, key)


@routes.patch("/{embed_key_id}", requires="embed_keys:write", errors=(EmbedKeyAlreadyRevoked,))
async def update_embed_key(ctx: Context, key: EmbedKeyById, body: EmbedKeyUpdate) -> EmbedKeyOut:
    """Change the name, the allowed domains or the limits of a key, from the next request on.

    The key itself stays the same. A revoked key is refused with 409.
    """
    return await keys.update(ctx, key, body)


@routes.post("/{embed_key_id}/rotate", requires="embed_keys:write", errors=(EmbedKeyAlreadyRevoked,))
async def rotate_embed_key(ctx: Context, key: EmbedKeyById, body: EmbedKeyRotate) -> RotatedEmbedKeyOut:
    """Replace the key by a new one; settings, counters and `identity_secret` stay.

    The previous key works until `previous_until`. A revoked key is refused with 409.
    """
    return await keys.rotate(ctx, key, body.grace_seconds)
