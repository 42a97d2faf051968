"""Subscriptions: actions that are performed for matching events."""

from typing import Any

import sqlalchemy as sa

from retinue.events import action_config
from retinue.events.errors import ActionUnknown, SubscriptionNotFound, TooManySubscriptions
from retinue.events.events import (
    SubscriptionCreated,
    SubscriptionDeleted,
    SubscriptionEvent,
    SubscriptionUpdated,
)
from retinue.events.models import Subscription
from retinue.events.schemas import SubscriptionCreate, SubscriptionUpdate, Switched
from retinue.kit.context import Context
from retinue.kit.context.instance import Instance
from retinue.kit.context.subscription_actions import SubscriptionAction
from retinue.kit.db.statements import Statement
from retinue.kit.errors import Invalid
from retinue.kit.events.filters import check_filters, check_pattern, is_event_name
from retinue.kit.ignored_fields import report_unknown_keys
from retinue.kit.json_types import JsonObject
from retinue.kit.schema.base import sent_fields
from retinue.tenants.event_listeners import mark_listened_to

MAX_SUBSCRIPTIONS = 1000

_subscriptions = Subscription.__table__
_SET_ACTIVE = Statement(
    sa.update(_subscriptions)
    .where(
        _subscriptions.c.workflow_id == sa.bindparam("of_workflow"),
        _subscriptions.c.active != sa.bindparam("to", type_=sa.Boolean()),
    )
    .values(active=sa.bindparam("to", type_=sa.Boolean()), updated_at=sa.bindparam("now"))
    .returning(_subscriptions.c.id, _subscriptions.c.event_type, _subscriptions.c.action_type)
)
_OF_WORKFLOW = Statement(
    sa.select(_subscriptions.c.id)
    .where(_subscriptions.c.workflow_id == sa.bindparam("of_workflow"))
    .order_by(_subscriptions.c.created_at, _subscriptions.c.id)
)


def require_action(instance: Instance, type: str) -> SubscriptionAction:
    actions = instance.registry.all(SubscriptionAction)
    action = next((action for action in actions if action.type == type), None)
    if action is None:
        raise ActionUnknown
    return action


async def create(ctx: Context, body: SubscriptionCreate) -> Subscription:
    filters = body.filters or {}
    _validate_event_filter(body.event_type, filters)
    await _validate_action(ctx, body.action_type, body.action_config)
    if await ctx.db.count(Subscription) >= MAX_SUBSCRIPTIONS:
        raise TooManySubscriptions
    subscription = await ctx.db.insert(
        Subscription(
            event_type=body.event_type,
            is_pattern=not is_event_name(body.event_type),
            action_type=body.action_type,
            filters=filters,
            active=body.active,
            created_by=ctx.principal.id,
            **action_config.stored_columns(body.action_config),
        )
    )
    await mark_listened_to(ctx)
    _emit(ctx, SubscriptionCreated, subscription)
    return subscription


async def update(ctx: Context, subscription: Subscription, body: SubscriptionUpdate) -> Subscription:
    locked = await _lock(ctx, subscription.id)
    wanted = sent_fields(body)
    if "filters" in wanted:
        wanted["filters"] = wanted["filters"] or {}
    _validate_event_filter(wanted.get("event_type", locked.event_type), wanted.get("filters", locked.filters))
    if "event_type" in wanted:
        wanted["is_pattern"] = not is_event_name(wanted["event_type"])
    current = action_config.open_config(ctx, locked)
    config = action_config.restore_masked(wanted.pop("action_config", current), current)
    type = wanted.get("action_type", locked.action_type)
    if type != locked.action_type or config != current:
        await _validate_action(ctx, type, config)
    changes = {name: value for name, value in wanted.items() if getattr(locked, name) != value}
    changed = sorted(changes.keys() - {"is_pattern"} | ({"action_config"} if config != current else set()))
    if config != current:
        # What failed was the old action.
        changes |= {**action_config.stored_columns(config), "failure_count": 0, "last_error": None}
    if changed:
        await ctx.db.update(locked, **changes)
        _emit(ctx, SubscriptionUpdated, locked, changed=changed)
    return locked


async def delete(ctx: Context, subscription: Subscription) -> None:
    await ctx.db.delete(subscription)
    _emit(ctx, SubscriptionDeleted, subscription)


async def set_active_for_workflow(ctx: Context, workflow_id: str, *, active: bool) -> Switched:
    """Switch all subscriptions that start one workflow, whether it exists or not."""
    changed = await ctx.db.execute(_SET_ACTIVE, of_workflow=workflow_id, to=active, now=ctx.now)
    for id, event_type, action_type in sorted(changed):
        event = SubscriptionUpdated(
            subscription_id=id, event_type=event_type, action_type=action_type, changed=["active"]
        )
        ctx.emit(event)
    ids = [row[0] for row in await ctx.db.rows(_OF_WORKFLOW, of_workflow=workflow_id)]
    verb = "activated" if active else "deactivated"
    plural = "subscription" if len(changed) == 1 else "subscriptions"
    return Switched(
        workflow_id=workflow_id,
        active=active,
        updated=len(changed),
        subscription_ids=ids,
        message=f"{len(changed)} {plural} {verb}.",
    )


async def _lock(ctx: Context, id: str) -> Subscription:
    locked = await ctx.db.lock(Subscription, id)
    if locked is None:
        raise SubscriptionNotFound
    return locked


def _validate_event_filter(event_type: str, filters: JsonObject) -> None:
    check_pattern(event_type, "event_type")
    check_filters(filters, "filters")


async def _validate_action(ctx: Context, type: str, config: JsonObject) -> None:
    action_config.check_size(config)
    action_config.check_headers_entered(config)
    try:
        action = require_action(ctx.instance, type)
    except ActionUnknown:
        raise Invalid({"action_type": "is not supported by this instance"}) from None
    await action.check(ctx, config)
    report_unknown_keys(ctx.caller.ignored, config, action.config, "action_config")


def _emit(ctx: Context, kind: type[SubscriptionEvent], subscription: Subscription, **more: Any) -> None:
    ctx.emit(
        kind(
            subscription_id=subscription.id,
            event_type=subscription.event_type,
            action_type=subscription.action_type,
            **more,
        )
    )
