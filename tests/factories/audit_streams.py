"""Audit streams, straight into the database."""

from typing import Any

from retinue.audit.models import AuditStream
from retinue.kit.crypto import Sealed


def some_stream(created_by: str, name: str = "SIEM", **more: Any) -> AuditStream:
    """Return an inactive stream."""
    given = {"secret": Sealed.of(b"whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="), **more}
    return AuditStream(
        name=name,
        url="http://127.0.0.1:9/rows",
        headers={},
        enabled=False,
        due_at="2999-01-01T00:00:00.000000Z",
        created_by=created_by,
        **given,
    )
