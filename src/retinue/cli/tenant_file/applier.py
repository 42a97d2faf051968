"""Changes a tenant to match a document in one transaction, through the services that the API uses.

New objects are created empty first, so that all have an id; then every object gets its content; deletions
come last, when nothing refers to the objects any more.
"""

from collections.abc import Awaitable, Callable
from typing import Any

import msgspec

from retinue.agents import service as agents
from retinue.agents.models import AgentStatus
from retinue.agents.schemas import AgentCreate
from retinue.cli.tenant_file import agent_content, form_content, table_content
from retinue.cli.tenant_file.document import convert_values
from retinue.cli.tenant_file.planner import PlannedChange
from retinue.cli.tenant_file.references import ReferenceIndex
from retinue.forms import service as forms
from retinue.kit.context import Context
from retinue.kit.errors import Invalid, RetinueError
from retinue.kit.json_types import JsonObject
from retinue.tables import service as tables
from retinue.tables.schemas import TableCreate
from retinue.tools import service as tools
from retinue.tools.models import Tool
from retinue.tools.schemas import ToolCreate, ToolUpdate
from retinue.workflows import service as workflows
from retinue.workflows.models import Workflow, WorkflowStatus
from retinue.workflows.schemas import WorkflowCreate, WorkflowUpdate


async def apply(ctx: Context, names: ReferenceIndex, steps: list[PlannedChange]) -> None:
    for step in steps:
        if step.action == "create":
            record = await _with_location(step, _CREATE[step.section](ctx, names, step))
            names.add(step.section, step.name, record)
    for step in steps:
        if step.action != "delete":
            await _with_location(step, _UPDATE[step.section](ctx, names, step))
    for step in reversed(steps):
        if step.action == "delete":
            await _with_location(step, _DELETE[step.section](ctx, names.records[step.section][step.name]))


async def _with_location(step: PlannedChange, operation: Awaitable[Any]) -> Any:
    """Await the operation; errors are reported with the object they concern."""
    location = f"{step.section}/{step.name}"
    try:
        return await operation
    except Invalid as error:
        raise Invalid({f"{location}: {path}": text for path, text in (error.details or {}).items()}) from None
    except RetinueError as error:
        raise Invalid({location: error.message}) from error


async def _make_table(ctx: Context, _names: ReferenceIndex, step: PlannedChange) -> Any:
    part = step.part
    return await tables.create(
        ctx,
        convert_values(TableCreate, {"name": part.name, "slug": step.name, "description": part.description}),
    )


def _tool_fields(names: ReferenceIndex, step: PlannedChange) -> JsonObject:
    wanted = {
        name: getattr(step.part, name) for name in ToolCreate.__struct_fields__ if hasattr(step.part, name)
    }
    return {
        **names.to_ids(msgspec.to_builtins(wanted), ""),
        "slug": step.name,
        "auth_config": _credential(names, step),
    }


def _credential(names: ReferenceIndex, step: PlannedChange) -> JsonObject | None:
    credential = names.to_ids(step.part.credential, "credential")
    return None if credential is None else {"credential_id": credential}


async def _make_tool(ctx: Context, names: ReferenceIndex, step: PlannedChange) -> Any:
    return await tools.create(ctx, convert_values(ToolCreate, _tool_fields(names, step)))


async def _fill_tool(ctx: Context, names: ReferenceIndex, step: PlannedChange) -> None:
    if step.action == "create":
        return
    tool: Tool = names.records["tools"][step.name]
    wanted = _tool_fields(names, step)
    if tool.credential_id == (wanted["auth_config"] or {}).get("credential_id"):
        # Sending it again would delete the tool's own secrets.
        del wanted["auth_config"]
    wanted["config"] = _with_nulls(tool.config, wanted["config"])
    await tools.update(ctx, tool, convert_values(ToolUpdate, wanted))


def _with_nulls(before: JsonObject, after: JsonObject) -> JsonObject:
    """Return the new configuration with null for removed keys, because an update merges by key."""
    result = {**dict.fromkeys(before), **after}
    old, new = before.get("endpoints"), after.get("endpoints")
    if isinstance(old, dict) and isinstance(new, dict):
        result["endpoints"] = {**dict.fromkeys(old), **new}
    return result


async def _make_agent(ctx: Context, _names: ReferenceIndex, step: PlannedChange) -> Any:
    part = step.part
    fields = {
        "name": step.name,
        "primary_model": part.primary_model,
        "system_prompt": part.system_prompt,
        "description": part.description,
        "fallback_models": part.fallback_models,
        "temperature": part.temperature,
        "max_tokens": part.max_tokens,
        "cache_ttl": part.cache_ttl,
        "timeouts": part.timeouts,
        "output_schema": part.output_schema,
        "reasoning_effort": part.reasoning_effort,
        "tool_search": part.tool_search,
        "max_context_tokens": part.max_context_tokens,
        "compaction_model": part.compaction_model,
    }
    return await agents.create(ctx, convert_values(AgentCreate, fields))


async def _fill_agent(ctx: Context, names: ReferenceIndex, step: PlannedChange) -> None:
    agent = names.records["agents"][step.name]
    await agent_content.apply_content(ctx, names, agent, step.part)
    locked = await agents.lock_agent(ctx, agent.id)
    wanted = convert_values(AgentStatus, step.part.status, "status")
    if locked.status is AgentStatus.archived and wanted is AgentStatus.published:
        locked = await agents.change(ctx, locked, status=AgentStatus.draft)
    await agents.change(ctx, locked, status=wanted)


async def _make_workflow(ctx: Context, _names: ReferenceIndex, step: PlannedChange) -> Any:
    return await workflows.create(ctx, convert_values(WorkflowCreate, {"name": step.name}))


async def _fill_workflow(ctx: Context, names: ReferenceIndex, step: PlannedChange) -> None:
    workflow: Workflow = names.records["workflows"][step.name]
    wanted = names.to_ids(msgspec.to_builtins(msgspec.structs.asdict(step.part)), "")
    status = convert_values(WorkflowStatus, wanted["status"], "status")
    if workflow.status is WorkflowStatus.archived and status is WorkflowStatus.published:
        await workflows.set_status(ctx, workflow, WorkflowStatus.draft)
    await workflows.update(ctx, workflow, convert_values(WorkflowUpdate, wanted))


_CREATE: dict[str, Callable[[Context, ReferenceIndex, PlannedChange], Awaitable[Any]]] = {
    "data_tables": _make_table,
    "tools": _make_tool,
    "agents": _make_agent,
    "workflows": _make_workflow,
    "forms": form_content.make,
}
_UPDATE: dict[str, Callable[[Context, ReferenceIndex, PlannedChange], Awaitable[None]]] = {
    "data_tables": table_content.apply_content,
    "tools": _fill_tool,
    "agents": _fill_agent,
    "workflows": _fill_workflow,
    "forms": form_content.apply_content,
}
_DELETE: dict[str, Callable[[Context, Any], Awaitable[None]]] = {
    "data_tables": tables.delete,
    "tools": tools.delete,
    "agents": agents.delete,
    "workflows": workflows.delete,
    "forms": forms.delete,
}
