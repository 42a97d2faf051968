"""The subscription action `workflow`, which starts a workflow."""

from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Meta

from retinue.events.errors import SubscribedWorkflowNotFound
from retinue.kit.context import Context
from retinue.kit.context.subscription_actions import (
    ActingSubscription,
    SubscriptionAction,
    WorkflowStart,
    WorkflowStarter,
)
from retinue.kit.events.routing import DispatchedEvent
from retinue.kit.json_types import JsonObject
from retinue.kit.schema.configs import parse_config
from retinue.kit.text.templates import render


class WorkflowActionConfig(msgspec.Struct, kw_only=True):
    """Settings of a subscription that starts a workflow."""

    workflow_id: Annotated[str, Meta(min_length=1, max_length=64)]
    input: Any = UNSET


async def _check(_ctx: Context, config: JsonObject) -> None:
    parse_config(config, WorkflowActionConfig, "action_config")


async def _perform(ctx: Context, subscribed: ActingSubscription, event: DispatchedEvent) -> None:
    config = parse_config(subscribed.config, WorkflowActionConfig, "action_config")
    starter = await _require_starter(ctx, config.workflow_id)
    event_data = event.as_input()
    scope = {**event_data, "event": event_data}
    await starter.start(
        ctx,
        WorkflowStart(
            workflow_id=config.workflow_id,
            input=event_data if config.input is UNSET else render(config.input, scope),
            trigger="event",
            source_id=subscribed.id,
        ),
    )


async def _require_starter(ctx: Context, workflow_id: str) -> WorkflowStarter:
    starters = ctx.instance.registry.all(WorkflowStarter)
    for starter in starters:
        if await starter.exists(ctx, workflow_id):
            return starter
    raise SubscribedWorkflowNotFound


WORKFLOW_ACTION = SubscriptionAction("workflow", _check, _perform, WorkflowActionConfig)
