"""Schedules of workflows: exactly one of many processes starts each execution."""

from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import sqlalchemy as sa
import structlog

from retinue.kit.clock import instant_from_timestamp
from retinue.kit.context import Context
from retinue.kit.cron import parse_cron
from retinue.kit.cron_words import describe_cron
from retinue.kit.db.statements import Statement
from retinue.kit.errors import Invalid, RetinueError
from retinue.kit.json_types import JsonObject
from retinue.kit.schema.base import sent_fields
from retinue.workflows.errors import ScheduleNotFound, TooManySchedules
from retinue.workflows.job_kinds import FIRE_SCHEDULE, ScheduleDue
from retinue.workflows.models import Workflow, WorkflowSchedule, WorkflowStatus
from retinue.workflows.schemas import (
    SchedulePreview,
    SchedulePreviewRequest,
    WorkflowScheduleCreate,
    WorkflowScheduleOut,
    WorkflowScheduleUpdate,
)
from retinue.workflows.trigger_configs import ScheduleTriggerConfig, check_schedule
from retinue.workflows.triggers import start_published

log = structlog.get_logger("retinue.workflows")

MAX_SCHEDULES = 20
_PREVIEWED_TIMES = 5
_OF_TRIGGER = ("cron", "timezone", "input")
"""Fields that the schedule of a trigger takes from there."""
# A schedule that is this late may have lost its job, and gets another one.
LATE_AFTER_SECONDS = 60.0

