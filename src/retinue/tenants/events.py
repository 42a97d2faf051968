from retinue.kit.events.declare import Event, event


@event(
    "system.tenant.created",
    subject="tenant_id",
    audited=True,
    example={"tenant_id": "ten_…", "name": "Acme", "plan": "team"},
)
class TenantCreated(Event, kw_only=True):
    """A tenant was created."""

    tenant_id: str
    name: str
    plan: str


@event(
    "system.tenant.updated",
    subject="tenant_id",
    audited=True,
    example={"tenant_id": "ten_…", "changed": ["plan"], "name": "Acme", "plan": "team", "limits": {}},
)
class TenantUpdated(Event, kw_only=True):
    """A tenant's name, plan, custom limits or settings were changed; `changed` names them."""

    tenant_id: str
    changed: list[str]
    name: str
    plan: str
    limits: dict[str, int | float | None]
