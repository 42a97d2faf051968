import sqlalchemy as sa

from retinue.incoming.models import IncomingWebhook, LargePayload, ReceivedPayload
from retinue.kit.clock import Instant
from retinue.kit.context import Context
from retinue.kit.db.statements import Statement
from retinue.kit.lists import Listing
from retinue.kit.purge import PURGE_BATCH_ROWS, purge_all_tenants, purge_statement

_hooks, _received, _large = IncomingWebhook.__table__, ReceivedPayload.__table__, LargePayload.__table__

HOOKS = Listing(
    IncomingWebhook,
    searches=("name", "slug"),
    sorts=("created_at", "name", "last_received_at", "event_count"),
    filters=("active", "workflow_id"),
)
RECEIVED = Listing(ReceivedPayload, filters=("status",), heavy=True)

# `= true` is written out, because otherwise the databases do not use the partial index.
_COUNT_QUEUED = Statement(
    sa.select(sa.func.count())
    .select_from(_received)
    .where(
        _received.c.incoming_webhook_id == sa.bindparam("incoming_webhook_id"),
        _received.c.is_waiting == sa.true(),
    )
)
_COUNT_RECEIVED = Statement(
    sa.update(_hooks)
    .where(_hooks.c.id == sa.bindparam("hook_id"))
    .values(
        event_count=_hooks.c.event_count + 1,
        last_received_at=sa.bindparam("at", type_=_hooks.c.last_received_at.type),
    )
)


_DELETE_OF_HOOK = tuple(
    purge_statement(table, table.c.incoming_webhook_id == sa.bindparam("incoming_webhook_id"))
    for table in (_large, _received)
)
_DELETE_OLD = tuple(
    purge_statement(table, table.c.created_at < sa.bindparam("before", type_=table.c.created_at.type))
    for table in (_large, _received)
)


async def count_queued(ctx: Context, hook: IncomingWebhook) -> int:
    """Return the number of the webhook's payloads that wait for their workflow."""
    return int(await ctx.db.scalar(_COUNT_QUEUED, incoming_webhook_id=hook.id))


def count_received(ctx: Context, hook: IncomingWebhook) -> None:
    ctx.db.execute_at_commit(_COUNT_RECEIVED, hook_id=hook.id, at=ctx.now)


async def delete_received_of_hook(ctx: Context, incoming_webhook_id: str) -> None:
    """Delete in small transactions, so that locks are short."""
    for statement in _DELETE_OF_HOOK:
        removed = PURGE_BATCH_ROWS
        while removed >= PURGE_BATCH_ROWS:
            async with ctx.unit() as unit:
                removed = await unit.db.execute(statement, incoming_webhook_id=incoming_webhook_id)


async def delete_older_than(ctx: Context, before: Instant) -> None:
    for statement in _DELETE_OLD:
        await purge_all_tenants(ctx, statement, before=before)
