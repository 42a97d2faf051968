"""What was used, said in the transaction that used it: `meter(ctx, {"messages": 2}, agent_id=agent.id)`.

A row is added and none is changed, so it costs one part of the commit's statement and nobody waits for it.
"""

from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa

from retinue.adapters.llm.catalogue import find_known_model
from retinue.kit.clock import Instant
from retinue.kit.context import Context
from retinue.kit.db.statements import Statement
from retinue.kit.ids import new_id
from retinue.usage.models import COUNTERS, DIMENSIONS, UsageEntry

_HOUR = len("2026-11-15T08")
_MILLION = 1_000_000

_entries = UsageEntry.__table__
_ADD: Statement[Any] = Statement(
    sa.insert(_entries).values(
        {
            name: sa.bindparam(name, type_=_entries.c[name].type)
            for name in UsageEntry.__struct_fields__
            if name != "tenant_id"
        }
    )
)
_NOTHING: dict[str, Any] = {
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
    """Count this once `ctx` is committed; it is the caller's doing unless another user is named."""
    if user_id is None:
        user_id = ctx.principal.id if ctx.principal.kind == "user" else ""
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


def entry(tenant_id: str, now: Instant, counts: Mapping[str, Any]) -> UsageEntry:
    """The same as a record, for those who write down the doings of several tenants at once."""
    return UsageEntry(tenant_id=tenant_id, hour=hour_of(now), **counts)


def meter_key(ctx: Context, provider_key_id: str, model: str, prompt: int, completion: int) -> None:
    """What a provider key was asked for, for the budgets that are about it."""
    counts = {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "cost_usd": cost_usd(model, prompt, completion),
    }
    _add(ctx, counts, provider_key_id=provider_key_id, model=model)


def _add(ctx: Context, counts: Mapping[str, float], **known: str) -> None:
    now = ctx.now
    ctx.db.execute_at_commit(
        _ADD,
        **{
            **_NOTHING,
            **counts,
            **known,
            "id": new_id(UsageEntry.__prefix__),
            "created_at": now,
            "updated_at": now,
            "hour": hour_of(now),
        },
    )


def hour_of(at: Instant) -> str:
    return at[:_HOUR]


def prices(model: str) -> tuple[float, float]:
    """Dollars for a token in and a token out at list price; nothing where nobody knows one."""
    provider, _, name = model.partition("/")
    known = find_known_model(provider, name)
    if known is None:
        return 0.0, 0.0
    return (known.input_price_per_mtok or 0) / _MILLION, (known.output_price_per_mtok or 0) / _MILLION


def cost_usd(model: str, prompt_tokens: int, completion_tokens: int) -> float:
    per_prompt, per_completion = prices(model)
    return prompt_tokens * per_prompt + completion_tokens * per_completion
