"""Stores event rows and audit rows in the transaction of the change (ADR 3)."""

import hashlib
from collections.abc import Container
from decimal import Decimal
from typing import Any

import msgspec

from retinue.kit.db.session import Db, SystemDb
from retinue.kit.events.declare import Event, EventType
from retinue.kit.events.models import AuditEntry, AuditHead, EventEntry
from retinue.kit.ids import new_id
from retinue.kit.json_types import JsonObject

_canonical = msgspec.json.Encoder(order="sorted")


class PendingEvent(msgspec.Struct):
    kind: EventType
    event: Event | JsonObject
    id: str
    test: bool = False
    success: bool = True
    reason: str | None = None
    conversation_ids: tuple[str, ...] = ()
    lineage: str = ""


class EventOrigin(msgspec.Struct, frozen=True):
    """The actor of an event and the request that caused it."""

    actor: dict[str, str]
    correlation_id: str
    hops: int = 0
    ip_address: str = ""
    user_agent: str = ""
    trace_parent: str = ""


async def store_events(
    db: Db, origin: EventOrigin, emitted: list[PendingEvent], now: str, listened_types: Container[str]
) -> list[PendingEvent]:
    """Store the events of a unit of work and return those that are audited.

    `listened_types` holds the event types that have listeners.
    """
    audited = []
    position = 0
    for pending in emitted:
        if pending.kind.is_listed:
            has_listeners = pending.kind.name in listened_types
            await db.insert_at_commit(_entry(pending, origin, now, position, has_listeners=has_listeners))
            position += 1
        if pending.kind.is_audited:
            audited.append(pending)
    return audited


def _entry(
    pending: PendingEvent, origin: EventOrigin, now: str, position: int, *, has_listeners: bool
) -> EventEntry:
    """Build the row; without listeners it counts as dispatched, so the worker skips it."""
    kind = pending.kind
    # A struct or a dict: both are stored as JSON, and nothing here reads it.
    data: Any = pending.event
    return EventEntry(
        id=pending.id,
        type=kind.name,
        category=kind.category,
        correlation_id=origin.correlation_id,
        subject_id=_subject(pending),
        data=data,
        actor=origin.actor,
        hops=origin.hops,
        lineage=pending.lineage,
        trace_parent=origin.trace_parent,
        is_test=pending.test,
        position=position,
        is_dispatched=not has_listeners,
        conversation_ids=list(pending.conversation_ids) or None if kind.content else None,
        created_at=now,
    )


def _subject(pending: PendingEvent) -> str:
    name = pending.kind.subject
    return str(getattr(pending.event, name) or "") if name else ""


async def append_audit_rows(
    db: Db, system: SystemDb, origin: EventOrigin, audited: list[PendingEvent], now: str
) -> None:
    """Store the audit rows of a unit of work just before its commit, to lock the chain only briefly."""
    head = await system.lock(AuditHead, db.tenant_id)
    if head is None:
        await system.insert_missing(AuditHead(id=db.tenant_id))
        head = await system.lock(AuditHead, db.tenant_id)
        assert head is not None
    sequence, previous = head.sequence, head.hash
    rows = []
    for pending in audited:
        sequence += 1
        row = AuditEntry(
            id=new_id("aud"),
            tenant_id=db.tenant_id,
            sequence=sequence,
            action=pending.kind.name,
            subject_id=_subject(pending),
            actor=origin.actor,
            success=pending.success,
            reason=pending.reason,
            ip_address=origin.ip_address,
            user_agent=origin.user_agent,
            correlation_id=origin.correlation_id,
            metadata=msgspec.to_builtins(pending.event),
            previous_hash=previous,
            hash="",
            created_at=now,
        )
        row.hash = previous = chain_hash(row)
        rows.append(row)
    await db.insert_many(rows)
    await system.update(head, sequence=sequence, hash=previous)


def chain_hash(row: AuditEntry) -> str:
    """Return the SHA-256 of the row in canonical form, with the previous hash and without its own."""
    return hashlib.sha256(_canonical.encode(hashed_fields(row))).hexdigest()


def hashed_fields(row: AuditEntry) -> JsonObject:
    """Return what the hash of a row covers."""
    fields = {
        name: getattr(row, name) for name in row.__struct_fields__ if name not in {"hash", "updated_at"}
    }
    return {**fields, "metadata": _as_stored(row.metadata)}


def _as_stored(value: object) -> Any:
    """Convert whole floats to integers, as PostgreSQL returns them (1e16, -0.0), so that hashes match."""
    if isinstance(value, float) and value.is_integer():
        return int(Decimal(repr(value)))
    if isinstance(value, dict):
        return {name: _as_stored(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_as_stored(inner) for inner in value]
    return value
