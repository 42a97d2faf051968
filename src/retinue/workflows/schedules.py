"""Workflows at certain times: of many processes exactly one starts each run."""

from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import msgspec
import sqlalchemy as sa
import structlog

from retinue.kit.clock import instant_at
from retinue.kit.context import Context
from retinue.kit.cron import parse_cron
from retinue.kit.db.statements import Statement
from retinue.kit.errors import Invalid, RetinueError
from retinue.kit.jobs.declare import NoPayload, Retry, job
from retinue.workflows import validation
from retinue.workflows.errors import TooManySchedules
from retinue.workflows.models import Workflow, WorkflowSchedule, WorkflowStatus
from retinue.workflows.schemas import WorkflowScheduleCreate, WorkflowScheduleOut

log = structlog.get_logger("retinue.workflows")

MOST_SCHEDULES = 20
# How late a schedule is before somebody looks whether its job was lost.
_LATE_S = 60.0

_schedules = WorkflowSchedule.__table__
# Whoever moves `next_at` from the value all have seen has fired the schedule; nobody else can.
_FIRE: Statement[Any] = Statement(
    sa.update(_schedules)
    .where(
        _schedules.c.id == sa.bindparam("schedule_id"),
        _schedules.c.active == sa.true(),
        _schedules.c.next_at == sa.bindparam("seen_at", type_=sa.Double()),
    )
    .values(
        next_at=sa.bindparam("new_next_at", type_=sa.Double()),
        last_run_at=sa.bindparam("now", type_=_schedules.c.last_run_at.type),
        updated_at=sa.bindparam("now", type_=_schedules.c.updated_at.type),
    )
)
_LATE: Statement[Any] = Statement(
    sa.select(_schedules.c.tenant_id, _schedules.c.id, _schedules.c.next_at).where(
        _schedules.c.active == sa.true(), _schedules.c.next_at < sa.bindparam("before", type_=sa.Double())
    )
)
_DELETE_ALL: Statement[Any] = Statement(
    sa.delete(_schedules).where(_schedules.c.workflow_id == sa.bindparam("workflow_id"))
)


class ScheduleDue(msgspec.Struct):
    schedule_id: str
    at: float


async def add(ctx: Context, workflow: Workflow, body: WorkflowScheduleCreate) -> WorkflowSchedule:
    problems = validation.problems_of_schedule({"cron": body.cron, "timezone": body.timezone}, "")
    if problems:
        raise Invalid(problems)
    if await ctx.db.count(WorkflowSchedule, workflow_id=workflow.id) >= MOST_SCHEDULES:
        raise TooManySchedules
    made = WorkflowSchedule(
        workflow_id=workflow.id,
        cron=body.cron,
        timezone=body.timezone or "UTC",
        input=body.input,
        active=body.active,
        created_by=ctx.principal.id,
    )
    return await _store(ctx, made)


async def _store(ctx: Context, schedule: WorkflowSchedule) -> WorkflowSchedule:
    schedule.next_at = _next(ctx, schedule) if schedule.active else None
    await ctx.db.insert(schedule)
    _await(ctx, schedule.id, schedule.next_at)
    return schedule


async def delete_all(ctx: Context, workflow: Workflow) -> None:
    await ctx.db.execute(_DELETE_ALL, workflow_id=workflow.id)


async def follow_trigger(ctx: Context, workflow: Workflow) -> None:
    """The schedule that a trigger is, as the trigger says now."""
    known = await ctx.db.find(WorkflowSchedule, workflow_id=workflow.id, is_trigger=True)
    wanted = workflow.trigger["config"] if workflow.trigger["type"] == "schedule" else None
    if known is not None:
        is_same = wanted is not None and (known.cron, known.timezone, known.input) == _parts(wanted)
        if is_same:
            return
        await ctx.db.delete(known)
    if wanted is not None:
        cron, timezone, input = _parts(wanted)
        made = WorkflowSchedule(
            workflow_id=workflow.id,
            cron=cron,
            timezone=timezone,
            input=input,
            is_trigger=True,
            created_by=workflow.created_by,
        )
        await _store(ctx, made)


def _parts(config: dict[str, Any]) -> tuple[str, str, Any]:
    return config["cron"], config.get("timezone") or "UTC", config.get("input", {})


def _next(ctx: Context, schedule: WorkflowSchedule) -> float | None:
    now = datetime.fromtimestamp(ctx.clock.time(), UTC)
    found = parse_cron(schedule.cron).next_after(now, ZoneInfo(schedule.timezone))
    return None if found is None else found.timestamp()


def _await(ctx: Context, schedule_id: str, at: float | None) -> None:
    if at is not None:
        ctx.defer(
            fire_schedule,
            ScheduleDue(schedule_id, at),
            delay_s=max(0.0, at - ctx.clock.time()),
            dedupe_key=f"{schedule_id}:{at:.0f}",
        )


@job(queue="workflows", retry=Retry((0, 5, 30, 300)))
async def fire_schedule(ctx: Context, payload: ScheduleDue) -> None:
    """Start the workflow, and wait for the next time; what was missed meanwhile is not made up for."""
    from retinue.workflows.triggers import start_published

    schedule = await ctx.db.get(WorkflowSchedule, payload.schedule_id)
    if schedule is None or not schedule.active or schedule.next_at != payload.at:
        return
    next_at = _next(ctx, schedule)
    won = await ctx.db.execute(
        _FIRE, schedule_id=schedule.id, seen_at=payload.at, new_next_at=next_at, now=ctx.now
    )
    if not won:
        return
    _await(ctx, schedule.id, next_at)
    workflow = await ctx.db.get(Workflow, schedule.workflow_id)
    if workflow is None or workflow.status is not WorkflowStatus.published:
        return
    try:
        await start_published(
            ctx,
            workflow,
            schedule.input,
            trigger="schedule",
            trigger_id=schedule.id,
            trigger_data={"scheduled_at": instant_at(payload.at)},
        )
    except RetinueError as error:
        if error.status >= 500:
            raise
        log.warning("schedule_refused", schedule_id=schedule.id, error=error.message)


@job(every_s=_LATE_S, transactional=False)
async def fire_late_schedules(ctx: Context, _payload: NoPayload) -> None:
    """For those whose job was lost."""
    before = ctx.clock.time() - _LATE_S
    for tenant_id, id, at in await ctx.system("schedules of every tenant").rows(_LATE, before=before):
        async with ctx.unit() as unit:
            unit.act_in(tenant_id)
            unit.defer(fire_schedule, ScheduleDue(id, at), dedupe_key=f"{id}:{at:.0f}")


def shown(schedule: WorkflowSchedule) -> WorkflowScheduleOut:
    at = schedule.next_at
    return WorkflowScheduleOut.of(schedule, next_run_at=None if at is None else instant_at(at))
