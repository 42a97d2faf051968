from retinue.kit.events.declare import Event, event


@event("audit.exported", subject="", audited=True, listed=False)
class AuditExported(Event, kw_only=True):
    """The audit log was exported."""

    format: str
    from_sequence: int
    to_sequence: int


@event("audit.stream_created", subject="stream_id", audited=True, listed=False)
class AuditStreamCreated(Event, kw_only=True):
    """A receiver of the audit log was added."""

    stream_id: str
    url: str


@event("audit.stream_updated", subject="stream_id", audited=True, listed=False)
class AuditStreamUpdated(Event, kw_only=True):
    """A receiver of the audit log was changed."""

    stream_id: str
    changed: list[str]


@event("audit.stream_deleted", subject="stream_id", audited=True, listed=False)
class AuditStreamDeleted(Event, kw_only=True):
    """A receiver of the audit log was removed."""

    stream_id: str
