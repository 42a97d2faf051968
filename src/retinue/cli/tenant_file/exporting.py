"""The tenant as a document."""

from typing import Any

import msgspec

from retinue.agents.models import Agent, RelationshipType
from retinue.agents.queries import sub_agents_of, tools_of
from retinue.cli.tenant_file.document import (
    VERSION,
    AgentPart,
    AttachedPart,
    ColumnPart,
    Document,
    FormPart,
    FormTablePart,
    LogPart,
    ModelPart,
    SubAgentPart,
    TablePart,
    ToolPart,
    WebSearchPart,
    WorkflowPart,
)
from retinue.cli.tenant_file.references import Names
from retinue.forms.models import Form
from retinue.kit.context import Context
from retinue.tables.models import DataTable
from retinue.tools.models import Tool
from retinue.workflows.models import Workflow


async def export(ctx: Context, names: Names) -> Document:
    known = names.records
    return Document(
        retinue=VERSION,
        data_tables={
            slug: _table(names, known["data_tables"][slug]) for slug in sorted(known["data_tables"])
        },
        tools={slug: _tool(names, known["tools"][slug]) for slug in sorted(known["tools"])},
        agents={name: await _agent(ctx, names, known["agents"][name]) for name in sorted(known["agents"])},
        workflows={name: _workflow(names, known["workflows"][name]) for name in sorted(known["workflows"])},
        forms={name: _form(names, known["forms"][name]) for name in sorted(known["forms"])},
    )


def _filled(part: type[Any], source: Any, **more: Any) -> Any:
    """The fields of a part from a record, as plain values."""
    taken = {name: getattr(source, name) for name in part.__struct_fields__ if name not in more}
    return msgspec.convert({**msgspec.to_builtins(taken), **more}, part)


def _table(names: Names, table: DataTable) -> TablePart:
    columns = [
        _filled(ColumnPart, column, table=names.named(column.table_id), options=list(column.options))
        for column in table.columns
    ]
    return TablePart(name=table.name, description=table.description, columns=columns)


def _tool(names: Names, tool: Tool) -> ToolPart:
    made: ToolPart = _filled(
        ToolPart,
        tool,
        config=names.named(tool.config),
        credential=names.named(tool.credential_id),
        own_secrets=tool.auth_config is not None,
        approval=names.named(msgspec.to_builtins(tool.approval)),
    )
    return made


async def _agent(ctx: Context, names: Names, agent: Agent) -> AgentPart:
    tools = [
        _filled(
            AttachedPart,
            one.attachment,
            tool=names.named(one.tool.id),
            config_override=names.named(one.attachment.config_override),
        )
        for one in await tools_of(ctx, agent)
    ]
    sub_agents = []
    for one in await sub_agents_of(ctx, agent):
        is_direct = one.relation.relationship_type is RelationshipType.direct
        sub_agents.append(
            _filled(
                SubAgentPart,
                one.relation,
                agent=None if is_direct else names.named(one.agent.id),
                name=one.agent.name if is_direct else None,
                direct=_filled(ModelPart, one.agent) if is_direct else None,
            )
        )
    credential_id = names.named(agent.web_search.credential_id)
    made: AgentPart = _filled(
        AgentPart,
        agent,
        web_search=_filled(WebSearchPart, agent.web_search, credential_id=credential_id),
        log_settings=_filled(LogPart, agent.log_settings),
        tools=sorted(tools, key=lambda one: (one.display_order, one.tool)),
        sub_agents=sorted(sub_agents, key=lambda one: (one.agent or "", one.name or "")),
    )
    return made


def _workflow(names: Names, workflow: Workflow) -> WorkflowPart:
    settings = {name: value for name, value in workflow.settings.items() if value is not None}
    made: WorkflowPart = _filled(
        WorkflowPart,
        workflow,
        trigger=names.named(workflow.trigger),
        nodes=names.named(workflow.nodes),
        edges=names.named(workflow.edges),
        settings=names.named(settings),
    )
    return made


def _form(names: Names, form: Form) -> FormPart:
    config = form.data_table_config
    made: FormPart = _filled(
        FormPart,
        form,
        fields=names.named(form.fields),
        settings=names.named(form.settings),
        branding=names.named(form.branding),
        workflow=names.named(form.workflow_id),
        data_table=None
        if config is None
        else _filled(FormTablePart, config, table=names.named(config.table_id)),
    )
    return made
