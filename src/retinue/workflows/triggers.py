"""What starts a published workflow besides a person: forms, webhooks, subscriptions, events, schedules."""

from collections.abc import Sequence
from typing import Any

import msgspec
import sqlalchemy as sa
import structlog

from retinue.kit.actions import WorkflowStart, WorkflowStarter
from retinue.kit.context import Context
from retinue.kit.continuations import Waiting
from retinue.kit.db.one_of import listed, one_of
from retinue.kit.db.session import SystemDb
from retinue.kit.db.statements import Statement
from retinue.kit.errors import RetinueError
from retinue.kit.events.matching import matches_filters, matches_type
from retinue.kit.events.models import EventEntry
from retinue.kit.events.outward import happened
from retinue.kit.events.routing import Happened, Router, Routing
from retinue.kit.jobs.declare import Retry, job
from retinue.workflows.loaders import fetch_workflow
from retinue.workflows.models import Workflow, WorkflowExecution
from retinue.workflows.service import version_to_run
from retinue.workflows.starting import Start, start

log = structlog.get_logger("retinue.workflows")

MOST_PER_EVENT = 50

_workflows = Workflow.__table__
_LISTENING: Statement[Any] = Statement(
    sa.select(_workflows.c.tenant_id, _workflows.c.id, _workflows.c.trigger)
    .where(_workflows.c.listens == sa.true(), one_of(_workflows.c.tenant_id, "tenant_ids"))
    .order_by(_workflows.c.created_at, _workflows.c.id)
)


async def start_published(
    ctx: Context,
    workflow: Workflow,
    input: Any,
    *,
    trigger: str,
    trigger_id: str = "",
    trigger_data: dict[str, Any] | None = None,
    waiter: Waiting | None = None,
    depth: int = 0,
) -> WorkflowExecution:
    """In the name of whoever made the workflow; when the plan's places are taken, it waits for one."""
    wanted = Start(
        version=await version_to_run(ctx, workflow),
        input=input,
        trigger=trigger,
        trigger_id=trigger_id,
        trigger_data=trigger_data or {},
        run_as=workflow.created_by,
        waiter=waiter,
        depth=depth,
    )
    return await start(ctx, wanted)


async def _start(ctx: Context, wanted: WorkflowStart) -> str:
    workflow = await fetch_workflow(ctx, wanted.workflow_id)
    started = await start_published(
        ctx, workflow, wanted.input, trigger=wanted.trigger, trigger_id=wanted.source_id
    )
    return started.id


async def _exists(ctx: Context, workflow_id: str) -> bool:
    return await ctx.db.get(Workflow, workflow_id) is not None


STARTER = WorkflowStarter(start=_start, exists=_exists)


class _Listening(msgspec.Struct, frozen=True):
    tenant_id: str
    id: str
    config: dict[str, Any]

    def cares_about(self, event: Happened) -> bool:
        return (
            self.tenant_id == event.tenant_id
            and matches_type(self.config["event_type"], event.type)
            and matches_filters(self.config.get("filters") or {}, event.data)
        )


class EventToStart(msgspec.Struct):
    workflow_id: str
    event_id: str


async def _listening(db: SystemDb, events: Sequence[Happened]) -> list[_Listening]:
    tenants = sorted({event.tenant_id for event in events})
    rows = await db.rows(_LISTENING, tenant_ids=listed(tenants))
    return [_Listening(row[0], row[1], msgspec.json.decode(row[2])["config"]) for row in rows]


async def _route(routing: Routing, events: Sequence[Happened]) -> None:
    found = await _listening(routing.system, events) if events else []
    for event in events:
        for one in [one for one in found if one.cares_about(event)][:MOST_PER_EVENT]:
            routing.defer(
                event,
                start_by_event,
                EventToStart(one.id, event.id),
                dedupe_key=f"{event.id}:{one.id}",
                lane=one.id,
            )


async def _count(ctx: Context, event: Happened) -> int:
    return sum(one.cares_about(event) for one in await _listening(ctx.db, [event]))


ROUTER = Router(name="workflows", route=_route, count=_count)


@job(queue="workflows", retry=Retry((0, 5, 30, 300)))
async def start_by_event(ctx: Context, payload: EventToStart) -> None:
    """Exactly once for each event; a workflow that was changed meanwhile may not want it any more."""
    workflow = await ctx.db.get(Workflow, payload.workflow_id)
    entry = await ctx.db.get(EventEntry, payload.event_id)
    if workflow is None or entry is None or not workflow.listens:
        return
    event = happened(entry)
    if not _Listening(workflow.tenant_id, workflow.id, workflow.trigger["config"]).cares_about(event):
        return
    about = {
        "id": event.id,
        "type": event.type,
        "category": event.category,
        "correlation_id": event.correlation_id,
        "created_at": event.created_at,
        "test": event.is_test,
        "data": event.data,
    }
    try:
        await start_published(
            ctx, workflow, about, trigger="event", trigger_id=event.id, trigger_data={"event": about}
        )
    except RetinueError as error:
        if error.status >= 500:
            raise
        log.warning("event_refused", workflow_id=workflow.id, event_id=event.id, error=error.message)
