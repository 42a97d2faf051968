"""Writing what happened: event rows and audit rows, in the transaction of the change."""

import hashlib
from collections.abc import Container
from decimal import Decimal
from typing import Any

import msgspec

from retinue.kit.db.session import Db, SystemDb
from retinue.kit.events.declare import Event, EventType
from retinue.kit.events.models import AuditEntry, AuditHead, EventEntry
from retinue.kit.ids import new_id

_canonical = msgspec.json.Encoder(order="sorted")


class Emitted(msgspec.Struct):
    kind: EventType
    event: Event | dict[str, Any]
    id: str
    test: bool = False
    success: bool = True
    reason: str | None = None


class Origin(msgspec.Struct, frozen=True):
    """Whose doing it was and how it came in."""

    actor: dict[str, str]
    correlation_id: str
    hops: int = 0
    ip_address: str = ""
    user_agent: str = ""


async def write(
    db: Db, origin: Origin, emitted: list[Emitted], now: str, heard: Container[str]
) -> list[Emitted]:
    """Store the events of a unit, and say which of them are audited.

    `heard` names the types that a worker has something to do about.
    """
    audited = []
    position = 0
    for one in emitted:
        if one.kind.is_listed:
            is_heard = one.kind.name in heard
            await db.insert_at_commit(_entry(one, origin, now, position, is_heard=is_heard))
            position += 1
        if one.kind.is_audited:
            audited.append(one)
    return audited


def _entry(one: Emitted, origin: Origin, now: str, position: int, *, is_heard: bool) -> EventEntry:
    """What nobody listens to has nowhere to go, and costs the worker nothing."""
    kind = one.kind
    # It is stored as JSON either way, and nobody reads it here.
    data: Any = one.event
    return EventEntry(
        id=one.id,
        type=kind.name,
        category=kind.category,
        correlation_id=origin.correlation_id,
        subject_id=_subject(one),
        data=data,
        actor=origin.actor,
        hops=origin.hops,
        is_test=one.test,
        position=position,
        is_dispatched=not is_heard,
        created_at=now,
    )


def _subject(one: Emitted) -> str:
    name = one.kind.subject
    return str(getattr(one.event, name) or "") if name else ""


async def extend_chain(db: Db, system: SystemDb, origin: Origin, audited: list[Emitted], now: str) -> None:
    """Store the audit rows of a unit; last before its commit, so that the chain is held but a moment."""
    head = await system.lock(AuditHead, db.tenant_id)
    if head is None:
        await system.insert_missing(AuditHead(id=db.tenant_id))
        head = await system.lock(AuditHead, db.tenant_id)
        assert head is not None
    sequence, previous = head.sequence, head.hash
    rows = []
    for one in audited:
        sequence += 1
        row = AuditEntry(
            id=new_id("aud"),
            tenant_id=db.tenant_id,
            sequence=sequence,
            action=one.kind.name,
            subject_id=_subject(one),
            actor=origin.actor,
            success=one.success,
            reason=one.reason,
            ip_address=origin.ip_address,
            user_agent=origin.user_agent,
            correlation_id=origin.correlation_id,
            metadata=msgspec.to_builtins(one.event),
            previous_hash=previous,
            hash="",
            created_at=now,
        )
        row.hash = previous = chain_hash(row)
        rows.append(row)
    await db.insert_many(rows)
    await system.update(head, sequence=sequence, hash=previous)


def chain_hash(row: AuditEntry) -> str:
    """SHA-256 over the row without its own hash, in one canonical form, the previous hash included."""
    fields = {
        name: getattr(row, name) for name in row.__struct_fields__ if name not in {"hash", "updated_at"}
    }
    fields["metadata"] = _as_stored(row.metadata)
    return hashlib.sha256(_canonical.encode(fields)).hexdigest()


def _as_stored(value: Any) -> Any:
    """PostgreSQL gives a whole float back as a whole number (1e16, -0.0), so it is hashed as one."""
    if isinstance(value, float) and value.is_integer():
        return int(Decimal(repr(value)))
    if isinstance(value, dict):
        return {name: _as_stored(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_as_stored(inner) for inner in value]
    return value
