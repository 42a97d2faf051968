"""Tests of an administrator's changes to accounts: effective at once, announced once, and limited."""

import pytest

from retinue.access.models import Role
from retinue.auth.models import MfaDevice, RecoveryCode, Session
from retinue.kit.crypto import Sealed
from retinue.users.models import User
from tests.factories.happenings import events, only_event
from tests.factories.people import PASSWORD

LOWER_ROLES = ["agent_developer", "agent_user", "viewer"]
ROLES = [*Role]


def operations(api, user_id: str):
    """Every change of a user, as calls that are not made yet."""
    return {
        "role": lambda: api.put(f"/users/{user_id}/role", {"role": "viewer"}),
        "deactivate": lambda: api.post(f"/users/{user_id}/deactivate"),
        "reactivate": lambda: api.post(f"/users/{user_id}/reactivate"),
        "mfa": lambda: api.post(f"/api/v1/users/{user_id}/mfa/reset"),
        "delete": lambda: api.delete(f"/users/{user_id}"),
    }


async def load_user(people, user: User) -> User | None:
    async with people.context(user.tenant_id) as ctx:
        return await ctx.db.get(User, user.id)


async def with_second_factor(people, user: User) -> User:
    async with people.context(user.tenant_id) as ctx:
        await ctx.db.insert(
            MfaDevice(user_id=user.id, name="Phone", secret=Sealed.of(b"1234567890"), is_active=True)
        )
        await ctx.db.insert(RecoveryCode(user_id=user.id, code_hash="x"))
        return await ctx.db.update(user, mfa_enabled=True)


async def test_a_new_role_counts_from_the_users_next_request(people, admin):
    api = await people.signed_in("viewer")
    assert (await api.get("/users")).status == 403
    answer = await admin.put(f"/users/{api.user.id}/role", {"role": "tenant_admin"})
    assert answer.status == 200
    assert set(answer.json()) == {"id", "role", "message"}
    assert (answer.json()["id"], answer.json()["role"]) == (api.user.id, "tenant_admin")
    assert (await api.get("/users")).status == 200
    await admin.put(f"/users/{api.user.id}/role", {"role": "agent_user"})
    assert (await api.get("/users")).status == 403
    assert (await api.get("/me/permissions")).json()["role"] == "agent_user"


@pytest.mark.parametrize("role", ROLES)
async def test_a_super_admin_grants_each_of_the_five_roles_in_any_tenant(people, admin, role):
    user = await people.user("agent_user", await people.tenant())
    answer = await admin.put(f"/users/{user.id}/role", {"role": role})
    assert (answer.status, answer.json()["role"]) == (200, role)
    assert (await load_user(people, user)).role is role


async def test_a_change_of_role_is_told_once_in_the_users_tenant(people, admin):
    tenant = await people.tenant()
    user = await people.user("agent_user", tenant)
    for _ in range(2):
        assert (await admin.put(f"/users/{user.id}/role", {"role": "viewer"})).status == 200
    assert await only_event(people, "system.user.role_changed") == {
        "user_id": user.id,
        "role": "viewer",
        "previous_role": "agent_user",
    }
    [told] = await events(people, "system.user.role_changed")
    assert told.tenant_id == tenant.id
    assert told.actor == {"type": "user", "id": admin.user.id}


@pytest.mark.parametrize("role", ["", "root", "Viewer", None, 1, ["viewer"]])
async def test_an_unknown_role_is_refused(people, admin, role):
    user = await people.user()
    answer = await admin.put(f"/users/{user.id}/role", {"role": role})
    assert (answer.status, answer.code) == (422, "validation_error")
    assert list(answer.details) == ["role"]
    assert (await load_user(people, user)).role is Role.agent_user


async def test_a_role_change_changes_nothing_else(people, admin):
    user = await people.user()
    body = {
        "role": "viewer",
        "id": "usr_mine",
        "tenant_id": "ten_mine",
        "email": "x@example.com",
        "email_verified": False,
        "status": "inactive",
    }
    assert (await admin.put(f"/users/{user.id}/role", body)).status == 200
    now = await load_user(people, user)
    assert (now.email, now.email_verified, now.status) == (user.email, True, user.status)


