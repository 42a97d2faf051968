"""Turns that budgets refuse, counted by day: visitors are told nothing of budgets, so their owner must be."""

import sqlalchemy as sa
import structlog

from retinue.kit.context import Context
from retinue.kit.db.statements import Statement
from retinue.kit.errors import RetinueError
from retinue.usage import periods
from retinue.usage.errors import BudgetExceeded, ModelUnpriced
from retinue.usage.models import Budget

log = structlog.get_logger("retinue.usage")

UNPRICED = "unpriced"

_budgets = Budget.__table__
_today, _reason = sa.bindparam("today", type_=sa.Text()), sa.bindparam("reason", type_=sa.Text())
# Not by its record, whose `updated_at` is the state that people edit. A key's own limit is no row.
_COUNT = Statement(
    sa.update(_budgets)
    .where(_budgets.c.id == sa.bindparam("budget_id", type_=_budgets.c.id.type))
    .values(
        refused_count=sa.case((_budgets.c.refused_on == _today, _budgets.c.refused_count + 1), else_=1),
        refused_on=_today,
        refused_because=_reason,
    )
)


async def record_refusal(ctx: Context, refusal: RetinueError) -> None:
    """Count a refused turn at its budget, in a transaction of its own: the request itself stores nothing.

    A count that cannot be stored is left out: the refusal is what the client has to be told.
    """
    details = refusal.details or {}
    budget_id = details.get("budget_id")
    if not isinstance(refusal, BudgetExceeded | ModelUnpriced) or not isinstance(budget_id, str):
        return
    reason = UNPRICED if isinstance(refusal, ModelUnpriced) else str(details.get("reason"))
    try:
        async with ctx.unit() as unit:
            today = periods.name_at(unit.now, "day")
            await unit.db.execute(_COUNT, budget_id=budget_id, today=today, reason=reason)
    except Exception as error:  # noqa: BLE001  it would take the place of the refusal
        log.warning("refusal_not_counted", budget_id=budget_id, error=repr(error))


def count_refused(budget: Budget, now: str) -> int:
    """Return how many turns the budget has refused today."""
    return budget.refused_count if budget.refused_on == periods.name_at(now, "day") else 0
