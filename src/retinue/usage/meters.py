"""Metering, in the transaction that uses something: `meter(ctx, {"messages": 2}, agent_id=agent.id)`.

ADR 10: rows are only added, never changed, so metering adds one statement to the commit and takes no locks.
"""

from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa

from retinue.adapters.llm.messages import ModelUsage
from retinue.kit.clock import Instant, hour_of
from retinue.kit.context import Context
from retinue.kit.db.statements import Statement
from retinue.kit.ids import new_id
from retinue.kit.json_types import JsonObject
from retinue.usage.models import COUNTERS, DIMENSIONS, UsageEntry
from retinue.usage.price_book import usd

_entries = UsageEntry.__table__
_ADD = Statement(
    sa.insert(_entries).values(
        {
            name: sa.bindparam(name, type_=_entries.c[name].type)
            for name in UsageEntry.__struct_fields__
            if name != "tenant_id"
        }
    )
)
_EMPTY_COUNTS: JsonObject = {
    "is_new": True,
    "provider_key_id": "",
    **dict.fromkeys(DIMENSIONS, ""),
    **dict.fromkeys(COUNTERS, 0),
    "cost_usd": 0.0,
}


def meter(
    ctx: Context,
    counts: Mapping[str, float],
    *,
    agent_id: str = "",
    model: str = "",
    user_id: str | None = None,
    embed_key_id: str = "",
    tool_id: str = "",
    channel: str = "",
) -> None:
    """Count usage when `ctx` commits, for the caller unless another user is named."""
    if user_id is None:
        user_id = ctx.principal.owner_id
    _add(
        ctx,
        counts,
        agent_id=agent_id,
        model=model,
        user_id=user_id,
        embed_key_id=embed_key_id,
        tool_id=tool_id,
        channel=channel,
    )


def build_entry(tenant_id: str, now: Instant, counts: Mapping[str, Any]) -> UsageEntry:
    """Return usage as a record, for callers that write for several tenants at once."""
    return UsageEntry(tenant_id=tenant_id, hour=hour_of(now), **counts)


def meter_provider_key(ctx: Context, provider_key_id: str, model: str, counts: Mapping[str, float]) -> None:
    """Count the usage of a provider key, for the budgets that limit it."""
    _add(ctx, counts, provider_key_id=provider_key_id, model=model)


def token_counts(usage: ModelUsage, nano_usd: int | None) -> dict[str, float]:
    """Return the counters of one model call; a call without a known price adds no cost."""
    return {
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "cached_tokens": usage.cached_tokens,
        "cache_write_tokens": usage.cache_write_tokens,
        "reasoning_tokens": usage.reasoning_tokens,
        "cost_usd": usd(nano_usd or 0),
    }


def _add(ctx: Context, counts: Mapping[str, float], **dimensions: str) -> None:
    now = ctx.now
    ctx.db.execute_at_commit(
        _ADD,
        **{
            **_EMPTY_COUNTS,
            **counts,
            **dimensions,
            "id": new_id(UsageEntry.__prefix__),
            "created_at": now,
            "updated_at": now,
            "hour": hour_of(now),
        },
    )
