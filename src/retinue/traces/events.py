from retinue.kit.events.declare import Event, event


@event("traces.exporter_created", subject="exporter_id", audited=True, listed=False)
class TraceExporterCreated(Event, kw_only=True):
    """A receiver of traces was added."""

    exporter_id: str
    endpoint: str


@event("traces.exporter_updated", subject="exporter_id", audited=True, listed=False)
class TraceExporterUpdated(Event, kw_only=True):
    """A receiver of traces was changed."""

    exporter_id: str
    changed: list[str]


@event("traces.exporter_deleted", subject="exporter_id", audited=True, listed=False)
class TraceExporterDeleted(Event, kw_only=True):
    """A receiver of traces was removed."""

    exporter_id: str
