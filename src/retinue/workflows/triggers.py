"""Starts of published workflows by forms, webhooks, subscriptions, events and schedules."""

from collections.abc import Sequence

import msgspec
import sqlalchemy as sa
import structlog

from retinue.kit.context import Context
from retinue.kit.context.continuations import ContinuationRef
from retinue.kit.context.subscription_actions import WorkflowStart, WorkflowStarter
from retinue.kit.db.in_list import in_list, list_parameter
from retinue.kit.db.session import SystemDb
from retinue.kit.db.statements import Statement
from retinue.kit.errors import RetinueError
from retinue.kit.events.conversation_quotes import quoted_conversation_ids
from retinue.kit.events.filters import matches_filters, matches_type
from retinue.kit.events.models import EventEntry
from retinue.kit.events.routing import DispatchedEvent, Router, WorkerTransaction, dispatched_event
from retinue.kit.json_types import JsonObject
from retinue.workflows.engine.start import StartRequest, start_execution
from retinue.workflows.job_kinds import START_BY_EVENT, StartByEvent
from retinue.workflows.loaders import fetch_workflow
from retinue.workflows.models import Workflow, WorkflowExecution
from retinue.workflows.versions import resolve_version

log = structlog.get_logger("retinue.workflows")

MAX_STARTS_PER_EVENT = 50

_workflows = Workflow.__table__
_EVENT_TRIGGERS = Statement(
    sa.select(_workflows.c.tenant_id, _workflows.c.id, _workflows.c.trigger)
    .where(_workflows.c.listens == sa.true(), in_list(_workflows.c.tenant_id, "tenant_ids"))
    .order_by(_workflows.c.created_at, _workflows.c.id)
)


async def start_published(
    ctx: Context,
    workflow: Workflow,
    input: object,
    *,
    trigger: str,
    trigger_id: str = "",
    trigger_data: JsonObject | None = None,
    waiter: ContinuationRef | None = None,
    depth: int = 0,
) -> WorkflowExecution:
    """Start an execution on behalf of the workflow's creator; it is queued if the plan's limit is reached."""
    request = StartRequest(
        version=await resolve_version(ctx, workflow),
        input=input,
        trigger=trigger,
        trigger_id=trigger_id,
        trigger_data=trigger_data or {},
        run_as=workflow.created_by,
        waiter=waiter,
        depth=depth,
    )
    return await start_execution(ctx, request)


async def _start(ctx: Context, request: WorkflowStart) -> str:
    workflow = await fetch_workflow(ctx, request.workflow_id)
    started = await start_published(
        ctx, workflow, request.input, trigger=request.trigger, trigger_id=request.source_id
    )
    return started.id


async def _exists(ctx: Context, workflow_id: str) -> bool:
    return await ctx.db.get(Workflow, workflow_id) is not None


STARTER = WorkflowStarter(start=_start, exists=_exists)


class _EventTrigger(msgspec.Struct, frozen=True):
    tenant_id: str
    id: str
    config: JsonObject

    def accepts(self, event: DispatchedEvent) -> bool:
        return (
            self.tenant_id == event.tenant_id
            and matches_type(self.config["event_type"], event.type)
            and matches_filters(self.config.get("filters") or {}, event.data)
        )


async def _load_event_triggers(db: SystemDb, events: Sequence[DispatchedEvent]) -> list[_EventTrigger]:
    tenants = sorted({event.tenant_id for event in events})
    rows = await db.rows(_EVENT_TRIGGERS, tenant_ids=list_parameter(tenants))
    return [_EventTrigger(row[0], row[1], msgspec.json.decode(row[2])["config"]) for row in rows]


async def _route_events(routing: WorkerTransaction, events: Sequence[DispatchedEvent]) -> None:
    triggers = await _load_event_triggers(routing.system, events) if events else []
    for event in events:
        matching = [trigger for trigger in triggers if trigger.accepts(event)]
        for trigger in matching[:MAX_STARTS_PER_EVENT]:
            routing.defer(
                event,
                START_BY_EVENT,
                StartByEvent(trigger.id, event.id),
                dedupe_key=f"{event.id}:{trigger.id}",
                lane=trigger.id,
            )


async def _count_matches(ctx: Context, event: DispatchedEvent) -> int:
    return sum(trigger.accepts(event) for trigger in await _load_event_triggers(ctx.db, [event]))


ROUTER = Router(name="workflows", route=_route_events, count=_count_matches)


async def start_by_event(ctx: Context, payload: StartByEvent) -> None:
    """Start the workflow exactly once for the event, unless its trigger no longer matches."""
    workflow = await ctx.db.get(Workflow, payload.workflow_id)
    entry = await ctx.db.get(EventEntry, payload.event_id)
    if workflow is None or entry is None or not workflow.listens:
        return
    event = dispatched_event(entry)
    ctx.quote(*quoted_conversation_ids(entry))
    if not _EventTrigger(workflow.tenant_id, workflow.id, workflow.trigger["config"]).accepts(event):
        return
    event_input = event.as_input()
    try:
        await start_published(
            ctx,
            workflow,
            event_input,
            trigger="event",
            trigger_id=event.id,
            trigger_data={"event": event_input},
        )
    except RetinueError as error:
        if error.status >= 500:
            raise
        log.warning("event_refused", workflow_id=workflow.id, event_id=event.id, error=error.message)
