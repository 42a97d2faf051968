"""Spending of nodes and executions on models: recorded where usage is counted, summed where it is shown."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import sqlalchemy as sa

from retinue.kit.context import Context
from retinue.kit.db.in_list import in_list, list_parameter
from retinue.kit.db.statements import Statement
from retinue.kit.ids import new_id
from retinue.workflows.engine.lineage import Lineage
from retinue.workflows.models import WorkflowSpending

_spendings = WorkflowSpending.__table__
_ADD = Statement(
    sa.insert(_spendings).values(
        {
            name: sa.bindparam(name, type_=_spendings.c[name].type)
            for name in WorkflowSpending.__struct_fields__
            if name != "tenant_id"
        }
    )
)
_SUMS = (sa.func.sum(_spendings.c.tokens), sa.func.sum(_spendings.c.cost_usd))
_OF_NODES = Statement(
    sa.select(_spendings.c.node_id, _spendings.c.item, *_SUMS)
    .where(_spendings.c.execution_id == sa.bindparam("execution_id"))
    .group_by(_spendings.c.node_id, _spendings.c.item)
)
_OF_EXECUTIONS = Statement(
    sa.select(_spendings.c.execution_id, *_SUMS)
    .where(in_list(_spendings.c.execution_id, "execution_ids"))
    .group_by(_spendings.c.execution_id)
)


class Spent(NamedTuple):
    """Tokens, and the cost of those whose price is known; None where nothing is known."""

    tokens: int | None = None
    cost_usd: float | None = None

    def plus(self, other: "Spent") -> "Spent":
        tokens = [one.tokens for one in (self, other) if one.tokens is not None]
        costs = [one.cost_usd for one in (self, other) if one.cost_usd is not None]
        return Spent(sum(tokens) if tokens else None, _rounded(sum(costs)) if costs else None)


NOTHING_KNOWN = Spent()


class SpentInside(NamedTuple):
    """Spending of an execution as a whole and by node; that of a loop includes its items."""

    whole: Spent
    nodes: dict[str, Spent]
    items: dict[tuple[str, int], Spent]

    def of_node(self, node_id: str) -> Spent:
        return self.nodes.get(node_id, NOTHING_KNOWN)


def record_spending(unit: Context, tokens: int, cost_usd: float | None) -> None:
    """Count for the node at work, and for every node that waits for its execution."""
    lineage = Lineage.of(unit)
    if lineage is None or not lineage.nodes:
        return
    now = unit.now
    for place in lineage.nodes.split("/"):
        execution_id, node_id, item = place.split(".")
        unit.db.execute_at_commit(
            _ADD,
            id=new_id(WorkflowSpending.__prefix__),
            created_at=now,
            updated_at=now,
            execution_id=execution_id,
            node_id=node_id,
            item=int(item),
            tokens=tokens,
            cost_usd=cost_usd,
        )


async def load_spent_inside(ctx: Context, execution_id: str) -> SpentInside:
    whole, nodes, items = NOTHING_KNOWN, dict[str, Spent](), dict[tuple[str, int], Spent]()
    for node_id, item, tokens, cost_usd in await ctx.db.rows(_OF_NODES, execution_id=execution_id):
        spent = items[node_id, item] = _spent(tokens, cost_usd)
        nodes[node_id] = nodes.get(node_id, NOTHING_KNOWN).plus(spent)
        whole = whole.plus(spent)
    return SpentInside(whole, nodes, items)


async def load_spent(ctx: Context, execution_ids: Iterable[str]) -> dict[str, Spent]:
    """Return what each of these executions spent; those of which nothing is known are missing."""
    rows = await ctx.db.rows(_OF_EXECUTIONS, execution_ids=list_parameter(execution_ids))
    return {execution_id: _spent(tokens, cost_usd) for execution_id, tokens, cost_usd in rows}


def _spent(tokens: Any, cost_usd: float | None) -> Spent:
    # PostgreSQL returns sums of whole numbers as decimals.
    return Spent(int(tokens), _rounded(cost_usd))


def _rounded(cost_usd: float | None) -> float | None:
    return None if cost_usd is None else round(cost_usd, 9)
