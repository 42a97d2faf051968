"""The action that starts a workflow, whoever knows how that is done."""

from typing import Any

from retinue.events.errors import WorkflowNotFound
from retinue.kit.actions import Action, Subscribed, WorkflowStart, WorkflowStarter
from retinue.kit.context import Context
from retinue.kit.errors import Invalid
from retinue.kit.events.routing import Happened
from retinue.kit.templates import render

_LONGEST_ID = 64


async def _check(_ctx: Context, config: dict[str, Any]) -> None:
    id = config.get("workflow_id")
    if id is None:
        raise Invalid({"action_config.workflow_id": "is required"})
    if not isinstance(id, str) or not 0 < len(id) <= _LONGEST_ID:
        raise Invalid({"action_config.workflow_id": f"must be a text of 1 to {_LONGEST_ID} characters"})


async def _perform(ctx: Context, subscribed: Subscribed, event: Happened) -> None:
    workflow_id = subscribed.config["workflow_id"]
    starter = await _starter_of(ctx, workflow_id)
    event_itself = {
        "id": event.id,
        "type": event.type,
        "category": event.category,
        "correlation_id": event.correlation_id,
        "created_at": event.created_at,
        "test": event.is_test,
        "data": event.data,
    }
    scope = {**event_itself, "event": event_itself}
    await starter.start(
        ctx,
        WorkflowStart(
            workflow_id=workflow_id,
            input=render(subscribed.config["input"], scope) if "input" in subscribed.config else event_itself,
            trigger="event",
            source_id=subscribed.id,
        ),
    )


async def _starter_of(ctx: Context, workflow_id: str) -> WorkflowStarter:
    starters = [one for manifest in ctx.instance.manifests for one in manifest.workflow_starters]
    for starter in starters:
        if await starter.exists(ctx, workflow_id):
            return starter
    raise WorkflowNotFound


WORKFLOW_ACTION = Action("workflow", _check, _perform)
