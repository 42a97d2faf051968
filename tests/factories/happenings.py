"""The event log and the audit chain of a test's service."""

from typing import Any

from retinue.kit.events.models import AuditEntry, EventEntry
from tests.factories.people import People


async def events(people: People, type: str) -> list[EventEntry]:
    """The events of this type, in every tenant, oldest first."""
    async with people.context() as ctx:
        return await ctx.system("test").all(EventEntry, type=type, order_by=("created_at", "id"))


async def audits(people: People, action: str) -> list[AuditEntry]:
    async with people.context() as ctx:
        return await ctx.system("test").all(AuditEntry, action=action, order_by=("created_at", "sequence"))


async def only_event(people: People, type: str) -> dict[str, Any]:
    """The data of the one event of this type, which the audit chain has as well."""
    found = await events(people, type)
    audited = await audits(people, type)
    assert len(found) == 1, found
    assert [row.metadata for row in audited] == [found[0].data]
    return found[0].data
