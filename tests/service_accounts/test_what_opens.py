"""Every route against a secret, which opens none, and against a machine, which is no person."""

import pytest

from retinue.access.catalogue import PEOPLE_ONLY, PERMISSION_KEYS
from retinue.kit.http.routing import ACCOUNT, EMBED_KEY, MEMBER, PUBLIC, SIGNED_IN
from tests.contract.routes import NOT_PUBLIC, ROUTES, call, label
from tests.factories.machines import machine, make_account, make_secret

pytestmark = pytest.mark.either_database

FOR_MACHINES_TOO = {
    "GET /me/permissions",
    "GET /api/v1/search",
    "GET /api/v1/tenant/export",
    "POST /api/v1/tenant/plan",
    "POST /api/v1/tenant/apply",
}


async def test_a_secret_as_a_bearer_opens_nothing(admin):
    secret = await make_secret(admin, await make_account(admin, "agents:read"))
    bearer = admin.signed_in(secret["client_secret"])
    for route in NOT_PUBLIC:
        answer = await call(bearer, route)
        assert answer.status == 401, (label(route), answer)
        reason = "invalid_api_key" if route.requires is EMBED_KEY else "invalid_token"
        assert answer.details == {"reason": reason}, label(route)
    assert len(NOT_PUBLIC) > 300


async def test_routes_for_people_refuse_a_machine_in_one_way(admin):
    keys = [key for key in PERMISSION_KEYS if key not in PEOPLE_ONLY]
    caller = await machine(admin, *keys)
    taken = set()
    for route in ROUTES:
        if route.requires not in {ACCOUNT, SIGNED_IN, MEMBER}:
            continue
        answer = await call(caller, route)
        if answer.status != 403:
            taken.add(label(route))
            continue
        assert answer.details == {
            "required": "user",
            "your_role": "service_account",
            "reason": "person_required",
        }, label(route)
    assert taken == FOR_MACHINES_TOO


async def test_a_machine_with_every_permission_is_let_in_everywhere_else_and_breaks_nothing(admin):
    keys = [key for key in PERMISSION_KEYS if key not in PEOPLE_ONLY]
    caller = await machine(admin, *keys)
    for route in ROUTES:
        if route.requires in {PUBLIC, EMBED_KEY} or route.permission is None:
            continue
        answer = await call(caller, route)
        assert answer.status < 500, (label(route), answer)
        if route.permission in PEOPLE_ONLY:
            assert answer.status == 403, (label(route), answer)
            assert answer.details["required"] == route.permission
        else:
            assert answer.status not in {401, 403}, (label(route), answer)


async def test_a_machine_stays_in_its_tenant(admin, people):
    tenant = await people.tenant()
    caller = await machine(await people.signed_in("tenant_admin", tenant), "agents:read")
    elsewhere = {"X-Tenant-ID": (await people.default_tenant()).id}
    refused = await caller.get("/api/v1/agents", headers=elsewhere)
    assert (refused.status, refused.details["reason"]) == (403, "person_required")
    own = await caller.get("/api/v1/agents", headers={"X-Tenant-ID": tenant.id})
    assert own.status == 200
