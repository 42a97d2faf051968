"""The event log, which is also the outbox, and the audit chain."""

from typing import Annotated

import sqlalchemy as sa

from retinue.kit.db.models import Record, ServerDefault, TenantRecord, table
from retinue.kit.json_types import JsonObject


@table(
    "event_log",
    prefix="evt",
    time_ordered_ids=True,
    indexes=[
        # One for the log and its filters by type and category, which read more of it (ADR 45).
        ("tenant_id", "created_at", "type", "category"),
        ("tenant_id", "correlation_id", "created_at"),
    ],
    extra=lambda events: sa.Index(
        "ix_event_log_waiting",
        events.c.tenant_id,
        events.c.created_at,
        events.c.position,
        # As text, because a migration drafted on one database must contain the SQL of both.
        sqlite_where=sa.text("is_dispatched = 0"),
        postgresql_where=sa.text("NOT is_dispatched"),
    ),
)
class EventEntry(TenantRecord, kw_only=True):
    """An event, stored in the transaction of its change; `position` is its order within it."""

    type: str
    category: str
    correlation_id: str
    subject_id: str = ""
    data: JsonObject
    actor: dict[str, str]
    hops: int = 0
    lineage: Annotated[str, ServerDefault("''")] = ""
    trace_parent: Annotated[str, ServerDefault("''")] = ""
    is_test: bool = False
    position: int = 0
    is_dispatched: bool = False
    conversation_ids: list[str] | None = None
    """The conversations that its data quotes; see `kit.context.conversation_access`."""


@table(
    "audit_log",
    prefix="aud",
    time_ordered_ids=True,
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
    metadata: JsonObject
    previous_hash: str
    hash: str


@table("audit_heads", prefix="ten")
class AuditHead(Record, kw_only=True):
    """The end of a tenant's audit chain, by which a cut-off tail is detected; `id` is the tenant's id."""

    sequence: int = 0
    hash: str = ""
