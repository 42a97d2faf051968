from retinue.kit.events.declare import Event, event


@event("tenant.exported", subject="", audited=True, listed=False)
class TenantExported(Event, kw_only=True):
    """The tenant's configuration was exported as a file."""

    format: str
    sections: list[str]


@event("tenant.file_applied", subject="", audited=True, listed=False)
class TenantFileApplied(Event, kw_only=True):
    """A file was applied to the tenant; every change has an event of its own."""

    created: int
    updated: int
    deleted: int
    sections: list[str]
    plan_hash: str
