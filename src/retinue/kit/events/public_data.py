"""The public form of an event's data, which includes its tenant and actor."""

from retinue.kit.json_types import JsonObject

ENVELOPE_FIELDS = ("tenant_id", "actor")


def public_data(data: JsonObject, tenant_id: str, actor: dict[str, str]) -> JsonObject:
    """Add tenant and actor to the data; fields of the data win: an event about a tenant names that tenant."""
    return {"tenant_id": tenant_id, "actor": actor, **data}
