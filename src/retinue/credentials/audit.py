"""The audit trail of credentials: their rows of the tenant's chain, in the shape the contract promises."""

from typing import Any

import sqlalchemy as sa

from retinue.credentials.events import PREFIX
from retinue.credentials.schemas import AuditActor, AuditQuery, AuditRecord
from retinue.kit.context import Context
from retinue.kit.db.statements import Statement
from retinue.kit.events.models import AuditEntry
from retinue.kit.lists import Listing, Page
from retinue.users.models import User

_entries = AuditEntry.__table__
_users = User.__table__

# Both databases read a field of a JSON column with the same operator.
_actor_id = _entries.c.actor.op("->>", return_type=sa.Text())(sa.literal("id"))
_LISTING = Listing(
    AuditEntry,
    sorts=("sequence",),
    filters=("success",),
    from_={"from_": "created_at"},
    until={"to": "created_at"},
    matches={"actor_id": _actor_id == sa.bindparam("actor_id", type_=sa.Text())},
    only=(_entries.c.action.startswith(PREFIX, autoescape=True),),
    default_sort="-sequence",
)
_NO_WAY: dict[str, Any] = {"tool_id": None, "agent_id": None, "execution_id": None}


async def page(ctx: Context, query: AuditQuery, credential_id: str | None = None) -> Page[AuditRecord]:
    """The newest first; of one credential or of all, those that are gone included."""
    narrowed: dict[str, Any] = {}
    if credential_id is not None:
        narrowed["subject_id"] = credential_id
    if query.action is not None:
        narrowed["action"] = PREFIX + query.action
    found = await _LISTING.page(ctx.db, query, **narrowed)
    names = await _names(ctx, {entry.actor["id"] for entry in found.items})
    return found.shown(lambda entry: _record(entry, names))


async def _names(ctx: Context, ids: set[str]) -> dict[str, str]:
    """What the users among these are called now."""
    if not ids:
        return {}
    wanted = sa.select(_users.c.id, _users.c.first_name, _users.c.last_name).where(
        _users.c.id.in_([sa.literal(id) for id in sorted(ids)])
    )
    rows: list[Any] = await ctx.db.rows(Statement(wanted))
    return {id: f"{first} {last}".strip() for id, first, last in rows}


def _record(entry: AuditEntry, names: dict[str, str]) -> AuditRecord:
    metadata = dict(entry.metadata)
    name, via = metadata.pop("credential_name"), metadata.pop("via", None)
    del metadata["credential_id"]
    actor_id = entry.actor["id"]
    return AuditRecord.of(
        entry,
        credential_id=entry.subject_id,
        credential_name=name,
        action=entry.action.removeprefix(PREFIX),
        actor=AuditActor(type=entry.actor["type"], id=actor_id, name=names.get(actor_id)),
        via={**_NO_WAY, **via} if via else None,
        metadata=metadata,
        prev_hash=entry.previous_hash,
    )
