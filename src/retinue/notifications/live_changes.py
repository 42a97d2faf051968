"""Changes of objects for live lists: recent events, reduced to the type and id of what they are about."""

from collections.abc import Iterable
from typing import Any

import msgspec
import sqlalchemy as sa

from retinue.kit.context import Caller, Context
from retinue.kit.context.instance import Instance
from retinue.kit.db.in_list import in_list, list_parameter
from retinue.kit.db.statements import Statement
from retinue.kit.events.models import EventEntry
from retinue.kit.principal import SYSTEM, Principal
from retinue.notifications.stream_listener import ObjectChange, StreamListener

MAX_CHANGES_PER_POLL = 500
# A transaction may commit after it read the clock.
_LOOKBACK_SECONDS = 10
_SEES_ALL = "agents:write"


class _ObjectType(msgspec.Struct, frozen=True):
    """Events whose type begins with `prefix` are about objects of this type.

    Of a private type, callers see some objects and not others: without `agents:write` they are told that
    something changed, not what.
    """

    prefix: str
    name: str
    requires: str
    is_private: bool = False


# The first prefix that fits decides.
OBJECT_TYPES = (
    _ObjectType("agent.chat.", "conversation", "conversations:read", is_private=True),
    _ObjectType("agent.", "agent", "agents:read"),
    _ObjectType("approval.", "approval", "approvals:read", is_private=True),
    _ObjectType("workflow.execution.", "workflow_execution", "workflows:read"),
    _ObjectType("workflow.", "workflow", "workflows:read"),
    _ObjectType("form.submission.", "form_submission", "forms:read"),
    _ObjectType("form.", "form", "forms:read"),
    _ObjectType("data_table.row.", "data_table_row", "data_tables:read"),
    _ObjectType("data_table.", "data_table", "data_tables:read"),
    _ObjectType("system.tool.", "tool", "tools:read"),
    _ObjectType("system.training.", "agent", "agents:read"),
    _ObjectType("system.credential.", "credential", "credentials:read"),
    _ObjectType("system.incoming_webhook.", "incoming_webhook", "webhooks:read"),
    _ObjectType("system.webhook.received", "incoming_webhook", "webhooks:read"),
    _ObjectType("system.webhook.", "webhook", "webhooks:read"),
    _ObjectType("system.subscription.", "subscription", "events:read"),
    _ObjectType("system.channel.", "channel", "notification_channels:read"),
    _ObjectType("system.api_key.", "api_key", "api_keys:read"),
    _ObjectType("system.embed_key.", "embed_key", "embed_keys:read"),
    _ObjectType("system.file.", "file", "files:read"),
    _ObjectType("system.user.", "user", "admin:users"),
)
# Under load these outnumber all others, which must not be lost among them.
_FREQUENT = (
    "agent.chat.message",
    "workflow.execution.node_completed",
    "data_table.row.created",
    "data_table.row.updated",
)

_events = EventEntry.__table__


def _recent(*, is_frequent: bool) -> Statement[Any]:
    frequent = _events.c.type.in_([sa.literal(type) for type in _FREQUENT])
    return Statement(
        sa.select(
            _events.c.id,
            _events.c.tenant_id,
            _events.c.type,
            _events.c.subject_id,
            _events.c.actor,
            _events.c.created_at,
        )
        .where(
            in_list(_events.c.tenant_id, "tenants"),
            _events.c.created_at >= sa.bindparam("since"),
            frequent if is_frequent else ~frequent,
        )
        .order_by(_events.c.created_at.desc())
        .limit(sa.bindparam("row_limit", type_=sa.BigInteger()))
    )


_STATEMENTS = (_recent(is_frequent=False), _recent(is_frequent=True))


class ChangePoller:
    """Reads new events of the listeners' tenants, also those of other processes."""

    def __init__(self, instance: Instance) -> None:
        self._instance = instance
        self._started_at = instance.clock.now()
        self._seen: dict[str, str] = {}

    async def poll(self, listeners: Iterable[StreamListener]) -> None:
        """Add to each listener the changes since the last poll that its caller may read."""
        by_tenant: dict[str, list[StreamListener]] = {}
        for listener in listeners:
            by_tenant.setdefault(listener.principal.tenant_id, []).append(listener)
        if not by_tenant:
            return
        since = max(self._started_at, self._instance.clock.ahead(-_LOOKBACK_SECONDS))
        self._seen = {id: at for id, at in self._seen.items() if at >= since}
        reader = Context(self._instance, SYSTEM, Caller(correlation_id=""), reads_outside_transaction=True)
        system = reader.system("listeners of every tenant")
        for statement in _STATEMENTS:
            rows = await system.rows(
                statement, tenants=list_parameter(by_tenant), since=since, row_limit=MAX_CHANGES_PER_POLL
            )
            is_full = len(rows) == MAX_CHANGES_PER_POLL
            for id, tenant_id, event_type, subject_id, actor, created_at in rows:
                if id in self._seen:
                    continue
                self._seen[id] = created_at
                by = _user_id(actor)
                for listener in by_tenant.get(tenant_id, ()):
                    change = _change(listener.principal, event_type, subject_id, by)
                    if change is not None:
                        listener.add_change(change, is_precise=not is_full)


def _user_id(actor: Any) -> str | None:
    """Return the id of the user who acted; rows of a plain statement hold JSON as text."""
    named = actor if isinstance(actor, dict) else msgspec.json.decode(actor)
    return named["id"] if named.get("type") == "user" else None


def _change(principal: Principal, event_type: str, subject_id: str, by: str | None) -> ObjectChange | None:
    kind = next((kind for kind in OBJECT_TYPES if event_type.startswith(kind.prefix)), None)
    if kind is None or not principal.may(kind.requires):
        return None
    if kind.is_private and not principal.may(_SEES_ALL):
        return ObjectChange(type=kind.name, id=None, by=None)
    return ObjectChange(type=kind.name, id=subject_id or None, by=by)
