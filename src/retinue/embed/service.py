"""Management of embed keys: create, list, rotate and revoke."""

from retinue.agents.errors import AgentNotFound
from retinue.agents.models import Agent
from retinue.embed.errors import EmbedKeyAlreadyRevoked, EmbedKeyNotFound
from retinue.embed.events import EmbedKeyCreated as CreatedEvent
from retinue.embed.events import EmbedKeyRevoked as RevokedEvent
from retinue.embed.events import EmbedKeyRotated as RotatedEvent
from retinue.embed.events import EmbedKeyUpdated as UpdatedEvent
from retinue.embed.models import EmbedKey, EmbedKeyStatus
from retinue.embed.origins import InvalidOriginEntry, parse_entry
from retinue.embed.queries import names_of_agents, page_of_keys
from retinue.embed.schemas import (
    EmbedKeyCreate,
    EmbedKeyList,
    EmbedKeyOut,
    EmbedKeyUpdate,
    NewEmbedKeyOut,
    Revoked,
    RotatedEmbedKeyOut,
    WhichKey,
    WhichKeyBody,
)
from retinue.kit.context import Context
from retinue.kit.crypto import Sealed
from retinue.kit.errors import Invalid
from retinue.kit.http.embed_keys import EMBED_KEY_PREFIX
from retinue.kit.ids import hash_token, new_token
from retinue.kit.json_types import JsonObject
from retinue.kit.lists import Page
from retinue.kit.schema.base import sent_fields
from retinue.kit.schema.validation import read_expiry
from retinue.usage.monthly_tokens import tokens_used_in

_SHOWN_PREFIX_LENGTH = len(EMBED_KEY_PREFIX) + 8


async def create(ctx: Context, body: EmbedKeyCreate) -> NewEmbedKeyOut:
    allowed_domains = parse_domains(body.allowed_domains or [])
    expires_at = read_expiry(body.expires_at, ctx.now)
    agent = await ctx.db.get(Agent, body.agent_id)
    if agent is None:
        raise AgentNotFound
    api_key, identity_secret = EMBED_KEY_PREFIX + new_token(), new_token()
    key = await ctx.db.insert(
        EmbedKey(
            agent_id=agent.id,
            name=body.name,
            key_prefix=api_key[:_SHOWN_PREFIX_LENGTH],
            key_hash=hash_token(api_key),
            identity_secret=Sealed.of(identity_secret),
            allowed_domains=allowed_domains,
            expires_at=expires_at,
            rate_limit_per_minute=body.rate_limit_per_minute,
            rate_limit_per_visitor=body.rate_limit_per_visitor,
            monthly_token_budget=body.monthly_token_budget,
            allow_attachments=body.allow_attachments,
            created_by=ctx.principal.id,
        )
    )
    ctx.emit(
        CreatedEvent(
            embed_key_id=key.id, agent_id=agent.id, name=key.name, allowed_domains=key.allowed_domains
        )
    )
    return NewEmbedKeyOut.of(key, agent_name=agent.name, api_key=api_key, identity_secret=identity_secret)


async def page(ctx: Context, query: EmbedKeyList) -> Page[EmbedKeyOut]:
    key_page = await page_of_keys(ctx, query)
    names = await names_of_agents(ctx, {key.agent_id for key in key_page.items})
    now = ctx.now
    return key_page.to_page(
        lambda key: EmbedKeyOut.of(
            key, agent_name=names.get(key.agent_id, ""), tokens_used=tokens_used_in(key, now)
        )
    )


