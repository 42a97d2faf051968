from collections import OrderedDict
from collections.abc import Iterable

import msgspec
import sqlalchemy as sa

from retinue.kit.context import Context
from retinue.kit.context.references import Referrer
from retinue.kit.db.in_list import in_list, list_parameter
from retinue.kit.db.statements import Statement, record_statement
from retinue.kit.db.text_match import escape_like
from retinue.kit.json_types import JsonObject
from retinue.kit.lists import Listing
from retinue.workflows.definition import Definition, parse_definition
from retinue.workflows.errors import WorkflowExecutionNotFound
from retinue.workflows.models import (
    WHOLE_NODE,
    NodeRun,
    Workflow,
    WorkflowExecution,
    WorkflowStatus,
    WorkflowVersion,
)

WORKFLOWS = Listing(
    Workflow,
    searches=("name", "description"),
    sorts=("created_at", "updated_at", "name", "status", "version", "published_at", "execution_count"),
    filters=("status",),
)
EXECUTIONS = Listing(
    WorkflowExecution,
    filters=("status", "trigger"),
    from_={"from_": "created_at"},
    until={"to": "created_at"},
)

_MAX_CACHED_DEFINITIONS = 500

_runs = NodeRun.__table__
_OUTPUTS = Statement(
    sa.select(_runs.c.node_id, _runs.c.output).where(
        _runs.c.execution_id == sa.bindparam("execution_id"),
        _runs.c.item == sa.literal(WHOLE_NODE),
        in_list(_runs.c.node_id, "node_ids"),
    )
)

_versions, _workflows = WorkflowVersion.__table__, Workflow.__table__
VERSIONS = Listing(
    WorkflowVersion, only=(_versions.c.is_draft == sa.false(),), sorts=("version",), default_sort="-version"
)
_LATEST_VERSION: Statement[WorkflowVersion] = record_statement(
    WorkflowVersion,
    sa.select(_versions)
    .where(_versions.c.workflow_id == sa.bindparam("workflow_id"), _versions.c.is_draft == sa.false())
    .order_by(_versions.c.version.desc())
    .limit(sa.literal(1)),
)
_REFERRING_WORKFLOWS: Statement[Referrer] = Statement(
    sa.select(_workflows.c.id, _workflows.c.name)
    .where(
        _workflows.c.status == sa.literal(WorkflowStatus.published.value),
        sa.cast(_workflows.c.nodes, sa.Text()).like(sa.bindparam("used", type_=sa.Text()), escape="\\"),
    )
    .order_by(_workflows.c.created_at, _workflows.c.id),
    lambda row: Referrer(row[0], row[1]),
)

# A version never changes, so nothing has to be invalidated.
_definition_cache: OrderedDict[tuple[str, str], Definition] = OrderedDict()


async def load_definition(ctx: Context, version_id: str) -> Definition:
    key = (ctx.tenant_id, version_id)
    definition = _definition_cache.get(key)
    if definition is None:
        version = await ctx.db.get(WorkflowVersion, version_id)
        if version is None:  # deleted with its executions since one of them was read
            raise WorkflowExecutionNotFound
        definition = _definition_cache[key] = parse_definition(version.nodes, version.edges)
        if len(_definition_cache) > _MAX_CACHED_DEFINITIONS:
            _definition_cache.popitem(last=False)
    return definition


async def find_node_run(
    ctx: Context, execution_id: str, node_id: str, item: int = WHOLE_NODE
) -> NodeRun | None:
    return await ctx.db.find(NodeRun, execution_id=execution_id, node_id=node_id, item=item)


async def load_outputs(ctx: Context, execution_id: str, node_ids: Iterable[str]) -> JsonObject:
    rows = await ctx.db.rows(_OUTPUTS, execution_id=execution_id, node_ids=list_parameter(sorted(node_ids)))
    return {node_id: None if output is None else msgspec.json.decode(output) for node_id, output in rows}


async def load_node_runs(ctx: Context, execution_id: str) -> list[NodeRun]:
    return await ctx.db.all(NodeRun, order_by=("started_at", "item", "id"), execution_id=execution_id)


async def find_version(ctx: Context, workflow_id: str, version: int) -> WorkflowVersion | None:
    return await ctx.db.find(WorkflowVersion, workflow_id=workflow_id, version=version, is_draft=False)


async def latest_version(ctx: Context, workflow_id: str) -> WorkflowVersion | None:
    return await ctx.db.first(_LATEST_VERSION, workflow_id=workflow_id)


async def find_referring_workflows(ctx: Context, id: str) -> list[Referrer]:
    """Return the published workflows whose nodes contain this id; ids are unique enough for a text search."""
    return await ctx.db.rows(_REFERRING_WORKFLOWS, used=f'%"{escape_like(id)}"%')


async def keep_reference(_ctx: Context, _id: str) -> None:
    """Do nothing: a workflow keeps the id of a deleted record, and the node that uses it fails."""