async def test_a_deactivated_user_is_out_at_once_and_cannot_sign_in(people, admin, api):
    user = await people.user()
    signed_in = await people.sign_in(user)
    login = {"email": user.email, "password": PASSWORD}
    tokens = (await api.post("/auth/login", login)).json()
    answer = await admin.post(f"/users/{user.id}/deactivate")
    assert answer.status == 200
    assert set(answer.json()) == {"id", "status", "message"}
    assert (answer.json()["id"], answer.json()["status"]) == (user.id, "inactive")
    assert (await signed_in.get("/auth/me")).status == 401
    assert (await api.post("/auth/refresh", {"refresh_token": tokens["refresh_token"]})).status == 401
    refused = await api.post("/auth/login", login)
    assert (refused.status, refused.details["reason"]) == (403, "account_inactive")


async def test_a_reactivated_user_signs_in_anew(people, admin, api):
    user = await people.user()
    signed_in = await people.sign_in(user)
    await admin.post(f"/users/{user.id}/deactivate")
    answer = await admin.post(f"/users/{user.id}/reactivate")
    assert answer.status == 200
    assert set(answer.json()) == {"id", "status", "message"}
    assert (answer.json()["id"], answer.json()["status"]) == (user.id, "active")
    assert (await signed_in.get("/auth/me")).status == 401
    assert (await (await people.sign_in(user)).get("/auth/me")).status == 200


async def test_a_session_begun_during_a_deactivation_does_not_come_back_to_life(people, admin):
    user = await people.user()
    await admin.post(f"/users/{user.id}/deactivate")
    async with people.context(user.tenant_id) as ctx:
        late = Session(user_id=user.id, expires_at=ctx.clock.ahead(3600), last_used_at=ctx.now)
        await ctx.db.insert(late)
    await admin.post(f"/users/{user.id}/reactivate")
    async with people.context(user.tenant_id) as ctx:
        assert await ctx.db.count(Session, user_id=user.id) == 0


async def test_deactivating_and_reactivating_are_told_once_each(people, admin):
    user = await people.user()
    for action in ("deactivate", "deactivate", "reactivate", "reactivate"):
        assert (await admin.post(f"/users/{user.id}/{action}")).status == 200
    assert await only_event(people, "system.user.deactivated") == {"user_id": user.id}
    assert await only_event(people, "system.user.reactivated") == {"user_id": user.id}


async def test_a_deleted_user_is_gone_with_sessions_and_devices(people, admin, api):
    user = await with_second_factor(people, await people.user())
    login = {"email": user.email, "password": PASSWORD}
    async with people.context(user.tenant_id) as ctx:
        await ctx.db.insert(Session(user_id=user.id, expires_at=ctx.clock.ahead(60), last_used_at=ctx.now))
    answer = await admin.delete(f"/users/{user.id}")
    assert answer.status == 200
    assert set(answer.json()) == {"message"}
    assert (await admin.get(f"/users/{user.id}")).code == "user_not_found"
    assert (await admin.delete(f"/users/{user.id}")).status == 404
    assert (await api.post("/auth/login", login)).status == 401
    async with people.context(user.tenant_id) as ctx:
        for record in (Session, MfaDevice, RecoveryCode):
            assert await ctx.db.count(record, user_id=user.id) == 0
    assert await only_event(people, "system.user.deleted") == {"user_id": user.id}
    assert (await people.user(email=user.email)).id != user.id


async def test_a_deleted_users_token_is_refused_at_once(people, admin):
    signed_in = await people.signed_in()
    await admin.delete(f"/users/{signed_in.user.id}")
    assert (await signed_in.get("/auth/me")).status == 401


