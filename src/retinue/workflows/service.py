"""Workflows are created, changed, published and deleted; what runs is always one of their versions."""

from typing import Any

import msgspec
import sqlalchemy as sa

from retinue.kit import references
from retinue.kit.context import Context
from retinue.kit.db.statements import Statement
from retinue.kit.errors import Invalid, InvalidTransition
from retinue.kit.json_schemas import compile_schema
from retinue.kit.schemas import given
from retinue.tenants.listening import start_listening
from retinue.workflows import schedules, validation
from retinue.workflows.errors import WorkflowNotFound, WorkflowNotPublished
from retinue.workflows.events import (
    WorkflowCreated,
    WorkflowDeleted,
    WorkflowEvent,
    WorkflowPublished,
    WorkflowUpdated,
)
from retinue.workflows.held import HeldRun
from retinue.workflows.models import (
    ENDED,
    RunStatus,
    Workflow,
    WorkflowExecution,
    WorkflowStatus,
    WorkflowVersion,
)
from retinue.workflows.queries import find_version, latest_version
from retinue.workflows.running import RUNNING
from retinue.workflows.schemas import WorkflowCreate, WorkflowProblem, WorkflowUpdate, WorkflowValidated

REFERENCE = "workflow"
"""What others point at with a `kit.references.Reference`: they let go of a workflow that is deleted."""

CANCELLED = {"code": "cancelled", "message": "The execution was cancelled."}

_NEXT: dict[WorkflowStatus, list[WorkflowStatus]] = {
    WorkflowStatus.draft: [WorkflowStatus.published, WorkflowStatus.archived],
    WorkflowStatus.published: [WorkflowStatus.draft, WorkflowStatus.archived],
    WorkflowStatus.archived: [WorkflowStatus.draft],
}
_VERSIONED = ("name", "nodes", "edges", "input_schema", "settings")

_executions = WorkflowExecution.__table__
_OPEN_EXECUTIONS: Statement[Any] = Statement(
    sa.select(_executions.c.id)
    .where(
        _executions.c.workflow_id == sa.bindparam("workflow_id"),
        _executions.c.status.not_in([sa.literal(status.value) for status in sorted(ENDED)]),
    )
    .order_by(_executions.c.id)
)


async def create(ctx: Context, body: WorkflowCreate) -> Workflow:
    workflow = Workflow(**_wanted(given(body)), created_by=ctx.principal.id)
    is_published = body.status == WorkflowStatus.published
    workflow.status = WorkflowStatus.draft
    _check_schema(workflow.input_schema)
    await ctx.db.insert(workflow)
    _tell(ctx, WorkflowCreated, workflow)
    if is_published:
        await _publish(ctx, workflow)
    return workflow


async def update(ctx: Context, workflow: Workflow, body: WorkflowUpdate) -> Workflow:
    """Of a published workflow this is a new version, which is what runs from now on."""
    held = await hold(ctx, workflow.id)
    wanted = _wanted(given(body))
    status = WorkflowStatus(wanted.pop("status", held.status))
    changes = {name: value for name, value in wanted.items() if getattr(held, name) != value}
    _check_schema(changes.get("input_schema"))
    if changes:
        await ctx.db.update(held, **changes)
        if held.status is WorkflowStatus.published and status is WorkflowStatus.published:
            await _make_effective(ctx, held, has_changed=True)
        _tell(ctx, WorkflowUpdated, held)
    if status is not held.status:
        return await enter(ctx, held, status)
    return held


async def enter(ctx: Context, workflow: Workflow, status: WorkflowStatus) -> Workflow:
    """Change the state; the same state again changes nothing."""
    held = await hold(ctx, workflow.id)
    if held.status is status:
        return held
    allowed = _NEXT[held.status]
    if status not in allowed:
        raise InvalidTransition(held.status, status, [one.value for one in allowed])
    if status is WorkflowStatus.published:
        await _publish(ctx, held)
        return held
    await ctx.db.update(held, status=status, listens=False)
    _tell(ctx, WorkflowUpdated, held)
    return held


async def _publish(ctx: Context, workflow: Workflow) -> None:
    await ctx.db.update(workflow, status=WorkflowStatus.published, published_at=ctx.now)
    await _make_effective(ctx, workflow, has_changed=False)
    _tell(ctx, WorkflowPublished, workflow)


