from collections.abc import Callable
from typing import Any, TypeVar

import msgspec
import sqlalchemy as sa

from retinue.agents.models import Agent, AgentStatus, AgentTool, AgentVersion, SubAgent
from retinue.kit.context import Context
from retinue.kit.context.references import Referrer
from retinue.kit.db.models import Record
from retinue.kit.db.statements import Statement, row_reader
from retinue.kit.lists import Listing
from retinue.tenants.models import Tenant
from retinue.tools.models import Tool

_agents, _attachments, _relations = Agent.__table__, AgentTool.__table__, SubAgent.__table__
_tools = Tool.__table__

AGENTS = Listing(
    Agent,
    searches=("name",),
    sorts=("created_at", "updated_at", "name", "status", "primary_model"),
    filters=("status", "primary_model"),
    only=(_agents.c.parent_id.is_(None),),
)
VERSIONS = Listing(AgentVersion, sorts=("version",), default_sort="-version")


class AttachedTool(msgspec.Struct, frozen=True):
    attachment: AgentTool
    tool: Tool

    @property
    def requires_approval(self) -> bool:
        return self.tool.requires_approval or self.attachment.requires_approval


class AttachedAgent(msgspec.Struct, frozen=True):
    relation: SubAgent
    agent: Agent


A = TypeVar("A")


def _pair_reader(
    make: Callable[[Any, Any], A], first: type[Record], second: type[Record]
) -> Callable[[Any], A]:
    """Return a reader for rows that hold two records side by side."""
    width = len(first.__shape__.names)
    read_first, read_second = row_reader(first), row_reader(second)
    return lambda row: make(read_first(row[:width]), read_second(row[width:]))


_ATTACHED_TOOLS = (
    sa.select(_attachments, _tools)
    .join_from(_attachments, _tools, _tools.c.id == _attachments.c.tool_id)
    .where(_attachments.c.agent_id == sa.bindparam("agent_id"))
    .order_by(_attachments.c.display_order, _attachments.c.created_at, _attachments.c.id)
)
_ATTACHED_AGENTS = (
    sa.select(_relations, _agents)
    .join_from(_relations, _agents, _agents.c.id == _relations.c.child_id)
    .where(_relations.c.parent_id == sa.bindparam("agent_id"))
    .order_by(_relations.c.display_order, _relations.c.created_at, _relations.c.id)
)
_as_tools = _pair_reader(AttachedTool, AgentTool, Tool)
_as_agents = _pair_reader(AttachedAgent, SubAgent, Agent)
_TOOLS = Statement(_ATTACHED_TOOLS, _as_tools)
_USABLE_TOOLS = Statement(
    _ATTACHED_TOOLS.where(_attachments.c.is_enabled.is_(True), _tools.c.is_enabled.is_(True)), _as_tools
)
_SUB_AGENTS = Statement(_ATTACHED_AGENTS, _as_agents)
_USABLE_SUB_AGENTS = Statement(
    _ATTACHED_AGENTS.where(
        _relations.c.is_enabled.is_(True), _agents.c.status != sa.literal(AgentStatus.archived.value)
    ),
    _as_agents,
)
_EDGES = Statement(sa.select(_relations.c.parent_id, _relations.c.child_id))
_LAST_ORDER = Statement(
    sa.select(sa.func.max(_attachments.c.display_order)).where(
        _attachments.c.agent_id == sa.bindparam("agent_id")
    )
)
_LAST_SUB_AGENT_ORDER = Statement(
    sa.select(sa.func.max(_relations.c.display_order)).where(
        _relations.c.parent_id == sa.bindparam("agent_id")
    )
)
_WITH_TOOL = Statement(
    sa.select(_agents.c.id, _agents.c.name)
    .join_from(_attachments, _agents, _agents.c.id == _attachments.c.agent_id)
    .where(_attachments.c.tool_id == sa.bindparam("tool_id"))
    .order_by(_agents.c.id)
)


async def lock_agent_graph(ctx: Context) -> None:
    """Lock the tenant's delegation graph against concurrent changes.

    Take this lock before locking more than one agent, to avoid deadlocks.
    """
    await ctx.db.lock(Tenant, ctx.tenant_id)


async def load_tools(ctx: Context, agent: Agent, *, usable: bool = False) -> list[AttachedTool]:
    """Return the attached tools in order; `usable` omits those disabled here or as a tool."""
    if not agent.tool_count:
        return []
    return await ctx.db.rows(_USABLE_TOOLS if usable else _TOOLS, agent_id=agent.id)


async def load_sub_agents(ctx: Context, agent: Agent, *, usable: bool = False) -> list[AttachedAgent]:
    """Return the sub-agents in order; `usable` omits disabled and archived ones."""
    if not agent.sub_agent_count:
        return []
    return await ctx.db.rows(_USABLE_SUB_AGENTS if usable else _SUB_AGENTS, agent_id=agent.id)


async def load_delegation_edges(ctx: Context) -> list[tuple[str, str]]:
    """Return all delegations of the tenant as pairs of parent and child."""
    return [(row[0], row[1]) for row in await ctx.db.rows(_EDGES)]


async def next_display_order(ctx: Context, agent: Agent) -> int:
    last = await ctx.db.scalar(_LAST_ORDER, agent_id=agent.id)
    return 0 if last is None else int(last) + 1


async def next_sub_agent_order(ctx: Context, agent: Agent) -> int:
    last = await ctx.db.scalar(_LAST_SUB_AGENT_ORDER, agent_id=agent.id)
    return 0 if last is None else int(last) + 1


async def find_agents_with_tool(ctx: Context, tool_id: str) -> list[Referrer]:
    return [Referrer(row[0], row[1]) for row in await ctx.db.rows(_WITH_TOOL, tool_id=tool_id)]
