from typing import Any

import sqlalchemy as sa

from retinue.incoming.models import IncomingWebhook, LargePayload, ReceivedPayload
from retinue.kit.clock import Instant
from retinue.kit.context import Context
from retinue.kit.db.forgetting import AT_ONCE, forget_everywhere, forgetting
from retinue.kit.db.statements import Statement
from retinue.kit.lists import Listing

_hooks, _received, _large = IncomingWebhook.__table__, ReceivedPayload.__table__, LargePayload.__table__

HOOKS = Listing(
    IncomingWebhook,
    searches=("name", "slug"),
    sorts=("created_at", "name", "last_received_at", "event_count"),
    filters=("active", "workflow_id"),
)
RECEIVED = Listing(ReceivedPayload, filters=("status",), heavy=True)

# Written out, because only then do both databases see that the index of what waits will do.
_WAITING: Statement[Any] = Statement(
    sa.select(sa.func.count())
    .select_from(_received)
    .where(
        _received.c.incoming_webhook_id == sa.bindparam("incoming_webhook_id"),
        _received.c.is_waiting == sa.true(),
    )
)
_COUNT: Statement[Any] = Statement(
    sa.update(_hooks)
    .where(_hooks.c.id == sa.bindparam("hook_id"))
    .values(
        event_count=_hooks.c.event_count + 1,
        last_received_at=sa.bindparam("at", type_=_hooks.c.last_received_at.type),
    )
)


_OF_A_HOOK = tuple(
    forgetting(table, table.c.incoming_webhook_id == sa.bindparam("incoming_webhook_id"))
    for table in (_large, _received)
)
_OLD = tuple(
    forgetting(table, table.c.created_at < sa.bindparam("before", type_=table.c.created_at.type))
    for table in (_large, _received)
)


async def count_waiting(ctx: Context, hook: IncomingWebhook) -> int:
    """How many payloads of the webhook wait for their workflow."""
    return int(await ctx.db.scalar(_WAITING, incoming_webhook_id=hook.id))


def count_one_more(ctx: Context, hook: IncomingWebhook) -> None:
    ctx.db.execute_at_commit(_COUNT, hook_id=hook.id, at=ctx.now)


async def erase_of_hook(ctx: Context, incoming_webhook_id: str) -> None:
    """In small steps, so that nobody waits long for the rows."""
    for statement in _OF_A_HOOK:
        removed = AT_ONCE
        while removed >= AT_ONCE:
            async with ctx.unit() as unit:
                removed = await unit.db.execute(statement, incoming_webhook_id=incoming_webhook_id)


async def erase_older_than(ctx: Context, before: Instant) -> None:
    for statement in _OLD:
        await forget_everywhere(ctx, statement, before=before)