async def _make_effective(ctx: Context, workflow: Workflow, *, has_changed: bool) -> None:
    """What was written down is what runs from now on, if it can run."""
    problems = await validation.problems_of(ctx, workflow)
    if problems:
        raise Invalid(problems)
    latest = await latest_version(ctx, workflow.id)
    if latest is None:
        await keep_version(ctx, workflow, workflow.version)
    elif has_changed or any(getattr(latest, name) != getattr(workflow, name) for name in _VERSIONED):
        await ctx.db.update(workflow, version=latest.version + 1)
        await keep_version(ctx, workflow, workflow.version)
    listens = workflow.trigger["type"] == "event"
    if listens != workflow.listens:
        await ctx.db.update(workflow, listens=listens)
    if listens:
        await start_listening(ctx)
    await schedules.follow_trigger(ctx, workflow)


async def keep_version(
    ctx: Context, workflow: Workflow, version: int, *, is_draft: bool = False
) -> WorkflowVersion:
    kept = WorkflowVersion(
        workflow_id=workflow.id,
        version=version,
        is_draft=is_draft,
        created_by=ctx.principal.id,
        **{name: getattr(workflow, name) for name in _VERSIONED},
    )
    return await ctx.db.insert(kept)


async def version_to_run(ctx: Context, workflow: Workflow, *, is_draft: bool = False) -> WorkflowVersion:
    """The published version, or for a trial the workflow as it is written down now."""
    if workflow.status is WorkflowStatus.published:
        found = await find_version(ctx, workflow.id, workflow.version)
        assert found is not None, "a published workflow has a version"
        return found
    if not is_draft:
        raise WorkflowNotPublished
    problems = await validation.problems_of(ctx, workflow)
    if problems:
        raise Invalid(problems)
    return await keep_version(ctx, workflow, workflow.version, is_draft=True)


async def duplicate(ctx: Context, workflow: Workflow) -> Workflow:
    """A draft with the same content."""
    copied = Workflow(
        name=f"{workflow.name[:93]} (copy)",
        created_by=ctx.principal.id,
        **{
            name: getattr(workflow, name)
            for name in ("description", "trigger", "nodes", "edges", "input_schema", "settings")
        },
    )
    await ctx.db.insert(copied)
    _tell(ctx, WorkflowCreated, copied)
    return copied


async def delete(ctx: Context, workflow: Workflow) -> None:
    """With its versions, schedules and executions; what runs is cancelled first."""
    await references.detach(ctx, REFERENCE, workflow.id)
    # Before the workflow is held: who ends a run holds the run first, and then counts it there.
    for (execution_id,) in await ctx.db.rows(_OPEN_EXECUTIONS, workflow_id=workflow.id):
        await cancel_execution(ctx, execution_id)
    held = await hold(ctx, workflow.id)
    await ctx.db.delete(held)
    _tell(ctx, WorkflowDeleted, held)


async def cancel_execution(ctx: Context, execution_id: str) -> WorkflowExecution | None:
    """The run, if this ended it."""
    run = await HeldRun.take(ctx, execution_id, RUNNING)
    if run is None:
        return None
    await run.end(RunStatus.cancelled, error=CANCELLED)
    await run.store()
    return run.execution


async def validate(ctx: Context, workflow: Workflow) -> WorkflowValidated:
    problems = await validation.problems_of(ctx, workflow)
    errors = [WorkflowProblem(validation.node_of(path), path, message) for path, message in problems.items()]
    return WorkflowValidated(not errors, errors)


async def hold(ctx: Context, workflow_id: str) -> Workflow:
    held = await ctx.db.lock(Workflow, workflow_id)
    if held is None:
        raise WorkflowNotFound
    return held


def _wanted(values: dict[str, Any]) -> dict[str, Any]:
    """The fields as they are stored, with what they are by default where null was given."""
    if "description" in values:
        values["description"] = values["description"] or ""
    if "trigger" in values:
        trigger = values["trigger"]
        values["trigger"] = msgspec.to_builtins(trigger) if trigger else {"type": "manual", "config": {}}
    if "settings" in values:
        values["settings"] = msgspec.to_builtins(values["settings"]) if values["settings"] else {}
    return values


def _check_schema(schema: dict[str, Any] | None) -> None:
    if schema is not None:
        compile_schema(schema, "input_schema")


def _tell(ctx: Context, kind: type[WorkflowEvent], workflow: Workflow) -> None:
    ctx.emit(
        kind(
            workflow_id=workflow.id,
            name=workflow.name,
            status=workflow.status,
            version=workflow.version,
        )
    )
