"""Reading the audit log as its clients do."""

from typing import Any

import msgspec

from retinue.audit.schemas import AuditKeys
from retinue.kit.events.audit_export import decode_base64
from tests.client import Api

AUDIT = "/api/v1/audit"
Json = dict[str, Any]


async def rows_of(api: Api, **query: Any) -> list[Json]:
    answer = await api.get(AUDIT, query={"per_page": 100, **query})
    assert answer.status == 200, answer
    return answer.json()["data"]


async def export_of(api: Api, **query: Any) -> list[bytes]:
    answer = await api.get(f"{AUDIT}/export", query=query)
    assert answer.status == 200, answer
    return answer.body.splitlines(keepends=True)


async def keys_of(api: Api) -> dict[str, bytes]:
    answer = await api.get("/.well-known/retinue-audit-keys.json")
    found = msgspec.convert(answer.json(), AuditKeys)
    return {key.kid: decode_base64(key.x) for key in found.keys}
