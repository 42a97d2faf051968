"""Hosted pages as visitors and members find them by their address."""

import hashlib
import re
from datetime import UTC, datetime
from typing import Any

import msgspec
import sqlalchemy as sa

from retinue.agents.models import Agent, AgentStatus
from retinue.chat.chat_agents import can_transcribe
from retinue.embed import widget_designs
from retinue.embed.errors import HostedPageNotFound
from retinue.embed.hosted.hosted_pages import is_usable
from retinue.embed.hosted.page_figures import count_opened
from retinue.embed.hosted.page_models import HostedPage, PageAudience
from retinue.embed.hosted.page_schemas import PublicPage
from retinue.embed.models import EmbedKey
from retinue.embed.schemas import AgentName
from retinue.kit.clock import parse_instant, to_instant
from retinue.kit.context import Context
from retinue.kit.db.statements import Statement
from retinue.kit.http.replies import Reply
from retinue.kit.http.request import Request, limit_address
from retinue.usage.monthly_tokens import tokens_used_in

MAX_UNKNOWN_SLUGS_PER_MINUTE = 120

_SLUG = re.compile(r"[a-z0-9][a-z0-9-]{1,58}[a-z0-9]")
_pages = HostedPage.__table__
_TENANT_OF: Statement[Any] = Statement(
    sa.select(_pages.c.tenant_id).where(_pages.c.slug == sa.bindparam("slug", type_=sa.Text()))
)


class OpenPage(msgspec.Struct, frozen=True):
    """A page that is switched on, its agent and, if everybody may chat, the key that it uses."""

    page: HostedPage
    agent: Agent
    key: EmbedKey | None


async def find_open_page(ctx: Context, slug: str, request: Request) -> OpenPage:
    """Return the page at an address and bind the context to its tenant; guessing addresses is limited."""
    if _SLUG.fullmatch(slug):
        row = await ctx.system("an address says for itself which tenant it belongs to").first(
            _TENANT_OF, slug=slug
        )
        if row is not None:
            ctx.bind_tenant(row[0])
            opened = await _load_open_page(ctx, slug)
            if opened is not None:
                return opened
    address = limit_address(request.ip_address)
    decision = await ctx.instance.limiter.hit_window(f"pages:{address}", MAX_UNKNOWN_SLUGS_PER_MINUTE, 60)
    if not decision.allowed:
        raise decision.refusal()
    raise HostedPageNotFound


async def show_to_visitor(ctx: Context, slug: str, request: Request) -> Reply[PublicPage | None]:
    """Return what the page shows, or 304 if the browser has it; a visit is counted in both cases."""
    opened = await find_open_page(ctx, slug, request)
    count_opened(ctx, opened.page)
    if opened.page.audience is PageAudience.members:
        return _with_tag(PublicPage(audience=PageAudience.members), request)
    return _with_tag(await _show(ctx, opened), request)


async def show_to_member(ctx: Context, slug: str) -> PublicPage:
    """Return what the page shows to a member of its organization."""
    opened = await _load_open_page(ctx, slug)
    if opened is None:
        raise HostedPageNotFound
    return msgspec.structs.replace(
        await _show(ctx, opened),
        audience=PageAudience.members,
        page_key=None,
        allow_attachments=True,
        opens_at=None,
    )


async def _load_open_page(ctx: Context, slug: str) -> OpenPage | None:
    page = await ctx.db.find(HostedPage, slug=slug)
    if page is None or not page.is_open:
        return None
    agent = await ctx.db.get(Agent, page.agent_id)
    if agent is None or agent.status is AgentStatus.archived:
        return None
    if page.audience is PageAudience.members:
        return OpenPage(page, agent, None)
    key = await ctx.db.get(EmbedKey, page.key_id or "")
    return OpenPage(page, agent, key) if key is not None and is_usable(ctx, key) else None


async def _show(ctx: Context, opened: OpenPage) -> PublicPage:
    key = opened.key
    takes_files = key is not None and key.allow_attachments
    return PublicPage(
        audience=opened.page.audience,
        agent=AgentName.of(opened.agent),
        settings=await widget_designs.load(ctx, opened.agent),
        page_key=opened.page.page_key,
        allow_attachments=takes_files,
        takes_voice=takes_files and await can_transcribe(ctx),
        opens_at=_opens_at(ctx, key) if key is not None else None,
    )


def _opens_at(ctx: Context, key: EmbedKey) -> str | None:
    """Return when a key whose tokens are spent has tokens again; None if it has some."""
    if key.monthly_token_budget is None or tokens_used_in(key, ctx.now) < key.monthly_token_budget:
        return None
    now = parse_instant(ctx.now)
    return to_instant(datetime(now.year + now.month // 12, now.month % 12 + 1, 1, tzinfo=UTC))


def _with_tag(page: PublicPage, request: Request) -> Reply[PublicPage | None]:
    tag = f'"{hashlib.sha256(msgspec.json.encode(page)).hexdigest()[:16]}"'
    headers = (("ETag", tag), ("Cache-Control", "no-cache"))
    if tag in request.header(b"if-none-match"):
        return Reply(None, status=304, headers=headers)
    return Reply(page, headers=headers)
