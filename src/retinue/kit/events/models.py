"""The event log, which is also the outbox, and the audit chain."""

from typing import Any

import sqlalchemy as sa

from retinue.kit.db.models import Record, TenantRecord, table


@table(
    "event_log",
    prefix="evt",
    led_by_time=True,
    indexes=[
        ("tenant_id", "created_at"),
        ("tenant_id", "category", "created_at"),
        ("tenant_id", "correlation_id", "created_at"),
        ("tenant_id", "type", "created_at"),
    ],
    extra=lambda made: sa.Index(
        "ix_event_log_waiting",
        made.c.tenant_id,
        made.c.created_at,
        made.c.position,
        # Text, because a migration drafted on one database must say it in the words of both.
        sqlite_where=sa.text("is_dispatched = 0"),
        postgresql_where=sa.text("NOT is_dispatched"),
    ),
)
class EventEntry(TenantRecord, kw_only=True):
    """One thing that happened, stored in the transaction of the change itself, at its `position` there."""

    type: str
    category: str
    correlation_id: str
    subject_id: str = ""
    data: dict[str, Any]
    actor: dict[str, str]
    hops: int = 0
    is_test: bool = False
    position: int = 0
    is_dispatched: bool = False


@table(
    "audit_log",
    prefix="aud",
    led_by_time=True,
    unique=[("tenant_id", "sequence")],
    indexes=[("tenant_id", "created_at"), ("tenant_id", "subject_id", "created_at")],
)
class AuditEntry(TenantRecord, kw_only=True):
    """One row of a tenant's audit chain: its hash covers the row and the hash before it."""

    sequence: int
    action: str
    subject_id: str
    actor: dict[str, str]
    success: bool = True
    reason: str | None = None
    ip_address: str = ""
    user_agent: str = ""
    correlation_id: str = ""
    metadata: dict[str, Any]
    previous_hash: str
    hash: str


@table("audit_heads", prefix="ten")
class AuditHead(Record, kw_only=True):
    """Where a tenant's chain ends; `id` is the tenant's id, so a cut-off tail shows."""

    sequence: int = 0
    hash: str = ""
