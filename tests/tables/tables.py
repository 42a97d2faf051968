"""Tables through the API, and the files that go into them."""

from typing import Any

import msgspec

from retinue.app import Service
from tests.client import Api, Response

BASE = "/api/v1/data-tables"

CUSTOMERS: list[dict[str, Any]] = [
    {"name": "name", "type": "text", "required": True},
    {"name": "email", "type": "email", "unique": True},
    {"name": "age", "type": "integer", "indexed": True},
    {"name": "balance", "type": "number"},
    {"name": "active", "type": "boolean", "default": True},
    {"name": "plan", "type": "select", "options": ["free", "pro"], "indexed": True},
    {"name": "tags", "type": "multi_select", "options": ["a", "b", 'x"a']},
    {"name": "born", "type": "date"},
]


class Tables:
    def __init__(self, service: Service, person: Api) -> None:
        self.service = service
        self.person = person

    async def make(self, columns: list[dict[str, Any]] | None = None, **more: Any) -> dict[str, Any]:
        body = {"name": "Customers", "columns": CUSTOMERS if columns is None else columns, **more}
        answer = await self.person.post(BASE, body)
        assert answer.status == 201, answer
        return dict(answer.json()["data"])

    async def add(self, table: dict[str, Any], *rows: dict[str, Any]) -> list[dict[str, Any]]:
        answer = await self.person.post(f"{BASE}/{table['id']}/rows", {"rows": list(rows)})
        assert answer.status == 201, answer
        return list(answer.json()["data"])

    async def table(self, table: dict[str, Any]) -> dict[str, Any]:
        return dict((await self.person.get(f"{BASE}/{table['id']}")).json()["data"])

    async def page(self, table: dict[str, Any], **query: Any) -> dict[str, Any]:
        if "filter" in query and not isinstance(query["filter"], str):
            query["filter"] = msgspec.json.encode(query["filter"]).decode()
        answer = await self.person.get(f"{BASE}/{table['id']}/rows", query=query)
        assert answer.status == 200, answer
        return dict(answer.json())

    async def names(self, table: dict[str, Any], **query: Any) -> list[Any]:
        query.setdefault("sort", "created_at")
        return [row["name"] for row in (await self.page(table, **query))["data"]]

    async def send(self, table: dict[str, Any], filename: str, content: bytes, **fields: str) -> Response:
        files = {"file": (filename, content, "application/octet-stream")}
        return await self.person.post(f"{BASE}/{table['id']}/import", files=files, fields=fields)

    async def work(self) -> None:
        await self.service.runner.drain()

    async def bring(
        self, table: dict[str, Any], filename: str, content: bytes, **fields: str
    ) -> dict[str, Any]:
        """Import a file; return the finished import."""
        answer = await self.send(table, filename, content, **fields)
        assert answer.status == 202, answer
        await self.work()
        return await self.import_of(table, answer.json()["data"]["job_id"])

    async def import_of(self, table: dict[str, Any], job_id: str) -> dict[str, Any]:
        answer = await self.person.get(f"{BASE}/{table['id']}/imports/{job_id}")
        assert answer.status == 200, answer
        return dict(answer.json()["data"])

    async def export(self, table: dict[str, Any], **query: Any) -> bytes:
        answer = await self.person.get(f"{BASE}/{table['id']}/export", query=query)
        assert answer.status == 200, answer
        return answer.body


async def happenings(tables: Tables) -> list[dict[str, Any]]:
    from retinue.kit.events.models import EventEntry
    from tests.factories.people import People

    async with People(tables.service).context(tables.person.user.tenant_id) as ctx:
        entries = await ctx.db.all(EventEntry, order_by=("created_at", "position"))
    return [{"type": one.type, "data": one.data} for one in entries if one.category == "data_table"]
