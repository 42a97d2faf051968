"""The body of a delivery: made once for each event, and posted as these very bytes every time."""

from typing import Any

import msgspec

from retinue.kit.events.routing import Happened


class _Body(msgspec.Struct):
    id: str
    type: str
    created_at: str
    timestamp: str
    correlation_id: str
    tenant_id: str
    test: bool
    data: dict[str, Any]


_encode = msgspec.json.Encoder().encode


def body_of(event: Happened) -> str:
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
