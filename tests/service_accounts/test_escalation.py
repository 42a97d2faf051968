"""Tests that nobody grants a permission they do not hold, on any route."""

import pytest

from retinue.access.catalogue import PEOPLE_ONLY, PERMISSION_KEYS, default_permissions
from retinue.access.models import Role
from retinue.kit.errors import Invalid
from retinue.tenant_file.document import read_document
from tests.contract.routes import NEEDS_PERMISSION, call, label
from tests.factories.machines import PATH, ask_token, machine, make_account, make_secret

pytestmark = pytest.mark.either_database

MANAGES = {"service_accounts:read", "service_accounts:write", "admin:users"}
ROLES = [Role.tenant_admin, Role.agent_developer, Role.agent_user, Role.viewer]


def above(answer, key: str) -> None:
    assert answer.status == 403, (key, answer)
    assert answer.details["reason"] == "permission_above_yours", key
    assert answer.details["required"] == key


async def sign_in_granting(people, admin, role: Role, tenant):
    """Somebody with this role, which may manage accounts and users as well."""
    keys = [key for key in PERMISSION_KEYS if key in {*default_permissions(role), *MANAGES}]
    answer = await admin.put(f"/roles/{role}/permissions", {"permissions": keys})
    assert answer.status == 200, answer
    return await people.signed_in(role, tenant), keys


@pytest.mark.parametrize("role", ROLES, ids=str)
async def test_an_account_never_holds_a_key_that_its_maker_lacks(people, admin, role):
    tenant = await people.default_tenant()
    caller, held = await sign_in_granting(people, admin, role, tenant)
    own = await make_account(caller, "agents:read", name="Own")
    lacking = [key for key in PERMISSION_KEYS if key not in held]
    assert lacking
    for key in lacking:
        created = await caller.post(PATH, {"name": "New", "permissions": ["agents:read", key]})
        patched = await caller.patch(f"{PATH}/{own['id']}", {"permissions": ["agents:read", key]})
        if key in PEOPLE_ONLY:
            assert created.status == patched.status == 422
            continue
        above(created, key)
        above(patched, key)
        higher = await make_account(admin, "agents:read", key, name=f"Above {key}", status="active")
        path = f"{PATH}/{higher['id']}"
        above(await caller.post(f"{path}/secrets", {}), key)
        above(await caller.patch(path, {"allowed_ips": ["203.0.113.0/24"]}), key)
        # Less is for everyone who manages accounts, more is not.
        assert (await caller.patch(path, {"status": "disabled"})).status == 200
        above(await caller.patch(path, {"status": "active"}), key)
        assert (await caller.patch(path, {"permissions": ["agents:read"]})).status == 200
        above(await caller.patch(path, {"permissions": ["agents:read", key]}), key)
        assert (await caller.delete(path)).status == 204


@pytest.mark.parametrize("role", ROLES, ids=str)
async def test_the_token_of_an_account_opens_nothing_its_maker_lacks(people, admin, role):
    caller, held = await sign_in_granting(people, admin, role, await people.default_tenant())
    keys = [key for key in held if key not in PEOPLE_ONLY]
    account = await make_account(caller, *keys)
    secret = await make_secret(caller, account)
    for key in set(PERMISSION_KEYS) - set(keys):
        assert (await ask_token(caller, secret, scope=key)).json()["error"] == "invalid_scope"
    own = admin.signed_in((await ask_token(caller, secret)).json()["access_token"])
    tried = set()
    for route in NEEDS_PERMISSION:
        if route.permission not in keys:
            answer = await call(own, route)
            assert answer.status == 403, (label(route), answer)
            assert answer.details == {"required": route.permission, "your_role": "service_account"}
            tried.add(route.permission)
    assert tried == {route.permission for route in NEEDS_PERMISSION} - set(keys)


async def test_a_machine_gives_nobody_a_role_beyond_its_own_permissions(people, admin):
    tenant = await people.default_tenant()
    viewers = default_permissions(Role.viewer)
    caller = await machine(admin, "admin:users", *viewers)
    person = await people.user(Role.viewer, tenant)
    boss = await people.user(Role.tenant_admin, tenant)
    waiting = await people.user(Role.agent_user, tenant, is_pending=True, is_vouched_for=False)
    for role in Role:
        beyond = [
            key
            for key in PERMISSION_KEYS
            if key in default_permissions(role) and key not in {"admin:users", *viewers}
        ]
        invited = await caller.post("/users/invite", {"email": f"{role}@example.com", "role": role})
        changed = await caller.put(f"/users/{person.id}/role", {"role": role})
        if beyond:
            above(invited, beyond[0])
            above(changed, beyond[0])
        else:
            assert (invited.status, changed.status) == (201, 200), (role, invited, changed)
    for action in ("deactivate", "reactivate"):
        assert (await caller.post(f"/users/{boss.id}/{action}")).status == 403
        assert (await caller.post(f"/users/{person.id}/{action}")).status == 200
    assert (await caller.post(f"/users/{waiting.id}/approve")).status == 403
    assert (await caller.put(f"/users/{boss.id}/role", {"role": "viewer"})).status == 403
    assert (await caller.delete(f"/users/{boss.id}")).status == 403
    assert (await caller.post(f"/api/v1/users/{boss.id}/mfa/reset")).status == 403
    assert (await caller.delete(f"/users/{person.id}")).status == 200


async def test_a_person_gives_nobody_a_role_with_a_key_they_lack(people, admin):
    tenant = await people.default_tenant()
    keys = [*default_permissions(Role.viewer), "credentials:reveal"]
    assert (await admin.put("/roles/viewer/permissions", {"permissions": keys})).status == 200
    narrowed = [key for key in default_permissions(Role.tenant_admin) if key != "credentials:reveal"]
    assert (await admin.put("/roles/tenant_admin/permissions", {"permissions": narrowed})).status == 200
    caller = await people.signed_in(Role.tenant_admin, tenant)
    person = await people.user(Role.agent_user, tenant)
    above(await caller.post("/users/invite", {"email": "new@example.com", "role": "viewer"}), keys[-1])
    above(await caller.put(f"/users/{person.id}/role", {"role": "viewer"}), keys[-1])
    invited = await admin.post("/users/invite", {"email": "new@example.com", "role": "viewer"})
    again = await caller.post(f"/users/invitations/{invited.json()['id']}/resend")
    above(again, keys[-1])
    assert (await caller.put(f"/users/{person.id}/role", {"role": "agent_developer"})).status == 200


def test_a_tenant_file_has_no_section_that_grants_anything():
    read_document({"retinue": 1, "data_tables": {}})
    for section in ("service_accounts", "users", "roles", "permissions", "invitations"):
        with pytest.raises(Invalid):
            read_document({"retinue": 1, section: {"Machine": {"permissions": ["admin:users"]}}})
