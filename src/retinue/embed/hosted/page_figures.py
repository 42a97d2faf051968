"""Figures of a hosted page: what happened on it in the current month."""

from typing import Any

import sqlalchemy as sa

from retinue.chat.models import ChatChannel, Conversation
from retinue.embed.hosted.page_models import HostedPage
from retinue.embed.hosted.page_schemas import PageFigures
from retinue.embed.models import EmbedKey
from retinue.kit.context import Context
from retinue.kit.db.statements import Statement
from retinue.usage.models import UsageEntry
from retinue.usage.monthly_tokens import month_of, tokens_used_in

_pages, _chats, _usage = HostedPage.__table__, Conversation.__table__, UsageEntry.__table__
_is_this_month = _pages.c.opened_month == sa.bindparam("month")
_COUNT_OPENED: Statement[Any] = Statement(
    sa.update(_pages)
    .where(_pages.c.id == sa.bindparam("page_id"))
    .values(
        opened_count=sa.case((_is_this_month, _pages.c.opened_count), else_=0) + 1,
        opened_month=sa.bindparam("month"),
    )
)
_CHATS = Statement(
    sa.select(sa.func.count())
    .select_from(_chats)
    .where(
        _chats.c.agent_id == sa.bindparam("agent_id"),
        _chats.c.last_message_hour >= sa.bindparam("month"),
        _chats.c.created_at >= sa.bindparam("month"),
        _chats.c.embed_key_id == sa.bindparam("key_id"),
        _chats.c.channel != ChatChannel.playground.value,
    )
)
_COST = Statement(
    sa.select(sa.func.coalesce(sa.func.sum(_usage.c.cost_usd), 0.0)).where(
        _usage.c.hour >= sa.bindparam("month"),
        _usage.c.embed_key_id == sa.bindparam("key_id"),
    ),
    heavy=True,
)


def count_opened(ctx: Context, page: HostedPage) -> None:
    """Count a visit at the commit, so that visitors do not wait for each other."""
    ctx.db.execute_at_commit(_COUNT_OPENED, page_id=page.id, month=month_of(ctx.now))


async def load_figures(ctx: Context, page: HostedPage | None, key: EmbedKey | None) -> PageFigures:
    month = month_of(ctx.now)
    opened = page.opened_count if page is not None and page.opened_month == month else 0
    if key is None:
        return PageFigures(opened=opened, chats=0, tokens_used=0, cost_usd=0.0)
    return PageFigures(
        opened=opened,
        chats=int(await ctx.db.scalar(_CHATS, agent_id=key.agent_id, month=month, key_id=key.id)),
        tokens_used=tokens_used_in(key, ctx.now),
        cost_usd=float(await ctx.db.scalar(_COST, month=month, key_id=key.id)),
    )
