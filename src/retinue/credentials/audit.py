"""The audit trail of credentials: their entries of the tenant's audit log, in the specified form."""

from typing import Any

import sqlalchemy as sa

from retinue.credentials.events import PREFIX
from retinue.credentials.schemas import AuditActor, AuditQuery, AuditRecord
from retinue.kit.context import Context
from retinue.kit.db.statements import Statement
from retinue.kit.events.models import AuditEntry
from retinue.kit.json_types import JsonObject
from retinue.kit.lists import Listing, Page
from retinue.service_accounts.queries import ID_PREFIX as SERVICE_ACCOUNT_PREFIX
from retinue.service_accounts.queries import find_account_name
from retinue.users.models import User

_entries = AuditEntry.__table__
_users = User.__table__

# `->>` reads a field of a JSON column in both databases.
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
_EMPTY_VIA: JsonObject = {"tool_id": None, "agent_id": None, "execution_id": None}


async def page(ctx: Context, query: AuditQuery, credential_id: str | None = None) -> Page[AuditRecord]:
    """Return entries of one credential or of all, including deleted ones, newest first."""
    narrowed: JsonObject = {}
    if credential_id is not None:
        narrowed["subject_id"] = credential_id
    if query.action is not None:
        narrowed["action"] = PREFIX + query.action
    found = await _LISTING.page(ctx.db, query, **narrowed)
    names = await _names(ctx, {entry.actor["id"] for entry in found.items})
    return found.to_page(lambda entry: _record(entry, names))


async def _names(ctx: Context, ids: set[str]) -> dict[str, str]:
    """Return the current names of the users and service accounts among these ids."""
    if not ids:
        return {}
    wanted = sa.select(_users.c.id, _users.c.first_name, _users.c.last_name).where(
        _users.c.id.in_([sa.literal(id) for id in sorted(ids)])
    )
    rows: list[Any] = await ctx.db.rows(Statement(wanted))
    machines = {id: await find_account_name(ctx, id) for id in ids if id.startswith(SERVICE_ACCOUNT_PREFIX)}
    return {
        **{id: f"{first} {last}".strip() for id, first, last in rows},
        **{id: name for id, name in machines.items() if name},
    }


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
        via={**_EMPTY_VIA, **via} if via else None,
        metadata=metadata,
        prev_hash=entry.previous_hash,
    )
