"""Embed keys: made, listed, replaced and revoked."""

from retinue.agents.errors import AgentNotFound
from retinue.agents.models import Agent
from retinue.embed.errors import EmbedKeyNotFound, EmbedKeyRevoked
from retinue.embed.events import EmbedKeyCreated as CreatedEvent
from retinue.embed.events import EmbedKeyRevoked as RevokedEvent
from retinue.embed.events import EmbedKeyRotated as RotatedEvent
from retinue.embed.models import EmbedKey, EmbedKeyStatus
from retinue.embed.origins import BadEntry, read_entry
from retinue.embed.queries import names_of_agents, page_of_keys
from retinue.embed.schemas import (
    EmbedKeyCreate,
    EmbedKeyCreated,
    EmbedKeyList,
    EmbedKeyOut,
    EmbedKeyRotated,
    Revoked,
    WhichKey,
    WhichKeyBody,
)
from retinue.embed.usage import month_of, used_in
from retinue.kit.clock import Instant
from retinue.kit.context import Context
from retinue.kit.crypto import Sealed
from retinue.kit.errors import Invalid
from retinue.kit.http.carriers import EMBED_KEY_PREFIX
from retinue.kit.ids import hash_token, new_token
from retinue.kit.lists import Page
from retinue.kit.validation import read_instant

_SHOWN = len(EMBED_KEY_PREFIX) + 8


async def create(ctx: Context, body: EmbedKeyCreate) -> EmbedKeyCreated:
    allowed_domains = read_domains(body.allowed_domains or [])
    expires_at = _read_expiry(ctx, body.expires_at)
    agent = await ctx.db.get(Agent, body.agent_id)
    if agent is None:
        raise AgentNotFound
    api_key, identity_secret = EMBED_KEY_PREFIX + new_token(), new_token()
    key = await ctx.db.insert(
        EmbedKey(
            agent_id=agent.id,
            name=body.name,
            key_prefix=api_key[:_SHOWN],
            key_hash=hash_token(api_key),
            identity_secret=Sealed.of(identity_secret),
            allowed_domains=allowed_domains,
            expires_at=expires_at,
            rate_limit_per_minute=body.rate_limit_per_minute,
            monthly_token_budget=body.monthly_token_budget,
            created_by=ctx.principal.id,
        )
    )
    ctx.emit(
        CreatedEvent(
            embed_key_id=key.id, agent_id=agent.id, name=key.name, allowed_domains=key.allowed_domains
        )
    )
    return EmbedKeyCreated.of(key, agent_name=agent.name, api_key=api_key, identity_secret=identity_secret)


async def page(ctx: Context, query: EmbedKeyList) -> Page[EmbedKeyOut]:
    found = await page_of_keys(ctx, query)
    names = await names_of_agents(ctx, {key.agent_id for key in found.items})
    month = month_of(ctx.now)
    return found.shown(
        lambda key: EmbedKeyOut.of(
            key, agent_name=names.get(key.agent_id, ""), tokens_used=used_in(month, key)
        )
    )


async def rotate(ctx: Context, key: EmbedKey, grace_seconds: int) -> EmbedKeyRotated:
    """Another key in the place of this one, which stays good for so long."""
    held = await _hold(ctx, key.id)
    if held.status is EmbedKeyStatus.revoked:
        raise EmbedKeyRevoked
    api_key = EMBED_KEY_PREFIX + new_token()
    until = ctx.clock.ahead(grace_seconds)
    await ctx.db.update(
        held,
        key_prefix=api_key[:_SHOWN],
        key_hash=hash_token(api_key),
        previous_hash=held.key_hash,
        previous_until=until,
    )
    ctx.emit(RotatedEvent(embed_key_id=held.id, agent_id=held.agent_id, name=held.name, previous_until=until))
    names = await names_of_agents(ctx, {held.agent_id})
    return EmbedKeyRotated.of(
        held,
        agent_name=names.get(held.agent_id, ""),
        tokens_used=used_in(month_of(ctx.now), held),
        api_key=api_key,
        previous_until=until,
    )


async def revoke(ctx: Context, key: EmbedKey) -> Revoked:
    """The key is good for nothing from the next request on; to revoke it again changes nothing."""
    held = await _hold(ctx, key.id)
    if held.status is not EmbedKeyStatus.revoked:
        await ctx.db.update(held, status=EmbedKeyStatus.revoked, revoked_at=ctx.now)
        ctx.emit(RevokedEvent(embed_key_id=held.id, agent_id=held.agent_id, name=held.name))
    return Revoked(id=held.id, message="The embed key is revoked.")


async def fetch(ctx: Context, query: WhichKey, body: WhichKeyBody) -> EmbedKey:
    """The key that a call without one in its path means."""
    named = {query.id, query.key_id, body.id, body.key_id, body.api_key} - {None}
    if not named:
        raise Invalid({"id": "is required"})
    if len(named) > 1:
        raise Invalid({"id": "must name one key"})
    name = str(named.pop())
    if name.startswith(EMBED_KEY_PREFIX):
        found = await ctx.db.find(EmbedKey, key_hash=hash_token(name))
    else:
        found = await ctx.db.get(EmbedKey, name)
    if found is None:
        raise EmbedKeyNotFound
    return found


async def _hold(ctx: Context, id: str) -> EmbedKey:
    held = await ctx.db.lock(EmbedKey, id)
    if held is None:
        raise EmbedKeyNotFound
    return held


def read_domains(written: list[str]) -> list[str]:
    """The list as it is stored: each entry once, in its one form."""
    read: dict[str, None] = {}
    wrong: dict[str, str] = {}
    for position, entry in enumerate(written):
        try:
            read[read_entry(entry)] = None
        except BadEntry as error:
            wrong[f"allowed_domains.{position}"] = str(error)
    if wrong:
        raise Invalid(wrong)
    return list(read)


def _read_expiry(ctx: Context, written: str | None) -> Instant | None:
    if written is None:
        return None
    expires_at = read_instant("expires_at", written)
    if expires_at <= ctx.now:
        raise Invalid({"expires_at": "must lie in the future"})
    return expires_at
