"""Exports a tenant as a document."""

from typing import Any

import msgspec

from retinue.agents.models import Agent, RelationshipType
from retinue.agents.queries import load_sub_agents, load_tools
from retinue.cli.tenant_file.document import (
    FORMAT_VERSION,
    AgentPart,
    AttachedPart,
    ColumnPart,
    FormPart,
    FormTablePart,
    LogPart,
    ModelPart,
    SubAgentPart,
    TablePart,
    TenantDocument,
    ToolPart,
    WebSearchPart,
    WorkflowPart,
)
from retinue.cli.tenant_file.references import ReferenceIndex
from retinue.forms.models import Form
from retinue.kit.context import Context
from retinue.tables.models import DataTable
from retinue.tools.models import Tool
from retinue.workflows.models import Workflow


async def export(ctx: Context, names: ReferenceIndex) -> TenantDocument:
    records = names.records
    return TenantDocument(
        retinue=FORMAT_VERSION,
        data_tables={
            slug: _table(names, records["data_tables"][slug]) for slug in sorted(records["data_tables"])
        },
        tools={slug: _tool(names, records["tools"][slug]) for slug in sorted(records["tools"])},
        agents={
            name: await _agent(ctx, names, records["agents"][name]) for name in sorted(records["agents"])
        },
        workflows={
            name: _workflow(names, records["workflows"][name]) for name in sorted(records["workflows"])
        },
        forms={name: _form(names, records["forms"][name]) for name in sorted(records["forms"])},
    )


def _fill_part(part: type[Any], source: object, **overrides: Any) -> Any:
    """Fill the fields of a part from a record, as plain values."""
    values = {name: getattr(source, name) for name in part.__struct_fields__ if name not in overrides}
    return msgspec.convert({**msgspec.to_builtins(values), **overrides}, part)


def _table(names: ReferenceIndex, table: DataTable) -> TablePart:
    columns = [
        _fill_part(
            ColumnPart, column, table=names.to_references(column.table_id), options=list(column.options)
        )
        for column in table.columns
    ]
    return TablePart(name=table.name, description=table.description, columns=columns)


def _tool(names: ReferenceIndex, tool: Tool) -> ToolPart:
    part: ToolPart = _fill_part(
        ToolPart,
        tool,
        config=names.to_references(tool.config),
        credential=names.to_references(tool.credential_id),
        own_secrets=tool.auth_config is not None,
        approval=names.to_references(msgspec.to_builtins(tool.approval)),
    )
    return part


async def _agent(ctx: Context, names: ReferenceIndex, agent: Agent) -> AgentPart:
    tools = [
        _fill_part(
            AttachedPart,
            attached_tool.attachment,
            tool=names.to_references(attached_tool.tool.id),
            config_override=names.to_references(attached_tool.attachment.config_override),
        )
        for attached_tool in await load_tools(ctx, agent)
    ]
    sub_agents = []
    for child in await load_sub_agents(ctx, agent):
        is_direct = child.relation.relationship_type is RelationshipType.direct
        sub_agents.append(
            _fill_part(
                SubAgentPart,
                child.relation,
                agent=None if is_direct else names.to_references(child.agent.id),
                name=child.agent.name if is_direct else None,
                direct=_fill_part(ModelPart, child.agent) if is_direct else None,
            )
        )
    credential_id = names.to_references(agent.web_search.credential_id)
    part: AgentPart = _fill_part(
        AgentPart,
        agent,
        web_search=_fill_part(WebSearchPart, agent.web_search, credential_id=credential_id),
        log_settings=_fill_part(LogPart, agent.log_settings),
        tools=sorted(tools, key=lambda tool: (tool.display_order, tool.tool)),
        sub_agents=sorted(sub_agents, key=lambda child: (child.agent or "", child.name or "")),
    )
    return part


def _workflow(names: ReferenceIndex, workflow: Workflow) -> WorkflowPart:
    settings = {name: value for name, value in workflow.settings.items() if value is not None}
    part: WorkflowPart = _fill_part(
        WorkflowPart,
        workflow,
        trigger=names.to_references(workflow.trigger),
        nodes=names.to_references(workflow.nodes),
        edges=names.to_references(workflow.edges),
        settings=names.to_references(settings),
    )
    return part


def _form(names: ReferenceIndex, form: Form) -> FormPart:
    config = form.data_table_config
    part: FormPart = _fill_part(
        FormPart,
        form,
        fields=names.to_references(form.fields),
        settings=names.to_references(form.settings),
        branding=names.to_references(form.branding),
        workflow=names.to_references(form.workflow_id),
        data_table=None
        if config is None
        else _fill_part(FormTablePart, config, table=names.to_references(config.table_id)),
    )
    return part