_schedules = WorkflowSchedule.__table__
# A compare-and-set on `next_at`: only one process can fire the schedule.
_CLAIM_RUN = Statement(
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
_LATE_SCHEDULES = Statement(
    sa.select(_schedules.c.tenant_id, _schedules.c.id, _schedules.c.next_at).where(
        _schedules.c.active == sa.true(), _schedules.c.next_at < sa.bindparam("before", type_=sa.Double())
    )
)
_DELETE_ALL = Statement(sa.delete(_schedules).where(_schedules.c.workflow_id == sa.bindparam("workflow_id")))


async def create(ctx: Context, workflow: Workflow, body: WorkflowScheduleCreate) -> WorkflowSchedule:
    check_schedule(ScheduleTriggerConfig(cron=body.cron, timezone=body.timezone))
    if await ctx.db.count(WorkflowSchedule, workflow_id=workflow.id) >= MAX_SCHEDULES:
        raise TooManySchedules
    created = WorkflowSchedule(
        workflow_id=workflow.id,
        cron=body.cron,
        timezone=body.timezone or "UTC",
        input=body.input,
        active=body.active,
        created_by=ctx.principal.id,
    )
    return await _store(ctx, created)


async def update(ctx: Context, schedule: WorkflowSchedule, body: WorkflowScheduleUpdate) -> WorkflowSchedule:
    """Change the fields that are sent; if the times change, the next one is counted from now."""
    locked = await ctx.db.lock(WorkflowSchedule, schedule.id)
    if locked is None:
        raise ScheduleNotFound
    changes = {name: value for name, value in sent_fields(body).items() if getattr(locked, name) != value}
    if locked.is_trigger and (followed := [name for name in _OF_TRIGGER if name in changes]):
        raise Invalid(dict.fromkeys(followed, "follows the trigger of the workflow; change it there"))
    times = ScheduleTriggerConfig(
        cron=changes.get("cron", locked.cron), timezone=changes.get("timezone", locked.timezone)
    )
    check_schedule(times)
    if "timezone" in changes:
        changes["timezone"] = changes["timezone"] or "UTC"
    await ctx.db.update(locked, **changes)
    if changes.keys() - {"input"}:
        await ctx.db.update(locked, next_at=_next_run_time(ctx, locked) if locked.active else None)
        _enqueue_next_run(ctx, locked.id, locked.next_at)
    return locked


def preview(ctx: Context, body: SchedulePreviewRequest) -> SchedulePreview:
    """Return when such a schedule would fire."""
    check_schedule(ScheduleTriggerConfig(cron=body.cron, timezone=body.timezone))
    cron, zone = parse_cron(body.cron), ZoneInfo(body.timezone or "UTC")
    times: list[datetime] = []
    moment = datetime.fromtimestamp(ctx.clock.time(), UTC)
    while len(times) < _PREVIEWED_TIMES and (found := cron.next_after(moment, zone)) is not None:
        times.append(found)
        moment = found
    instants = [instant_from_timestamp(time.timestamp()) for time in times]
    return SchedulePreview(words=describe_cron(cron), next_times=instants)


async def _store(ctx: Context, schedule: WorkflowSchedule) -> WorkflowSchedule:
    schedule.next_at = _next_run_time(ctx, schedule) if schedule.active else None
    await ctx.db.insert(schedule)
    _enqueue_next_run(ctx, schedule.id, schedule.next_at)
    return schedule


async def delete_all(ctx: Context, workflow: Workflow) -> None:
    await ctx.db.execute(_DELETE_ALL, workflow_id=workflow.id)


async def sync_trigger_schedule(ctx: Context, workflow: Workflow) -> None:
    """Create, replace or delete the schedule that represents the workflow's trigger."""
    existing = await ctx.db.find(WorkflowSchedule, workflow_id=workflow.id, is_trigger=True)
    wanted = workflow.trigger["config"] if workflow.trigger["type"] == "schedule" else None
    if existing is not None:
        is_same = wanted is not None and (
            existing.cron,
            existing.timezone,
            existing.input,
        ) == _schedule_fields(wanted)
        if is_same:
            return
        await ctx.db.delete(existing)
    if wanted is not None:
        cron, timezone, input = _schedule_fields(wanted)
        created = WorkflowSchedule(
            workflow_id=workflow.id,
            cron=cron,
            timezone=timezone,
            input=input,
            is_trigger=True,
            created_by=workflow.created_by,
        )
        await _store(ctx, created)


def _schedule_fields(config: JsonObject) -> tuple[str, str, Any]:
    return config["cron"], config.get("timezone") or "UTC", config.get("input", {})


def _next_run_time(ctx: Context, schedule: WorkflowSchedule) -> float | None:
    now = datetime.fromtimestamp(ctx.clock.time(), UTC)
    found = parse_cron(schedule.cron).next_after(now, ZoneInfo(schedule.timezone))
    return None if found is None else found.timestamp()


def _enqueue_next_run(ctx: Context, schedule_id: str, at: float | None) -> None:
    if at is not None:
        ctx.defer(
            FIRE_SCHEDULE,
            ScheduleDue(schedule_id, at),
            delay_s=max(0.0, at - ctx.clock.time()),
            dedupe_key=f"{schedule_id}:{at:.0f}",
        )


async def fire_schedule(ctx: Context, payload: ScheduleDue) -> None:
    """Start the workflow and enqueue the next time; missed times are skipped."""
    schedule = await ctx.db.get(WorkflowSchedule, payload.schedule_id)
    if schedule is None or not schedule.active or schedule.next_at != payload.at:
        return
    next_at = _next_run_time(ctx, schedule)
    is_claimed = await ctx.db.execute(
        _CLAIM_RUN, schedule_id=schedule.id, seen_at=payload.at, new_next_at=next_at, now=ctx.now
    )
    if not is_claimed:
        return
    _enqueue_next_run(ctx, schedule.id, next_at)
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
            trigger_data={"scheduled_at": instant_from_timestamp(payload.at)},
        )
    except RetinueError as error:
        if error.status >= 500:
            raise
        log.warning("schedule_refused", schedule_id=schedule.id, error=error.message)


async def fire_late_schedules(ctx: Context) -> None:
    """Enqueue overdue schedules again, in case their job was lost."""
    before = ctx.clock.time() - LATE_AFTER_SECONDS
    for tenant_id, id, at in await ctx.system("schedules of every tenant").rows(
        _LATE_SCHEDULES, before=before
    ):
        async with ctx.unit() as unit:
            unit.bind_tenant(tenant_id)
            unit.defer(FIRE_SCHEDULE, ScheduleDue(id, at), dedupe_key=f"{id}:{at:.0f}")


def render_schedule(schedule: WorkflowSchedule) -> WorkflowScheduleOut:
    at = schedule.next_at
    return WorkflowScheduleOut.of(schedule, next_run_at=None if at is None else instant_from_timestamp(at))
