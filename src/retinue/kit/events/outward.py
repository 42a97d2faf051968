"""What others are told of an event: its data with whose it is and who did it."""

from typing import TYPE_CHECKING, Any

from retinue.kit.events.models import EventEntry

if TYPE_CHECKING:
    from retinue.kit.events.routing import Happened

ADDED = ("tenant_id", "actor")


def outward(data: dict[str, Any], tenant_id: str, actor: dict[str, str]) -> dict[str, Any]:
    """What the data says of itself goes first: an event about a tenant names that one."""
    return {"tenant_id": tenant_id, "actor": actor, **data}


def happened(entry: EventEntry) -> "Happened":
    """An entry of the log as routers and actions see it."""
    from retinue.kit.events.routing import Happened

    return Happened(
        tenant_id=entry.tenant_id,
        id=entry.id,
        type=entry.type,
        category=entry.category,
        correlation_id=entry.correlation_id,
        subject_id=entry.subject_id,
        data=outward(entry.data, entry.tenant_id, entry.actor),
        actor=entry.actor,
        hops=entry.hops,
        is_test=entry.is_test,
        created_at=entry.created_at,
    )