async def test_an_admin_resets_a_users_second_factor(people, admin, api):
    signed_in = await people.signed_in()
    user = await with_second_factor(people, signed_in.user)
    for _ in range(2):
        answer = await admin.post(f"/api/v1/users/{user.id}/mfa/reset")
        assert answer.status == 200
        assert set(answer.json()) == {"id", "mfa_enabled", "message"}
        assert (answer.json()["id"], answer.json()["mfa_enabled"]) == (user.id, False)
    assert await only_event(people, "system.user.mfa_reset") == {"user_id": user.id}
    assert (await signed_in.get("/auth/me")).status == 401
    async with people.context(user.tenant_id) as ctx:
        for record in (MfaDevice, RecoveryCode):
            assert await ctx.db.count(record, user_id=user.id) == 0
    answer = await api.post("/auth/login", {"email": user.email, "password": PASSWORD})
    assert "access_token" in answer.json()


async def test_nobody_does_any_of_it_to_themselves(people, admin):
    tenant_admin = await people.signed_in("tenant_admin")
    for api in (admin, tenant_admin):
        for call in operations(api, api.user.id).values():
            answer = await call()
            assert (answer.status, answer.code) == (409, "cannot_modify_self")
        assert (await api.get("/auth/me")).status == 200


async def test_a_tenant_admin_does_all_of_it_in_its_own_tenant(people):
    tenant = await people.tenant()
    api = await people.signed_in("tenant_admin", tenant)
    for role in ("tenant_admin", *LOWER_ROLES):
        user = await people.user(role, tenant)
        for call in operations(api, user.id).values():
            assert (await call()).status == 200


async def test_a_tenant_admin_cannot_touch_a_super_admin(people, admin):
    api = await people.signed_in("tenant_admin", await people.default_tenant())
    for call in operations(api, admin.user.id).values():
        answer = await call()
        assert (answer.status, answer.code) == (403, "forbidden")
        assert answer.details == {
            "required": "super_admin",
            "your_role": "tenant_admin",
            "reason": "role_above_yours",
        }
    assert (await admin.get("/auth/me")).json()["role"] == "super_admin"


async def test_a_tenant_admin_cannot_make_a_super_admin(people):
    tenant = await people.tenant()
    api = await people.signed_in("tenant_admin", tenant)
    user = await people.user(tenant=tenant)
    answer = await api.put(f"/users/{user.id}/role", {"role": "super_admin"})
    assert (answer.status, answer.details["required"]) == (403, "super_admin")
    assert (await load_user(people, user)).role is Role.agent_user
    assert (await api.put(f"/users/{user.id}/role", {"role": "tenant_admin"})).status == 200


async def test_whoever_is_given_user_administration_reaches_no_higher_than_themselves(people, admin):
    held = (await admin.get("/roles/viewer/permissions")).json()["permissions"]
    await admin.put("/roles/viewer/permissions", {"permissions": [*held, "admin:users"]})
    api = await people.signed_in("viewer")
    viewer, developer = await people.user("viewer"), await people.user("agent_developer")
    assert (await api.put(f"/users/{viewer.id}/role", {"role": "agent_user"})).status == 403
    assert (await api.post(f"/users/{developer.id}/deactivate")).status == 403
    assert (await api.post("/users/invite", {"email": "a@b.example", "role": "agent_user"})).status == 403
    assert (await api.post(f"/users/{viewer.id}/deactivate")).status == 200


async def test_another_tenants_users_are_not_found(people):
    api = await people.signed_in("tenant_admin", await people.tenant("Mine"))
    stranger = await people.user(tenant=await people.tenant("Other"))
    unknown = operations(api, "usr_nobody")
    for name, call in operations(api, stranger.id).items():
        answer = await call()
        assert (answer.status, answer.code) == (404, "user_not_found")
        assert answer.body == (await unknown[name]()).body
    now = await load_user(people, stranger)
    assert (now.role, now.status) == (stranger.role, stranger.status)


@pytest.mark.parametrize("role", LOWER_ROLES)
async def test_lower_roles_do_none_of_it(people, role):
    api = await people.signed_in(role)
    user = await people.user("viewer")
    for call in operations(api, user.id).values():
        answer = await call()
        assert (answer.status, answer.code) == (403, "forbidden")
        assert answer.details == {"required": "admin:users", "your_role": role}


async def test_nobody_does_any_of_it_without_signing_in(people, api):
    user = await people.user()
    for call in operations(api, user.id).values():
        assert (await call()).status == 401
