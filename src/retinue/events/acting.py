"""From an event to what its subscribers want done: a job for each, then the action within that job."""

import asyncio
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import msgspec
import sqlalchemy as sa
import structlog

from retinue.events import configs
from retinue.events.models import Subscription
from retinue.events.queries import Candidate, candidates
from retinue.events.service import action_of
from retinue.kit.actions import Subscribed
from retinue.kit.context import Context
from retinue.kit.db.statements import Statement
from retinue.kit.errors import RetinueError, VaultSealed
from retinue.kit.events.models import EventEntry
from retinue.kit.events.outward import happened
from retinue.kit.events.routing import Happened, Router, Routing
from retinue.kit.jobs.declare import Retry, job

log = structlog.get_logger("retinue.events")

MOST_PER_EVENT = 50
# A tenant may have a thousand subscriptions with many filters; requests are answered in between.
_BEFORE_A_PAUSE = 10
_LONGEST_ERROR = 500
_RETRY = Retry((0, 5, 30, 300))

_subscriptions = Subscription.__table__
_mine = _subscriptions.c.id == sa.bindparam("subscription_id")
_SUCCEEDED: Statement[Any] = Statement(
    sa.update(_subscriptions)
    .where(_mine)
    .values(trigger_count=_subscriptions.c.trigger_count + 1, last_triggered_at=sa.bindparam("now"))
)
_FAILED: Statement[Any] = Statement(
    sa.update(_subscriptions)
    .where(_mine)
    .values(failure_count=_subscriptions.c.failure_count + 1, last_error=sa.bindparam("error"))
)


class ToAct(msgspec.Struct):
    subscription_id: str
    event_id: str


async def _route(routing: Routing, events: Sequence[Happened]) -> None:
    by_tenant: defaultdict[str, list[Candidate]] = defaultdict(list)
    for candidate in await candidates(routing.system, events):
        by_tenant[candidate.tenant_id].append(candidate)
    for number, event in enumerate(events, start=1):
        if number % _BEFORE_A_PAUSE == 0:
            await asyncio.sleep(0)
        for subscription in _caring(by_tenant.get(event.tenant_id, []), event):
            routing.defer(
                event,
                act_on_event,
                ToAct(subscription.id, event.id),
                dedupe_key=f"{event.id}:{subscription.id}",
                lane=subscription.id,
            )


def _caring(found: list[Candidate], event: Happened) -> list[Candidate]:
    """At most so many, the oldest first, so that one event cannot set off any number of others."""
    caring = [one for one in found if one.cares_about(event)]
    if len(caring) > MOST_PER_EVENT:
        log.warning("too_many_subscriptions", event_id=event.id, tenant_id=event.tenant_id, count=len(caring))
    return caring[:MOST_PER_EVENT]


async def _count(ctx: Context, event: Happened) -> int:
    return len(_caring(await candidates(ctx.db, [event]), event))


ROUTER = Router(name="subscriptions", route=_route, count=_count)


@job(queue="subscriptions", retry=_RETRY, per_lane=4)
async def act_on_event(ctx: Context, payload: ToAct) -> None:
    """What the subscription wants, exactly once; one that was paused or changed meanwhile wants nothing."""
    subscription = await ctx.db.get(Subscription, payload.subscription_id)
    entry = await ctx.db.get(EventEntry, payload.event_id)
    if subscription is None or entry is None or not subscription.active:
        return
    event = happened(entry)
    if not _as_candidate(subscription).cares_about(event):
        return
    try:
        action = action_of(ctx.instance, subscription.action_type)
        config = configs.whole(ctx, subscription)
        await action.perform(ctx, Subscribed(subscription.id, subscription.created_by, config), event)
        await ctx.db.execute(_SUCCEEDED, subscription_id=subscription.id, now=ctx.now)
    except Exception as error:
        if _is_worth_another_try(ctx, error):
            raise
        await _record_failure(ctx, subscription, error)


def _as_candidate(subscription: Subscription) -> Candidate:
    return Candidate(subscription.tenant_id, subscription.id, subscription.event_type, subscription.filters)


def _is_worth_another_try(ctx: Context, error: Exception) -> bool:
    if isinstance(error, VaultSealed):
        return True
    is_refusal = isinstance(error, RetinueError) and error.status < 500
    return not is_refusal and ctx.caller.attempt < len(_RETRY.delays)


async def _record_failure(ctx: Context, subscription: Subscription, error: Exception) -> None:
    """What the action had done is undone; that it failed is not."""
    known = isinstance(error, RetinueError)
    log.warning(
        "subscription_failed",
        subscription_id=subscription.id,
        action=subscription.action_type,
        exc_info=None if known else error,
    )
    text = error.message if isinstance(error, RetinueError) else type(error).__name__
    await ctx.rollback()
    async with ctx.unit() as unit:
        await unit.db.execute(_FAILED, subscription_id=subscription.id, error=text[:_LONGEST_ERROR])
