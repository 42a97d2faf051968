"""Lineage of executions: it limits how many executions one root can start, directly or indirectly.

The lineage travels as `Caller.lineage` with the events and jobs of an execution's nodes, so executions that
are started by an event, a tool or an agent count for the same root. The count is a separate row that only
roots with descendants have. It outlives the root and needs no lock of an execution.

The lineage also names the node at work, after the nodes that wait for its execution: what is spent on its
behalf counts for each of them (`workflows.spendings`).
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import msgspec
import sqlalchemy as sa
from sqlalchemy.dialects import postgresql

from retinue.kit.context import Caller, Context
from retinue.kit.db.statements import Statement
from retinue.workflows.errors import TooManyRuns
from retinue.workflows.models import WorkflowChain, WorkflowExecution

MAX_DESCENDANT_RUNS = 1_000
MAX_DEPTH = 8

_chains = WorkflowChain.__table__


def _count_descendant() -> Statement[Any]:
    """Increment the count; at the limit, no row is returned."""
    insert = postgresql.insert(_chains).values(
        id=sa.bindparam("root_id"),
        run_count=sa.literal(1),
        created_at=sa.bindparam("now", type_=_chains.c.created_at.type),
        updated_at=sa.bindparam("now", type_=_chains.c.updated_at.type),
    )
    changed = {"run_count": _chains.c.run_count + 1, "updated_at": insert.excluded.updated_at}
    return Statement(
        insert.on_conflict_do_update(
            index_elements=["tenant_id", "id"],
            set_=changed,
            where=_chains.c.run_count < sa.bindparam("most", type_=_chains.c.run_count.type),
        ).returning(_chains.c.run_count)
    )


_COUNT_DESCENDANT = _count_descendant()


class Lineage(NamedTuple):
    """The root execution of a chain, the depth of the current execution in it, and its nodes at work.

    `nodes` are the places `execution.node.item` from the outermost node that waits to the one at work, with
    slashes between them.
    """

    root_id: str
    depth: int
    nodes: str = ""

    @classmethod
    def of(cls, ctx: Context) -> "Lineage | None":
        """Return the lineage of this context's work, or None if no execution caused it."""
        root_id, _, rest = ctx.caller.lineage.partition(":")
        depth, _, nodes = rest.partition(":")
        return cls(root_id, int(depth), nodes) if depth else None


async def count_descendant(ctx: Context, *, depth: int) -> str | None:
    """Count an execution that is about to start; return the id of its root, or None if it is a root."""
    if depth > MAX_DEPTH:
        raise TooManyRuns(f"Workflows are nested more than {MAX_DEPTH} levels deep. Reduce the nesting.")
    lineage = Lineage.of(ctx)
    if lineage is None:
        return None
    counted = await ctx.db.execute(
        _COUNT_DESCENDANT, root_id=lineage.root_id, most=MAX_DESCENDANT_RUNS, now=ctx.now
    )
    if not counted:
        raise TooManyRuns
    return lineage.root_id


@contextmanager
def caused_by(ctx: Context, execution: WorkflowExecution) -> Iterator[None]:
    """Attribute the events and jobs of the block to the execution instead of the context's caller."""
    before = ctx.caller
    ctx.caller = caller_of(ctx, execution)
    try:
        yield
    finally:
        ctx.caller = before


def caller_of(ctx: Context, execution: WorkflowExecution, place: str = "") -> Caller:
    """Return the context's caller as a link in the execution's chain of causes.

    `place` is the node at work; see `place_of`.
    """
    lineage = f"{execution.root_id or execution.id}:{execution.depth}"
    if place:
        waiting = f"{execution.awaited_by}/" if execution.awaited_by else ""
        lineage = f"{lineage}:{waiting}{place}"
    return msgspec.structs.replace(ctx.caller, hops=max(execution.hops, ctx.caller.hops), lineage=lineage)


def place_of(execution_id: str, node_id: str, item: int) -> str:
    """Return the name of a node at work; none of its parts contains a full stop."""
    return f"{execution_id}.{node_id}.{item}"
