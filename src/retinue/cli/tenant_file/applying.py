"""Making a tenant what a document says, by the same services that the API calls, in one transaction.

First everything that is new is made, empty, so that all have an id; then each gets its content; what is to
go goes last, when nothing refers to it any more.
"""

from collections.abc import Awaitable, Callable
from typing import Any

import msgspec

from retinue.agents import service as agents
from retinue.agents.models import AgentStatus
from retinue.agents.schemas import AgentCreate
from retinue.cli.tenant_file import filling_agents, filling_forms, filling_tables
from retinue.cli.tenant_file.planning import Step
from retinue.cli.tenant_file.references import Names
from retinue.forms import service as forms
from retinue.kit.context import Context
from retinue.kit.errors import Invalid, RetinueError
from retinue.tables import service as tables
from retinue.tables.schemas import TableCreate
from retinue.tools import service as tools
from retinue.tools.models import Tool
from retinue.tools.schemas import ToolCreate, ToolUpdate
from retinue.workflows import service as workflows
from retinue.workflows.models import Workflow, WorkflowStatus
from retinue.workflows.schemas import WorkflowCreate, WorkflowUpdate


async def apply(ctx: Context, names: Names, steps: list[Step]) -> None:
    for step in steps:
        if step.action == "create":
            made = await _told(step, _MAKE[step.section](ctx, names, step))
            names.add(step.section, step.name, made)
    for step in steps:
        if step.action != "delete":
            await _told(step, _FILL[step.section](ctx, names, step))
    for step in reversed(steps):
        if step.action == "delete":
            await _told(step, _DELETE[step.section](ctx, names.records[step.section][step.name]))


async def _told(step: Step, doing: Awaitable[Any]) -> Any:
    """What is refused is told with the object that it is about."""
    where = f"{step.section}/{step.name}"
    try:
        return await doing
    except Invalid as error:
        raise Invalid({f"{where}: {path}": text for path, text in (error.details or {}).items()}) from None
    except RetinueError as error:
        raise Invalid({where: error.message}) from error


def read(shape: type[Any], values: dict[str, Any]) -> Any:
    try:
        return msgspec.convert(values, shape)
    except msgspec.ValidationError as error:
        raise Invalid({"": str(error)}) from None


async def _make_table(ctx: Context, _names: Names, step: Step) -> Any:
    part = step.part
    return await tables.create(
        ctx, read(TableCreate, {"name": part.name, "slug": step.name, "description": part.description})
    )


def _tool_fields(names: Names, step: Step) -> dict[str, Any]:
    wanted = {
        name: getattr(step.part, name) for name in ToolCreate.__struct_fields__ if hasattr(step.part, name)
    }
    return {
        **names.resolved(msgspec.to_builtins(wanted), ""),
        "slug": step.name,
        "auth_config": _credential(names, step),
    }


def _credential(names: Names, step: Step) -> dict[str, Any] | None:
    credential = names.resolved(step.part.credential, "credential")
    return None if credential is None else {"credential_id": credential}


async def _make_tool(ctx: Context, names: Names, step: Step) -> Any:
    return await tools.create(ctx, read(ToolCreate, _tool_fields(names, step)))


async def _fill_tool(ctx: Context, names: Names, step: Step) -> None:
    if step.action == "create":
        return
    tool: Tool = names.records["tools"][step.name]
    wanted = _tool_fields(names, step)
    if tool.credential_id == (wanted["auth_config"] or {}).get("credential_id"):
        # Entered again, secrets of the tool's own would be gone.
        del wanted["auth_config"]
    wanted["config"] = _with_nulls(tool.config, wanted["config"])
    await tools.update(ctx, tool, read(ToolUpdate, wanted))


def _with_nulls(before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    """An update goes over a configuration by key, so what is gone must be said."""
    result = {**dict.fromkeys(before), **after}
    old, new = before.get("endpoints"), after.get("endpoints")
    if isinstance(old, dict) and isinstance(new, dict):
        result["endpoints"] = {**dict.fromkeys(old), **new}
    return result


async def _make_agent(ctx: Context, _names: Names, step: Step) -> Any:
    part = step.part
    fields = {
        "name": step.name,
        "primary_model": part.primary_model,
        "system_prompt": part.system_prompt,
        "description": part.description,
        "fallback_models": part.fallback_models,
        "temperature": part.temperature,
        "max_tokens": part.max_tokens,
    }
    return await agents.create(ctx, read(AgentCreate, fields))


async def _fill_agent(ctx: Context, names: Names, step: Step) -> None:
    agent = names.records["agents"][step.name]
    await filling_agents.fill(ctx, names, agent, step.part)
    held = await agents.hold(ctx, agent.id)
    wanted = read(AgentStatus, step.part.status)
    if held.status is AgentStatus.archived and wanted is AgentStatus.published:
        held = await agents.change(ctx, held, status=AgentStatus.draft)
    await agents.change(ctx, held, status=wanted)


async def _make_workflow(ctx: Context, _names: Names, step: Step) -> Any:
    return await workflows.create(ctx, read(WorkflowCreate, {"name": step.name}))


async def _fill_workflow(ctx: Context, names: Names, step: Step) -> None:
    workflow: Workflow = names.records["workflows"][step.name]
    wanted = names.resolved(msgspec.to_builtins(msgspec.structs.asdict(step.part)), "")
    status = read(WorkflowStatus, wanted["status"])
    if workflow.status is WorkflowStatus.archived and status is WorkflowStatus.published:
        await workflows.enter(ctx, workflow, WorkflowStatus.draft)
    await workflows.update(ctx, workflow, read(WorkflowUpdate, wanted))


_MAKE: dict[str, Callable[[Context, Names, Step], Awaitable[Any]]] = {
    "data_tables": _make_table,
    "tools": _make_tool,
    "agents": _make_agent,
    "workflows": _make_workflow,
    "forms": filling_forms.make,
}
_FILL: dict[str, Callable[[Context, Names, Step], Awaitable[None]]] = {
    "data_tables": filling_tables.fill,
    "tools": _fill_tool,
    "agents": _fill_agent,
    "workflows": _fill_workflow,
    "forms": filling_forms.fill,
}
_DELETE: dict[str, Callable[[Context, Any], Awaitable[None]]] = {
    "data_tables": tables.delete,
    "tools": tools.delete,
    "agents": agents.delete,
    "workflows": workflows.delete,
    "forms": forms.delete,
}
