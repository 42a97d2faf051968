"""Creation, change, publication and deletion of workflows. An execution always runs a stored version."""

import msgspec
import sqlalchemy as sa

from retinue.kit.context import Context, references
from retinue.kit.db.statements import Statement
from retinue.kit.errors import Invalid, InvalidTransition
from retinue.kit.json_types import JsonObject
from retinue.kit.schema.base import sent_fields
from retinue.kit.schema.json_schema import compile_schema
from retinue.kit.text.header_masks import restore_masked_headers
from retinue.tenants.event_listeners import mark_listened_to
from retinue.workflows import schedules, unknown_keys, validation
from retinue.workflows.engine.cancel import cancel_execution
from retinue.workflows.engine.node_type import Problems
from retinue.workflows.errors import WorkflowNotFound
from retinue.workflows.events import (
    WorkflowCreated,
    WorkflowDeleted,
    WorkflowEvent,
    WorkflowPublished,
    WorkflowUpdated,
)
from retinue.workflows.models import (
    ENDED_STATUSES,
    Workflow,
    WorkflowExecution,
    WorkflowStatus,
)
from retinue.workflows.queries import latest_version
from retinue.workflows.schemas import (
    WorkflowContent,
    WorkflowCreate,
    WorkflowProblem,
    WorkflowUpdate,
    WorkflowValidated,
)
from retinue.workflows.versions import VERSIONED_FIELDS, store_version

REFERENCE = "workflow"
"""Target of a `kit.context.references.Reference`: referrers detach from a deleted workflow."""

CONTENT_FIELDS = ("name", "description", "trigger", "nodes", "edges", "input_schema", "settings", "ui")
"""Fields that editors write; the others tell what became of it."""

MAX_UI_BYTES = 64 * 1024

_TRANSITIONS: dict[WorkflowStatus, list[WorkflowStatus]] = {
    WorkflowStatus.draft: [WorkflowStatus.published, WorkflowStatus.archived],
    WorkflowStatus.published: [WorkflowStatus.draft, WorkflowStatus.archived],
    WorkflowStatus.archived: [WorkflowStatus.draft],
}

_executions = WorkflowExecution.__table__
_OPEN_EXECUTIONS = Statement(
    sa.select(_executions.c.id)
    .where(
        _executions.c.workflow_id == sa.bindparam("workflow_id"),
        _executions.c.status.not_in([sa.literal(status.value) for status in sorted(ENDED_STATUSES)]),
    )
    # Newest first: a child execution is locked before its parent, in the same order as when it ends.
    .order_by(_executions.c.id.desc())
)


async def create(ctx: Context, body: WorkflowCreate) -> Workflow:
    wanted = _normalize_fields(sent_fields(body))
    unknown_keys.check_written(ctx, wanted)
    workflow = Workflow(**wanted, created_by=ctx.principal.id)
    is_published = body.status == WorkflowStatus.published
    workflow.status = WorkflowStatus.draft
    _check_schema(workflow.input_schema)
    _check_ui(workflow.ui)
    await _check_nodes(ctx, workflow.nodes)
    await ctx.db.insert(workflow)
    _emit(ctx, WorkflowCreated, workflow)
    if is_published:
        await _publish(ctx, workflow)
    return workflow


async def update(ctx: Context, workflow: Workflow, body: WorkflowUpdate) -> Workflow:
    """Change the workflow; if it is published, store a new version, which later executions run."""
    locked = await lock_workflow(ctx, workflow.id)
    wanted = sent_fields(body)
    status = WorkflowStatus(wanted.pop("status", locked.status))
    changes = await read_changes(ctx, wanted, {name: getattr(locked, name) for name in CONTENT_FIELDS})
    if changes:
        await ctx.db.update(locked, **changes)
        stays_published = locked.status is status is WorkflowStatus.published
        # What only editors read is no reason for another version.
        if stays_published and changes.keys() != {"ui"}:
            problems = validation.problems_of_missing_values(
                changes.get("nodes", []), changes.get("edges", [])
            )
            await _apply_definition(ctx, locked, problems, has_changed=True)
        _emit(ctx, WorkflowUpdated, locked)
    if status is not locked.status:
        return await set_status(ctx, locked, status)
    return locked


async def read_changes(ctx: Context, sent: JsonObject, current: JsonObject) -> JsonObject:
    """Return the fields that differ from the current ones; raise if a draft may not contain them."""
    wanted = _normalize_fields(sent)
    if "nodes" in wanted:
        wanted["nodes"] = restore_masked_headers(wanted["nodes"], current["nodes"])
    changes = {name: value for name, value in wanted.items() if current[name] != value}
    unknown_keys.check_written(ctx, changes)
    _check_schema(changes.get("input_schema"))
    _check_ui(changes.get("ui", {}))
    await _check_nodes(ctx, changes.get("nodes", []))
    return changes


