"""What the event log costs to read when it is short and when it is long.

python -m bench.event_log [rows]
"""

from functools import partial
from typing import Any

import sqlalchemy as sa

from bench.figures import Figure, tell
from bench.filling import fill
from bench.growth import MANY, Question, analyse, compare, opened
from bench.retrieval import context
from retinue.events.queries import load_trace, page_of_events
from retinue.events.schemas import EventLogQuery
from retinue.kit.context.instance import Instance
from retinue.kit.events.models import EventEntry

TYPES, CATEGORIES, IN_A_TRACE = 20, 5, 5
DATA = {"order_id": "ord_1", "customer": "Ada Lovelace", "amount": 12.5, "note": "Some words. " * 10}


async def fill_log(instance: Instance, tenant_id: str, rows: int) -> None:
    """Undispatched is none of them: the log of someone whose worker keeps up."""

    def varying(number: Any, text: Any) -> dict[str, Any]:
        at = sa.literal("2026-11-15T08:30:00.") + text
        trace_number = sa.cast(number // IN_A_TRACE, sa.Text())
        return {
            "id": sa.literal(tenant_id) + text,
            "created_at": at,
            "updated_at": at,
            "type": sa.literal("bench.type") + sa.cast(number % TYPES, sa.Text()),
            "category": sa.literal("category") + sa.cast(number % CATEGORIES, sa.Text()),
            "correlation_id": sa.literal("cor_") + trace_number,
        }

    fixed = {
        "tenant_id": tenant_id, "subject_id": "ord_1", "data": DATA, "actor": {"type": "user", "id": "usr_1"},
        "hops": 0, "is_test": False, "position": 0, "is_dispatched": True,
    }  # fmt: skip
    await fill(partial(context, instance, tenant_id), EventEntry.__table__, rows, fixed, varying)


def asked(instance: Instance, tenant_id: str, rows: int) -> dict[str, Question]:
    """What people ask of a log; each tells how many entries it was shown."""
    ctx = context(instance, tenant_id, reads_outside_transaction=True)

    def listed(**query: Any) -> Question:
        async def ask() -> int:
            return len((await page_of_events(ctx, EventLogQuery(**query))).items)

        return ask

    async def traced() -> int:
        return len((await load_trace(ctx, f"cor_{rows // IN_A_TRACE // 2}"))[0])

    return {
        "first page": listed(),
        "the page in the middle": listed(page=rows // 40),
        "the last page": listed(page=rows // 20),
        "by type": listed(event_type="bench.type7"),
        "by a type that nothing has": listed(event_type="bench.nothing"),
        "by category": listed(category="category3"),
        "by type and category": listed(event_type="bench.type7", category="system"),
        "by correlation id": listed(correlation_id=f"cor_{rows // IN_A_TRACE // 2}"),
        "until a moment": listed(to=f"2026-11-15T08:30:00.{rows // 2:07d}Z"),
        "a trace": traced,
    }


EXPECTED = {
    "by a type that nothing has": 0,
    "by correlation id": IN_A_TRACE,
    "a trace": IN_A_TRACE,
}


async def measure(url: str = "", many: int = MANY) -> list[Figure]:
    async def fill_analysed(instance: Instance, tenant_id: str, rows: int) -> None:
        await fill_log(instance, tenant_id, rows)
        await analyse(url, "event_log")

    async with opened(url) as instance:
        return await compare(
            instance,
            "event log",
            many,
            fill=fill_analysed,
            ask=asked,
            is_right=lambda name, shown: shown == EXPECTED.get(name, 20),
        )


if __name__ == "__main__":
    tell(measure, MANY)
