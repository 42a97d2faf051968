from retinue.kit.events.declare import Event, event


@event("audit.exported", subject="", audited=True, listed=False)
class AuditExported(Event, kw_only=True):
    """The audit log was exported."""

    format: str
    from_sequence: int
    to_sequence: int