async def set_status(ctx: Context, workflow: Workflow, status: WorkflowStatus) -> Workflow:
    """Change the status; setting the current status again changes nothing."""
    locked = await lock_workflow(ctx, workflow.id)
    if locked.status is status:
        return locked
    allowed = _TRANSITIONS[locked.status]
    if status not in allowed:
        raise InvalidTransition(locked.status, status, [one.value for one in allowed])
    if status is WorkflowStatus.published:
        await _publish(ctx, locked)
        return locked
    await ctx.db.update(locked, status=status, listens=False)
    _emit(ctx, WorkflowUpdated, locked)
    return locked


async def _publish(ctx: Context, workflow: Workflow) -> None:
    problems = validation.problems_on_publishing(workflow)
    await ctx.db.update(workflow, status=WorkflowStatus.published, published_at=ctx.now)
    await _apply_definition(ctx, workflow, problems, has_changed=False)
    _emit(ctx, WorkflowPublished, workflow)


async def _apply_definition(
    ctx: Context, workflow: Workflow, known_problems: Problems, *, has_changed: bool
) -> None:
    """Validate the workflow, store its content as the version to run, and apply its trigger."""
    problems = known_problems | await validation.problems_of(ctx, workflow)
    if problems:
        raise Invalid(problems)
    latest = await latest_version(ctx, workflow.id)
    if latest is None:
        await store_version(ctx, workflow, workflow.version)
    elif has_changed or any(getattr(latest, name) != getattr(workflow, name) for name in VERSIONED_FIELDS):
        await ctx.db.update(workflow, version=latest.version + 1)
        await store_version(ctx, workflow, workflow.version)
    listens = workflow.trigger["type"] == "event"
    if listens != workflow.listens:
        await ctx.db.update(workflow, listens=listens)
    if listens:
        await mark_listened_to(ctx)
    await schedules.sync_trigger_schedule(ctx, workflow)


async def _check_nodes(ctx: Context, nodes: list[JsonObject]) -> None:
    problems = await validation.problems_on_writing(ctx, nodes)
    if problems:
        raise Invalid(problems)


async def duplicate(ctx: Context, workflow: Workflow) -> Workflow:
    """Create a draft with the same content."""
    copied = Workflow(
        name=f"{workflow.name[:93]} (copy)",
        created_by=ctx.principal.id,
        **{name: getattr(workflow, name) for name in CONTENT_FIELDS if name != "name"},
    )
    await ctx.db.insert(copied)
    _emit(ctx, WorkflowCreated, copied)
    return copied


async def delete(ctx: Context, workflow: Workflow) -> None:
    """Delete the workflow with its versions, schedules and executions; open executions are cancelled."""
    await references.detach_referrers(ctx, REFERENCE, workflow.id)
    # Before locking the workflow: ending an execution locks the execution first, then updates the workflow.
    for (execution_id,) in await ctx.db.rows(_OPEN_EXECUTIONS, workflow_id=workflow.id):
        await cancel_execution(ctx, execution_id)
    locked = await lock_workflow(ctx, workflow.id)
    await ctx.db.delete(locked)
    _emit(ctx, WorkflowDeleted, locked)


async def validate(ctx: Context, workflow: Workflow) -> WorkflowValidated:
    problems = validation.problems_on_publishing(workflow) | await validation.problems_of(ctx, workflow)
    ids = {node["id"] for node in workflow.nodes if isinstance(node.get("id"), str)}
    errors = []
    for path, message in problems.items():
        # A node without an id is named by its position, which is no id.
        node_id = validation.find_node_id(path)
        errors.append(WorkflowProblem(node_id if node_id in ids else None, path, message))
    return WorkflowValidated(not errors, errors)


async def validate_content(ctx: Context, content: WorkflowContent) -> WorkflowValidated:
    """Return what would keep a workflow with this content from being published."""
    unknown_keys.report_unknown_keys(ctx, content.nodes, content.edges)
    return await validate(ctx, Workflow(name="", nodes=content.nodes, edges=content.edges))


async def lock_workflow(ctx: Context, workflow_id: str) -> Workflow:
    locked = await ctx.db.lock(Workflow, workflow_id)
    if locked is None:
        raise WorkflowNotFound
    return locked


def _normalize_fields(values: JsonObject) -> JsonObject:
    """Return the fields as they are stored, with the default in place of null."""
    if "description" in values:
        values["description"] = values["description"] or ""
    if "trigger" in values:
        trigger = values["trigger"]
        values["trigger"] = msgspec.to_builtins(trigger) if trigger else {"type": "manual", "config": {}}
    if "settings" in values:
        values["settings"] = msgspec.to_builtins(values["settings"]) if values["settings"] else {}
    if "ui" in values:
        values["ui"] = values["ui"] or {}
    return values


def _check_ui(ui: JsonObject) -> None:
    if len(msgspec.json.encode(ui)) > MAX_UI_BYTES:
        raise Invalid({"ui": "must not be larger than 64 KiB as JSON"})


def _check_schema(schema: JsonObject | None) -> None:
    if schema is not None:
        compile_schema(schema, "input_schema")


def _emit(ctx: Context, kind: type[WorkflowEvent], workflow: Workflow) -> None:
    ctx.emit(
        kind(
            workflow_id=workflow.id,
            name=workflow.name,
            status=workflow.status,
            version=workflow.version,
        )
    )
