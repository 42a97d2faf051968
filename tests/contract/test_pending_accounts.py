"""Every route and an account that nobody has let in yet: only profile, factors and sessions answer."""

import pytest

from retinue.access.models import Role
from retinue.kit.http.routing import ACCOUNT, EMBED_KEY, PUBLIC
from tests.contract.routes import ROUTES, call, label
from tests.factories.people import People

pytestmark = pytest.mark.either_database

OWN_ACCOUNT = """
POST /auth/change-password
POST /auth/logout
GET /auth/me
GET /auth/sessions
POST /auth/sessions/revoke-others
DELETE /auth/sessions/{session_id}
GET /api/v1/mfa/devices
DELETE /api/v1/mfa/devices/{device_id}
POST /api/v1/mfa/disable
POST /api/v1/mfa/enable
POST /api/v1/mfa/recovery-codes
POST /api/v1/mfa/setup
GET /api/v1/mfa/status
POST /api/v1/mfa/verify
GET /api/v1/profile
PUT /api/v1/profile
DELETE /api/v1/profile/avatar
POST /api/v1/profile/avatar
"""


def test_the_routes_of_ones_own_account_are_those_people_agreed_on() -> None:
    declared = {label(route) for route in ROUTES if route.requires is ACCOUNT}
    assert declared == {line for line in OWN_ACCOUNT.splitlines() if line}


@pytest.mark.parametrize(
    ("account", "settings", "reason"),
    [
        ({"is_pending": True, "is_vouched_for": False}, {}, "account_pending"),
        (
            {"email_verified": False, "is_vouched_for": False},
            {"base_url": "https://retinue.example.com"},
            "email_not_verified",
        ),
    ],
    ids=["pending", "unverified"],
)
# A tenant's first user is its administrator: whatever the role allows, the account is not let in.
@pytest.mark.parametrize("role", [Role.agent_user, Role.tenant_admin, Role.super_admin], ids=str)
async def test_only_the_own_account_answers(make_service, account, settings, reason, role) -> None:
    service = await make_service(**settings)
    people = People(service)
    tenant = await people.tenant()
    user = await people.user(role, tenant, **account)
    stranger = await people.sign_in(user)
    elsewhere = {"X-Tenant-ID": (await people.default_tenant()).id}
    refused = []
    for route in ROUTES:
        if route.requires in {PUBLIC, EMBED_KEY}:
            continue
        if label(route) == "POST /auth/logout":
            continue
        for headers in ({}, elsewhere, {"Idempotency-Key": "once"}):
            answer = await call(stranger, route, headers=headers)
            if route.requires is ACCOUNT:
                assert answer.status != 403, (label(route), answer)
                assert answer.status < 500, (label(route), answer)
                continue
            refused.append(label(route))
            assert (answer.status, answer.code) == (403, "forbidden"), (label(route), answer)
            assert answer.details["reason"] == reason, label(route)
            assert answer.details["your_role"] == role.value
    assert len(set(refused)) > 200
    assert (await stranger.post("/auth/logout")).status == 200
