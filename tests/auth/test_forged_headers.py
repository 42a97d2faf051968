"""No header makes anyone more than they are."""

from typing import Any

import pytest

from retinue.access.models import Role
from retinue.users.models import User
from tests.client import Api, Response
from tests.contract.routes import NEEDS_PERMISSION, NEEDS_TOKEN, ROUTES, call
from tests.factories.people import People

pytestmark = pytest.mark.either_database

TRICKS = {
    "X-Request-From": "internal",
    "X-Internal": "true",
    "X-Forwarded-User": "root@example.com",
    "X-Forwarded-For": "127.0.0.1",
    "X-Forwarded-Host": "127.0.0.1",
    "X-Remote-User": "root@example.com",
    "X-User-ID": "usr_admin",
    "X-User-Role": "super_admin",
    "X-Real-IP": "127.0.0.1",
    "X-Original-URL": "/users",
    "X-Rewrite-URL": "/users",
    "X-HTTP-Method-Override": "DELETE",
    "X-HTTP-Method": "DELETE",
    "X-Method-Override": "DELETE",
    "X-API-Version": "0",
}


def status_and_error(answer: Response) -> tuple[int, Any]:
    """Return the status and the error of an answer; both are the same for every call."""
    return answer.status, answer.json()["error"] if answer.status >= 400 else None


@pytest.mark.parametrize("tenant_header", ["x-tenant-id", "X-Tenant-ID"])
async def test_strangers_get_the_same_answer_with_and_without_them(api, people, tenant_header):
    tenant = await people.default_tenant()
    for route in ROUTES:
        plain = await call(api, route)
        tricked = await call(api, route, headers={**TRICKS, tenant_header: tenant.id})
        assert status_and_error(plain) == status_and_error(tricked), route.path
        assert route not in NEEDS_TOKEN or plain.status == 401, route.path


async def test_the_least_of_users_gets_the_same_answer_with_and_without_them(people):
    viewer = await people.signed_in(Role.viewer, await people.tenant("Mine"))
    elsewhere = await people.tenant("Elsewhere")
    for route in NEEDS_PERMISSION:
        plain = await call(viewer, route)
        tricked = await call(viewer, route, headers={**TRICKS, "X-Tenant-ID": elsewhere.id})
        assert status_and_error(plain) == status_and_error(tricked), route.path


async def test_a_method_in_a_header_is_not_the_method(people):
    me = await people.signed_in()
    (session,) = (await me.get("/auth/sessions")).json()["data"]
    path = f"/auth/sessions/{session['id']}"
    answer = await me.post(path, headers=TRICKS)
    assert (answer.status, answer.code) == (405, "method_not_allowed")
    assert (await me.get("/auth/me")).status == 200


@pytest.mark.parametrize("role", [role for role in Role if role is not Role.super_admin])
async def test_nobody_but_a_super_administrator_reaches_another_tenant(people: People, role: Role):
    mine, theirs = await people.tenant("Mine"), await people.tenant("Theirs")
    secret = await people.user(tenant=theirs, first_name="CANARY-theirs")
    me = await people.signed_in(role, mine)
    for route in NEEDS_PERMISSION:
        for spelling in ("X-Tenant-ID", "x-tenant-id", "X-TENANT-ID"):
            answer = await call(me, route, {"user_id": secret.id}, headers={spelling: theirs.id})
            assert b"CANARY" not in answer.body, route.path
            assert answer.status != 404 or answer.code != "tenant_not_found"
    async with people.context(theirs.id) as ctx:
        assert await ctx.db.count(User) == 1


async def test_an_unknown_tenant_in_the_header_of_a_user_means_nothing(people):
    admin = await people.signed_in(Role.tenant_admin, await people.tenant("Mine"))
    plain = await admin.get("/users")
    for value in ("ten_unknown", "", "../x", "'"):
        answer = await admin.get("/users", headers={"X-Tenant-ID": value})
        assert (answer.status, answer.body) == (200, plain.body)


async def test_a_claimed_address_is_not_believed(api: Api, people: People):
    """The address of a session is the peer's, not what a stranger's header says."""
    me = await people.signed_in()
    (session,) = (await me.get("/auth/sessions", headers=TRICKS)).json()["data"]
    assert session["ip_address"] == api.ip
