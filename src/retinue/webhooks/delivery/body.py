"""The body of a delivery: encoded once for each event, and posted unchanged by every attempt."""

import msgspec

from retinue.kit.events.routing import DispatchedEvent
from retinue.kit.json_types import JsonObject


class _Body(msgspec.Struct):
    id: str
    type: str
    created_at: str
    timestamp: str
    correlation_id: str
    tenant_id: str
    test: bool
    data: JsonObject


_encode = msgspec.json.Encoder().encode


def encode_event_body(event: DispatchedEvent) -> str:
    return _encode(
        _Body(
            id=event.id,
            type=event.type,
            created_at=event.created_at,
            timestamp=event.created_at,
            correlation_id=event.correlation_id,
            tenant_id=event.tenant_id,
            test=event.is_test,
            data=event.data,
        )
    ).decode()