async def update(ctx: Context, key: EmbedKey, body: EmbedKeyUpdate) -> EmbedKeyOut:
    """Change what the body names; the key itself stays the same."""
    locked = await _lock_key(ctx, key.id)
    if locked.status is EmbedKeyStatus.revoked:
        raise EmbedKeyAlreadyRevoked
    changes = sent_fields(body)
    if "allowed_domains" in changes:
        changes["allowed_domains"] = parse_domains(changes["allowed_domains"])
    if "expires_at" in changes:
        changes["expires_at"] = read_expiry(changes["expires_at"], ctx.now)
    if locked.page_hash is not None and changes.get("monthly_token_budget", 1) is None:
        raise Invalid({"monthly_token_budget": "is required while the agent's public page uses this key"})
    changes = {name: value for name, value in changes.items() if value != getattr(locked, name)}
    await change(ctx, locked, changes)
    names = await names_of_agents(ctx, {locked.agent_id})
    return EmbedKeyOut.of(
        locked,
        agent_name=names.get(locked.agent_id, ""),
        tokens_used=tokens_used_in(locked, ctx.now),
    )


async def change(ctx: Context, locked: EmbedKey, changes: JsonObject) -> EmbedKey:
    """Change fields of a locked key, which is reported; without changes nothing happens."""
    if changes:
        await ctx.db.update(locked, **changes)
        ctx.emit(
            UpdatedEvent(
                embed_key_id=locked.id, agent_id=locked.agent_id, name=locked.name, changed=sorted(changes)
            )
        )
    return locked


async def rotate(ctx: Context, key: EmbedKey, grace_seconds: int) -> RotatedEmbedKeyOut:
    """Replace the key by a new one; the previous one stays valid for `grace_seconds`."""
    locked = await _lock_key(ctx, key.id)
    if locked.status is EmbedKeyStatus.revoked:
        raise EmbedKeyAlreadyRevoked
    api_key = EMBED_KEY_PREFIX + new_token()
    until = ctx.clock.ahead(grace_seconds)
    await ctx.db.update(
        locked,
        key_prefix=api_key[:_SHOWN_PREFIX_LENGTH],
        key_hash=hash_token(api_key),
        previous_hash=locked.key_hash,
        previous_until=until,
    )
    ctx.emit(
        RotatedEvent(embed_key_id=locked.id, agent_id=locked.agent_id, name=locked.name, previous_until=until)
    )
    names = await names_of_agents(ctx, {locked.agent_id})
    return RotatedEmbedKeyOut.of(
        locked,
        agent_name=names.get(locked.agent_id, ""),
        tokens_used=tokens_used_in(locked, ctx.now),
        api_key=api_key,
        previous_until=until,
    )


async def revoke(ctx: Context, key: EmbedKey) -> Revoked:
    """Revoke the key from the next request on; revoking it again changes nothing."""
    locked = await _lock_key(ctx, key.id)
    if locked.status is not EmbedKeyStatus.revoked:
        await ctx.db.update(locked, status=EmbedKeyStatus.revoked, revoked_at=ctx.now)
        ctx.emit(RevokedEvent(embed_key_id=locked.id, agent_id=locked.agent_id, name=locked.name))
    return Revoked(id=locked.id, message="The embed key is revoked.")


async def fetch(ctx: Context, query: WhichKey, body: WhichKeyBody) -> EmbedKey:
    """Return the key that the query or the body names."""
    named = {query.id, query.key_id, body.id, body.key_id, body.api_key} - {None}
    if not named:
        raise Invalid({"id": "is required"})
    if len(named) > 1:
        raise Invalid({"id": "must identify only one key"})
    name = str(named.pop())
    if name.startswith(EMBED_KEY_PREFIX):
        key = await ctx.db.find(EmbedKey, key_hash=hash_token(name))
    else:
        key = await ctx.db.get(EmbedKey, name)
    if key is None:
        raise EmbedKeyNotFound
    return key


async def _lock_key(ctx: Context, id: str) -> EmbedKey:
    locked = await ctx.db.lock(EmbedKey, id)
    if locked is None:
        raise EmbedKeyNotFound
    return locked


def parse_domains(entries: list[str]) -> list[str]:
    """Return the entries normalized and without duplicates."""
    parsed: dict[str, None] = {}
    problems: dict[str, str] = {}
    for position, entry in enumerate(entries):
        try:
            parsed[parse_entry(entry)] = None
        except InvalidOriginEntry as error:
            problems[f"allowed_domains.{position}"] = str(error)
    if problems:
        raise Invalid(problems)
    return list(parsed)
