"""Entries of the event log: put there with any content, and read through the API."""

from typing import Any

from retinue.kit.clock import instant_from_timestamp
from retinue.kit.events.models import EventEntry
from tests.client import Api

LOG = "/api/v1/event-log"


async def read_log(api: Api, **query: Any) -> dict[str, Any]:
    answer = await api.get(LOG, query={"per_page": 100, **query})
    assert answer.status == 200, answer
    return answer.json()


def entry_at(second: float, **more: Any) -> EventEntry:
    given = {
        "type": "order.placed",
        "category": "system",
        "correlation_id": f"cor_{second:.0f}",
        "data": {"n": second},
        "actor": {"type": "system", "id": ""},
        "is_dispatched": True,
        "created_at": instant_from_timestamp(second),
        **more,
    }
    return EventEntry(**given)


def types(found: dict[str, Any]) -> list[str]:
    return [one["type"] for one in found["data"]]
