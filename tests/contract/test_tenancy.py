"""Another tenant's id, anywhere in any path, is answered exactly as an id that nobody has."""

from typing import Any

import pytest

from retinue.access.models import Role
from retinue.auth.models import MfaDevice, Session
from retinue.files.models import File
from retinue.kit.crypto import Sealed
from retinue.tools.models import AuthType, ExecutionStatus, Tool, ToolExecution, ToolType
from retinue.users.models import Invitation
from tests.contract.routes import ABSENT, WITH_PARAMETERS, call, label
from tests.factories.credentials import some_credential, some_rule
from tests.factories.providers import some_key

# Parameters that name no tenant's object.
SHARED = {"asset", "role", "file_id", "tenant_id"}


@pytest.fixture
async def foreign(people) -> dict[str, str]:
    """An id of each kind that belongs to another tenant; every text of it is a canary."""
    tenant = await people.tenant("CANARY-other")
    user = await people.user(Role.tenant_admin, tenant, first_name="CANARY-name")
    far = "2999-01-01T00:00:00.000000Z"
    async with people.context(tenant.id) as ctx:
        session = await ctx.db.insert(Session(user_id=user.id, expires_at=far, last_used_at=far))
        device = await ctx.db.insert(
            MfaDevice(user_id=user.id, name="CANARY-device", secret=Sealed.of("S"), is_active=True)
        )
        invitation = await ctx.db.insert(
            Invitation(
                email="canary@example.com",
                role=Role.viewer,
                token_hash="h",
                invited_by=user.id,
                expires_at=far,
            )
        )
        tool = await ctx.db.insert(
            Tool(
                name="CANARY-tool",
                slug="canary",
                category="custom",
                tool_type=ToolType.rest_api,
                config={"base_url": "https://canary.example.com"},
                auth_type=AuthType.none,
                pinned_packages=[],
                created_by=user.id,
            )
        )
        execution = await ctx.db.insert(
            ToolExecution(
                tool_id=tool.id, status=ExecutionStatus.completed, input='"CANARY"', executed_at=far
            )
        )
        credential = await ctx.db.insert(some_credential(user.id, "CANARY-key"))
        rule = await ctx.db.insert(some_rule(credential))
        key = await ctx.db.insert(some_key(user.id, "CANARY-key"))
        file = await ctx.db.insert(
            File(filename="CANARY", mime_type="text/plain", size_bytes=1, sha256="x", purpose="tool")
        )
    return {
        "user_id": user.id,
        "session_id": session.id,
        "device_id": device.id,
        "invitation_id": invitation.id,
        "file_id": file.id,
        "credential_id": credential.id,
        "access_id": rule.id,
        "key_id": key.id,
        "tool_id": tool.id,
        "execution_id": execution.id,
    }


def comparable(answer: Any) -> tuple[int, bytes]:
    return answer.status, answer.body


@pytest.mark.parametrize("route", [r for r in WITH_PARAMETERS if not set(r.parameters) <= SHARED], ids=label)
async def test_another_tenants_id_is_simply_not_there(people, foreign, route) -> None:
    for parameter in route.parameters:
        assert parameter in foreign or parameter in SHARED, (
            f"tell this test how to make a foreign {parameter}"
        )
    caller = await people.signed_in(Role.tenant_admin, await people.tenant("Mine"))
    body = {"role": "viewer"} if route.body is not None else None
    theirs = await call(caller, route, foreign, json=body)
    nobodys = await call(caller, route, json=body)
    assert theirs.status == 404
    assert comparable(theirs) == comparable(nobodys)
    assert b"CANARY" not in theirs.body


@pytest.mark.parametrize("route", WITH_PARAMETERS, ids=label)
@pytest.mark.parametrize(
    "odd", ["..", "%2e%2e", "%00", "x" * 10_000, ABSENT.upper(), "a%2fb", "%F0%9F%92%A9", "'--", "*"]
)
async def test_odd_ids_are_not_found_and_break_nothing(admin, route, odd) -> None:
    body = {"role": "viewer", "permissions": []} if route.body is not None else None
    answer = await call(admin, route, dict.fromkeys(route.parameters, odd), json=body)
    assert answer.status == 404, answer
