from retinue.agents.errors import AgentNotFound
from retinue.embed import service as keys
from retinue.embed.errors import EmbedKeyNotFound, EmbedKeyRevoked
from retinue.embed.loaders import EmbedKeyById
from retinue.embed.schemas import (
    EmbedKeyCreate,
    EmbedKeyCreated,
    EmbedKeyList,
    EmbedKeyOut,
    EmbedKeyRotate,
    EmbedKeyRotated,
    Revoked,
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
    return await keys.page(ctx, query)


@routes.post("", requires="embed_keys:write", status=201, errors=(AgentNotFound, VaultSealed))
async def create_embed_key(ctx: Context, body: EmbedKeyCreate) -> EmbedKeyCreated:
    return await keys.create(ctx, body)


@routes.delete("", requires="embed_keys:write", errors=(EmbedKeyNotFound,))
async def revoke_embed_key(ctx: Context, query: WhichKey, body: WhichKeyBody) -> Revoked:
    """The key is named by its id in the query or the body, or in the body by the key itself."""
    return await keys.revoke(ctx, await keys.fetch(ctx, query, body))


@routes.delete("/{embed_key_id}", requires="embed_keys:write")
async def revoke_embed_key_by_id(ctx: Context, key: EmbedKeyById) -> Revoked:
    return await keys.revoke(ctx, key)


@routes.post("/{embed_key_id}/rotate", requires="embed_keys:write", errors=(EmbedKeyRevoked,))
async def rotate_embed_key(ctx: Context, key: EmbedKeyById, body: EmbedKeyRotate) -> EmbedKeyRotated:
    return await keys.rotate(ctx, key, body.grace_seconds)
