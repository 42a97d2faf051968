"""Outcomes of a subscription's actions: its counts, and the reason of a current failure."""

import sqlalchemy as sa

from retinue.events.models import Subscription
from retinue.kit.context import Context
from retinue.kit.db.statements import Statement

_MAX_ERROR_LENGTH = 500

_subscriptions = Subscription.__table__
_is_subscription = _subscriptions.c.id == sa.bindparam("subscription_id")
_COUNT_TRIGGER = Statement(
    sa.update(_subscriptions)
    .where(_is_subscription)
    .values(trigger_count=_subscriptions.c.trigger_count + 1, last_triggered_at=sa.bindparam("now"))
)
# Nearly always there is nothing to clear: then no row is written and none is locked.
_CLEAR_FAILURES = Statement(
    sa.update(_subscriptions)
    .where(
        _is_subscription,
        sa.or_(_subscriptions.c.failure_count != sa.literal(0), _subscriptions.c.last_error.is_not(None)),
    )
    .values(failure_count=0, last_error=None)
)
_COUNT_FAILURE = Statement(
    sa.update(_subscriptions)
    .where(_is_subscription)
    .values(failure_count=_subscriptions.c.failure_count + 1, last_error=sa.bindparam("error"))
)


async def count_trigger(ctx: Context, subscription_id: str) -> None:
    await ctx.db.execute(_COUNT_TRIGGER, subscription_id=subscription_id, now=ctx.now)


async def clear_failures(ctx: Context, subscription_id: str) -> None:
    """Record a success: the failures before it are over."""
    await ctx.db.execute(_CLEAR_FAILURES, subscription_id=subscription_id)


async def count_failure(ctx: Context, subscription_id: str, error: str) -> None:
    await ctx.db.execute(_COUNT_FAILURE, subscription_id=subscription_id, error=error[:_MAX_ERROR_LENGTH])
