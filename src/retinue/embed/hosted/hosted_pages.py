"""The hosted page of an agent as its owner sets it: address, audience, limits."""

import re

import segno

from retinue.agents.models import Agent
from retinue.embed import service as keys
from retinue.embed.errors import SlugTaken
from retinue.embed.events import HostedPageClosed, HostedPageUpdated
from retinue.embed.hosted.page_figures import load_figures
from retinue.embed.hosted.page_models import HostedPage, HostedSlug, PageAudience
from retinue.embed.hosted.page_schemas import HostedPageOut, HostedPageUpdate, PageLimits
from retinue.embed.installations import origin_of_address
from retinue.embed.models import EmbedKey, EmbedKeyStatus
from retinue.embed.origins import parse_entry
from retinue.embed.schemas import EmbedKeyCreate
from retinue.kit.context import Context
from retinue.kit.errors import Invalid
from retinue.kit.http.embed_keys import EMBED_KEY_PREFIX
from retinue.kit.ids import hash_token, new_token
from retinue.kit.json_types import JsonObject
from retinue.kit.schema.base import sent_fields

DEFAULT_PER_VISITOR = 10
_LIMITS = ("monthly_token_budget", "rate_limit_per_visitor", "allow_attachments")
_NO_BUDGET = "is required for a public page: everybody with the link can spend money"


async def render_page(ctx: Context, agent: Agent) -> HostedPageOut:
    page = await ctx.db.find(HostedPage, agent_id=agent.id)
    key = await ctx.db.get(EmbedKey, page.key_id) if page is not None and page.key_id is not None else None
    slug = page.slug if page is not None else propose_slug(agent.name)
    return HostedPageOut(
        is_open=page is not None and page.is_open,
        slug=slug,
        audience=page.audience if page is not None else PageAudience.public,
        address=address_of(ctx, slug),
        qr_code_url=_qr_code_url(address_of(ctx, slug)),
        embed_key_id=key.id if key is not None else None,
        limits=PageLimits.of(key) if key is not None else None,
        figures=await load_figures(ctx, page, key),
    )


def address_of(ctx: Context, slug: str) -> str:
    return f"{ctx.settings.base_url}/c/{slug}"


def _qr_code_url(address: str) -> str:
    """Return the QR code of an address as the data URL of an SVG image, which can be printed at any size."""
    image: str = segno.make_qr(address, error="m").svg_data_uri(border=2, light="#ffffff", scale=4)
    return image


def propose_slug(name: str) -> str:
    """Return an address made of the agent's name."""
    words = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:60].strip("-")
    return words if len(words) >= 3 else "chat"


async def open_page(ctx: Context, agent: Agent, body: HostedPageUpdate) -> HostedPageOut:
    """Switch the page on, or change it; the page of before answers at its new address alone."""
    await ctx.db.lock(Agent, agent.id)
    page = await ctx.db.find(HostedPage, agent_id=agent.id)
    await _reserve_slug(ctx, agent, body.slug)
    key = await _key_of_page(ctx, agent, page, body) if body.audience is PageAudience.public else None
    if page is not None and page.key_id is not None and (key is None or key.id != page.key_id):
        await _detach_key(ctx, page.key_id)
    fields: JsonObject = {"slug": body.slug, "audience": body.audience, "is_open": True, "page_key": None}
    if key is not None:
        page_key = page.page_key if page is not None and page.key_id == key.id else None
        fields["page_key"] = page_key or EMBED_KEY_PREFIX + new_token()
        fields["key_id"] = key.id
        await ctx.db.update(key, page_hash=hash_token(fields["page_key"]))
    if page is None:
        page = await ctx.db.insert(HostedPage(agent_id=agent.id, **fields))
    else:
        await ctx.db.update(page, **fields)
    ctx.emit(
        HostedPageUpdated(
            hosted_page_id=page.id,
            agent_id=agent.id,
            slug=page.slug,
            audience=page.audience,
            embed_key_id=key.id if key is not None else None,
        )
    )
    return await render_page(ctx, agent)


async def close_page(ctx: Context, agent: Agent) -> None:
    """Switch the page off at once if it is on; its address stays reserved for the agent."""
    await ctx.db.lock(Agent, agent.id)
    page = await ctx.db.find(HostedPage, agent_id=agent.id)
    if page is None or not page.is_open:
        return
    if page.key_id is not None:
        await _detach_key(ctx, page.key_id)
    await ctx.db.update(page, is_open=False, page_key=None)
    ctx.emit(HostedPageClosed(hosted_page_id=page.id, agent_id=agent.id, slug=page.slug))


async def _reserve_slug(ctx: Context, agent: Agent, slug: str) -> None:
    reserved = await ctx.db.find(HostedSlug, slug=slug)
    if reserved is None and not await ctx.db.insert_missing(HostedSlug(agent_id=agent.id, slug=slug)):
        raise SlugTaken
    if reserved is not None and reserved.agent_id != agent.id:
        raise SlugTaken


async def _key_of_page(
    ctx: Context, agent: Agent, page: HostedPage | None, body: HostedPageUpdate
) -> EmbedKey:
    """Return the locked key of a public page with the limits that were sent; a new page makes one."""
    limits = {name: value for name, value in sent_fields(body).items() if name in _LIMITS}
    wanted = body.embed_key_id or (page.key_id if page is not None else None)
    key = await ctx.db.lock(EmbedKey, wanted) if wanted is not None else None
    if key is None or key.agent_id != agent.id or not is_usable(ctx, key):
        if body.embed_key_id is not None:
            raise Invalid({"embed_key_id": "must be an active embed key of this agent"})
        return await _make_key(ctx, agent, limits)
    if key.allowed_domains != _own_domains(ctx):
        if body.embed_key_id is not None:
            raise Invalid({"embed_key_id": f"must allow only the pages of {_own_domains(ctx)[0]}"})
        limits["allowed_domains"] = _own_domains(ctx)
    if key.rate_limit_per_visitor is None:
        limits.setdefault("rate_limit_per_visitor", DEFAULT_PER_VISITOR)
    if limits.get("monthly_token_budget", key.monthly_token_budget) is None:
        raise Invalid({"monthly_token_budget": _NO_BUDGET})
    changes = {name: value for name, value in limits.items() if value != getattr(key, name)}
    return await keys.change(ctx, key, changes)


async def _make_key(ctx: Context, agent: Agent, limits: JsonObject) -> EmbedKey:
    if "monthly_token_budget" not in limits:
        raise Invalid({"monthly_token_budget": _NO_BUDGET})
    own = {"rate_limit_per_visitor": DEFAULT_PER_VISITOR, **limits, "allowed_domains": _own_domains(ctx)}
    made = await keys.create(ctx, EmbedKeyCreate(agent_id=agent.id, name="Hosted page", **own))
    key = await ctx.db.lock(EmbedKey, made.id)
    assert key is not None
    return key


def is_usable(ctx: Context, key: EmbedKey) -> bool:
    """Return whether the key is active and has not expired."""
    return key.status is EmbedKeyStatus.active and (key.expires_at is None or key.expires_at > ctx.now)


def _own_domains(ctx: Context) -> list[str]:
    return [parse_entry(origin_of_address(ctx.settings.base_url) or "localhost")]


async def _detach_key(ctx: Context, key_id: str) -> None:
    """Take the page's access away from its key; the key itself stays."""
    key = await ctx.db.lock(EmbedKey, key_id)
    if key is not None and key.page_hash is not None:
        await ctx.db.update(key, page_hash=None)
