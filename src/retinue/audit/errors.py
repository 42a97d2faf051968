from retinue.kit.errors import Conflict, NotFound


class AuditStreamNotFound(NotFound):
    """There is no such audit stream."""

    code = "audit_stream_not_found"


class TooManyAuditStreams(Conflict):
    """The tenant has reached the maximum number of audit streams. Delete one first."""
