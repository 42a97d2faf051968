"""Subscriptions: what is to be done when something happens."""

from typing import Any

import sqlalchemy as sa

from retinue.events import configs
from retinue.events.errors import ActionUnknown, SubscriptionNotFound, TooManySubscriptions
from retinue.events.events import (
    SubscriptionCreated,
    SubscriptionDeleted,
    SubscriptionEvent,
    SubscriptionUpdated,
)
from retinue.events.models import Subscription
from retinue.events.schemas import SubscriptionCreate, SubscriptionUpdate, Switched
from retinue.kit.actions import Action
from retinue.kit.context import Context
from retinue.kit.db.statements import Statement
from retinue.kit.errors import Invalid
from retinue.kit.events.matching import check_filters, check_pattern, is_event_name
from retinue.kit.instance import Instance
from retinue.kit.schemas import given
from retinue.tenants.listening import start_listening

MOST_SUBSCRIPTIONS = 1000

_subscriptions = Subscription.__table__
_SWITCH: Statement[Any] = Statement(
    sa.update(_subscriptions)
    .where(
        _subscriptions.c.workflow_id == sa.bindparam("of_workflow"),
        _subscriptions.c.active != sa.bindparam("to", type_=sa.Boolean()),
    )
    .values(active=sa.bindparam("to", type_=sa.Boolean()), updated_at=sa.bindparam("now"))
    .returning(_subscriptions.c.id, _subscriptions.c.event_type, _subscriptions.c.action_type)
)
_OF_WORKFLOW: Statement[Any] = Statement(
    sa.select(_subscriptions.c.id)
    .where(_subscriptions.c.workflow_id == sa.bindparam("of_workflow"))
    .order_by(_subscriptions.c.created_at, _subscriptions.c.id)
)


def action_of(instance: Instance, type: str) -> Action:
    actions = (action for manifest in instance.manifests for action in manifest.actions)
    found = next((action for action in actions if action.type == type), None)
    if found is None:
        raise ActionUnknown
    return found


async def create(ctx: Context, body: SubscriptionCreate) -> Subscription:
    filters = body.filters or {}
    _check_choice(body.event_type, filters)
    await _check_action(ctx, body.action_type, body.action_config)
    if await ctx.db.count(Subscription) >= MOST_SUBSCRIPTIONS:
        raise TooManySubscriptions
    subscription = await ctx.db.insert(
        Subscription(
            event_type=body.event_type,
            is_pattern=not is_event_name(body.event_type),
            action_type=body.action_type,
            filters=filters,
            active=body.active,
            created_by=ctx.principal.id,
            **configs.stored(body.action_config),
        )
    )
    await start_listening(ctx)
    _tell(ctx, SubscriptionCreated, subscription)
    return subscription


async def update(ctx: Context, subscription: Subscription, body: SubscriptionUpdate) -> Subscription:
    held = await _hold(ctx, subscription.id)
    wanted = given(body)
    if "filters" in wanted:
        wanted["filters"] = wanted["filters"] or {}
    _check_choice(wanted.get("event_type", held.event_type), wanted.get("filters", held.filters))
    if "event_type" in wanted:
        wanted["is_pattern"] = not is_event_name(wanted["event_type"])
    known = configs.whole(ctx, held)
    config = configs.unmasked(wanted.pop("action_config", known), known)
    type = wanted.get("action_type", held.action_type)
    if type != held.action_type or config != known:
        await _check_action(ctx, type, config)
    changes = {name: value for name, value in wanted.items() if getattr(held, name) != value}
    changed = sorted(changes.keys() - {"is_pattern"} | ({"action_config"} if config != known else set()))
    if config != known:
        changes |= configs.stored(config)
    if changed:
        await ctx.db.update(held, **changes)
        _tell(ctx, SubscriptionUpdated, held, changed=changed)
    return held


async def delete(ctx: Context, subscription: Subscription) -> None:
    await ctx.db.delete(subscription)
    _tell(ctx, SubscriptionDeleted, subscription)


async def switch(ctx: Context, workflow_id: str, *, active: bool) -> Switched:
    """All subscriptions that start one workflow, whether it exists or not."""
    changed = await ctx.db.execute(_SWITCH, of_workflow=workflow_id, to=active, now=ctx.now)
    for id, event_type, action_type in sorted(changed):
        told = SubscriptionUpdated(
            subscription_id=id, event_type=event_type, action_type=action_type, changed=["active"]
        )
        ctx.emit(told)
    ids = [row[0] for row in await ctx.db.rows(_OF_WORKFLOW, of_workflow=workflow_id)]
    done = "activated" if active else "deactivated"
    plural = "subscription" if len(changed) == 1 else "subscriptions"
    return Switched(
        workflow_id=workflow_id,
        active=active,
        updated=len(changed),
        subscription_ids=ids,
        message=f"{len(changed)} {plural} {done}.",
    )


async def _hold(ctx: Context, id: str) -> Subscription:
    held = await ctx.db.lock(Subscription, id)
    if held is None:
        raise SubscriptionNotFound
    return held


def _check_choice(event_type: str, filters: dict[str, Any]) -> None:
    check_pattern(event_type, "event_type")
    check_filters(filters, "filters")


async def _check_action(ctx: Context, type: str, config: dict[str, Any]) -> None:
    configs.check_size(config)
    try:
        await action_of(ctx.instance, type).check(ctx, config)
    except ActionUnknown:
        raise Invalid({"action_type": "is not available here"}) from None


def _tell(ctx: Context, kind: type[SubscriptionEvent], subscription: Subscription, **more: Any) -> None:
    ctx.emit(
        kind(
            subscription_id=subscription.id,
            event_type=subscription.event_type,
            action_type=subscription.action_type,
            **more,
        )
    )
