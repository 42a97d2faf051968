from collections import OrderedDict
from collections.abc import Iterable
from typing import Any

import msgspec
import sqlalchemy as sa

from retinue.kit.context import Context
from retinue.kit.db.one_of import listed, one_of
from retinue.kit.db.statements import Statement, reading
from retinue.kit.lists import Listing, escape_like
from retinue.kit.references import Referrer
from retinue.workflows.definition import Definition, read_definition
from retinue.workflows.models import (
    WHOLE,
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
    WorkflowExecution, filters=("status",), from_={"from_": "created_at"}, until={"to": "created_at"}
)

_MOST_DEFINITIONS = 500

_runs = NodeRun.__table__
_OUTPUTS: Statement[Any] = Statement(
    sa.select(_runs.c.node_id, _runs.c.output).where(
        _runs.c.execution_id == sa.bindparam("execution_id"),
        _runs.c.item == sa.literal(WHOLE),
        one_of(_runs.c.node_id, "node_ids"),
    )
)

_versions, _workflows = WorkflowVersion.__table__, Workflow.__table__
VERSIONS = Listing(
    WorkflowVersion, only=(_versions.c.is_draft == sa.false(),), sorts=("version",), default_sort="-version"
)
_LATEST: Statement[WorkflowVersion] = reading(
    WorkflowVersion,
    sa.select(_versions)
    .where(_versions.c.workflow_id == sa.bindparam("workflow_id"), _versions.c.is_draft == sa.false())
    .order_by(_versions.c.version.desc())
    .limit(sa.literal(1)),
)
_USERS: Statement[Referrer] = Statement(
    sa.select(_workflows.c.id, _workflows.c.name)
    .where(
        _workflows.c.status == sa.literal(WorkflowStatus.published.value),
        sa.cast(_workflows.c.nodes, sa.Text()).like(sa.bindparam("used", type_=sa.Text()), escape="\\"),
    )
    .order_by(_workflows.c.created_at, _workflows.c.id),
    lambda row: Referrer(row[0], row[1]),
)

# A version never changes, so nothing has to be invalidated.
_definitions: OrderedDict[tuple[str, str], Definition] = OrderedDict()


async def definition_of(ctx: Context, version_id: str) -> Definition:
    key = (ctx.tenant_id, version_id)
    found = _definitions.get(key)
    if found is None:
        version = await ctx.db.get(WorkflowVersion, version_id)
        assert version is not None, "a version lives as long as its executions"
        found = _definitions[key] = read_definition(version.nodes, version.edges)
        if len(_definitions) > _MOST_DEFINITIONS:
            _definitions.popitem(last=False)
    return found


async def find_run(ctx: Context, execution_id: str, node_id: str, item: int = WHOLE) -> NodeRun | None:
    return await ctx.db.find(NodeRun, execution_id=execution_id, node_id=node_id, item=item)


async def outputs_of(ctx: Context, execution_id: str, node_ids: Iterable[str]) -> dict[str, Any]:
    rows = await ctx.db.rows(_OUTPUTS, execution_id=execution_id, node_ids=listed(sorted(node_ids)))
    return {node_id: None if output is None else msgspec.json.decode(output) for node_id, output in rows}


async def runs_of(ctx: Context, execution_id: str) -> list[NodeRun]:
    return await ctx.db.all(NodeRun, order_by=("started_at", "item", "id"), execution_id=execution_id)


async def find_version(ctx: Context, workflow_id: str, version: int) -> WorkflowVersion | None:
    return await ctx.db.find(WorkflowVersion, workflow_id=workflow_id, version=version, is_draft=False)


async def latest_version(ctx: Context, workflow_id: str) -> WorkflowVersion | None:
    return await ctx.db.first(_LATEST, workflow_id=workflow_id)


async def find_users(ctx: Context, id: str) -> list[Referrer]:
    """Published workflows in whose nodes this id stands; ids are long enough to stand for one thing."""
    return await ctx.db.rows(_USERS, used=f'%"{escape_like(id)}"%')


async def keep_reference(_ctx: Context, _id: str) -> None:
    """A workflow names what it uses, and says so when it is not there any more."""
