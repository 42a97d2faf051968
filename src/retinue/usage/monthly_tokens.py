"""Tokens that a credential may use in a calendar month (UTC), counted on its own row.

A record with such a budget has the columns `monthly_token_budget`, `tokens_used` and `tokens_month`. The
count is exact: it is written in the transaction that stores the end of a turn.
"""

from datetime import UTC, datetime
from typing import Any, Protocol, TypeVar

import sqlalchemy as sa

from retinue.kit.clock import Instant, parse_instant
from retinue.kit.context import Context
from retinue.kit.db.models import Record
from retinue.kit.db.statements import Statement
from retinue.usage.errors import MonthlyTokensSpent

E = TypeVar("E", bound=MonthlyTokensSpent)


class MonthlySpender(Protocol):
    id: str
    monthly_token_budget: int | None
    tokens_used: int
    tokens_month: str


def month_of(now: Instant) -> str:
    """Return the month that tokens are counted for."""
    return now[:7]


def tokens_used_in(spender: MonthlySpender, now: Instant) -> int:
    """Return the tokens used in the month of `now`."""
    return spender.tokens_used if spender.tokens_month == month_of(now) else 0


def tokens_left(budget: int | None, used: int, month: str, now: Instant) -> int | None:
    """Return what may still be used this month; None without a budget."""
    if budget is None:
        return None
    return budget - used if month == month_of(now) else budget


def counting_statement(record: type[Record], **also: Any) -> Statement[Any]:
    """Return the statement that adds `tokens` of `month` to the row `spender_id`, and sets `also`."""
    columns = record.__table__.c
    is_this_month = columns.tokens_month == sa.bindparam("month")
    return Statement(
        sa.update(record.__table__)
        .where(columns.id == sa.bindparam("spender_id"))
        .values(
            tokens_used=sa.case((is_this_month, columns.tokens_used), else_=0)
            + sa.bindparam("tokens", type_=sa.BigInteger()),
            tokens_month=sa.bindparam("month"),
            **also,
        )
    )


def tokens_spent_error(kind: type[E], ctx: Context, budget: int | None) -> E:
    """Return the error for a spender that has no tokens left until next month.

    `scope` tells it from a limit of requests, which has none.
    """
    now = parse_instant(ctx.now)
    begins = datetime(now.year, now.month, 1, tzinfo=UTC)
    ends = datetime(now.year + now.month // 12, now.month % 12 + 1, 1, tzinfo=UTC)
    error = kind(
        limit=budget or 0,
        window=int((ends - begins).total_seconds()),
        retry_after=max(1, int((ends - now).total_seconds())),
        reset=int(ends.timestamp()),
        message=kind.__doc__,
    )
    assert error.details is not None
    error.details["scope"] = {"type": kind.scope_type, "id": None}
    return error
