"""Routing of events to subscriptions: one job for each match, which performs the action."""

import asyncio
from collections import defaultdict
from collections.abc import Sequence

import structlog

from retinue.events import action_config, subscription_outcomes
from retinue.events.job_kinds import RUN_ACTION, ActionTask
from retinue.events.models import Subscription
from retinue.events.queries import SubscriptionCandidate, load_candidates
from retinue.events.service import require_action
from retinue.kit.context import Context
from retinue.kit.context.subscription_actions import ActingSubscription
from retinue.kit.errors import RetinueError, VaultSealed
from retinue.kit.events.conversation_quotes import quoted_conversation_ids
from retinue.kit.events.models import EventEntry
from retinue.kit.events.routing import DispatchedEvent, Router, WorkerTransaction, dispatched_event

log = structlog.get_logger("retinue.events")

MAX_ACTIONS_PER_EVENT = 50
# Requests are served in between: a tenant may have a thousand subscriptions with many filters.
_EVENTS_PER_YIELD = 10


async def _route_events(routing: WorkerTransaction, events: Sequence[DispatchedEvent]) -> None:
    by_tenant: defaultdict[str, list[SubscriptionCandidate]] = defaultdict(list)
    for candidate in await load_candidates(routing.system, events):
        by_tenant[candidate.tenant_id].append(candidate)
    for number, event in enumerate(events, start=1):
        if number % _EVENTS_PER_YIELD == 0:
            await asyncio.sleep(0)
        for subscription in _matching(by_tenant.get(event.tenant_id, []), event):
            routing.defer(
                event,
                RUN_ACTION,
                ActionTask(subscription.id, event.id),
                dedupe_key=f"{event.id}:{subscription.id}",
                lane=subscription.id,
            )


def _matching(candidates: list[SubscriptionCandidate], event: DispatchedEvent) -> list[SubscriptionCandidate]:
    """Return the matching subscriptions, oldest first; limited, so that events do not fan out endlessly."""
    matching = [candidate for candidate in candidates if candidate.accepts(event)]
    if len(matching) > MAX_ACTIONS_PER_EVENT:
        log.warning(
            "too_many_subscriptions", event_id=event.id, tenant_id=event.tenant_id, count=len(matching)
        )
    return matching[:MAX_ACTIONS_PER_EVENT]


async def _count_matches(ctx: Context, event: DispatchedEvent) -> int:
    return len(_matching(await load_candidates(ctx.db, [event]), event))


ROUTER = Router(name="subscriptions", route=_route_events, count=_count_matches)


async def run_action(ctx: Context, payload: ActionTask) -> None:
    """Perform the action exactly once, unless the subscription was paused or no longer matches."""
    subscription = await ctx.db.get(Subscription, payload.subscription_id)
    entry = await ctx.db.get(EventEntry, payload.event_id)
    if subscription is None or entry is None or not subscription.active:
        return
    event = dispatched_event(entry)
    ctx.quote(*quoted_conversation_ids(entry))
    if not _as_candidate(subscription).accepts(event):
        return
    try:
        action = require_action(ctx.instance, subscription.action_type)
        config = action_config.open_config(ctx, subscription)
        await action.perform(ctx, ActingSubscription(subscription.id, subscription.created_by, config), event)
        await subscription_outcomes.count_trigger(ctx, subscription.id)
        if not action.is_delivered_later(config):
            await subscription_outcomes.clear_failures(ctx, subscription.id)
    except Exception as error:
        if _is_retryable(ctx, error):
            raise
        await _record_failure(ctx, subscription, error)


def _as_candidate(subscription: Subscription) -> SubscriptionCandidate:
    return SubscriptionCandidate(
        subscription.tenant_id, subscription.id, subscription.event_type, subscription.filters
    )


def _is_retryable(ctx: Context, error: Exception) -> bool:
    if isinstance(error, VaultSealed):
        return True
    is_refusal = isinstance(error, RetinueError) and error.status < 500
    return not is_refusal and ctx.caller.attempt < RUN_ACTION.max_attempts


async def _record_failure(ctx: Context, subscription: Subscription, error: Exception) -> None:
    """Roll back what the action did and record the failure."""
    is_expected = isinstance(error, RetinueError)
    log.warning(
        "subscription_failed",
        subscription_id=subscription.id,
        action=subscription.action_type,
        exc_info=None if is_expected else error,
    )
    text = error.message if isinstance(error, RetinueError) else type(error).__name__
    await ctx.rollback()
    async with ctx.unit() as unit:
        await subscription_outcomes.count_failure(unit, subscription.id, text)
