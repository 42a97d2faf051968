"""Tests of permissions: the catalogue, the default roles, and changes of a role."""

import pytest

from retinue.access.catalogue import PERMISSION_KEYS
from retinue.access.models import Role
from tests.factories.happenings import audits, events

LOWER_ROLES = ["agent_developer", "agent_user", "viewer"]
NOT_SUPER_ADMIN = ["tenant_admin", *LOWER_ROLES]


async def test_the_catalogue_names_describes_and_sorts_every_permission(admin):
    answer = await admin.get("/permissions")
    assert answer.status == 200
    listed = answer.json()["permissions"]
    assert [permission["key"] for permission in listed] == list(PERMISSION_KEYS)
    assert listed[0] == {
        "key": "agents:read",
        "description": "See agents, their status and statistics",
        "category": "agents",
    }
    assert all(set(permission) == {"key", "description", "category"} for permission in listed)
    assert set(answer.json()) == {"permissions"}


async def test_a_tenant_admin_sees_catalogue_and_roles(people):
    api = await people.signed_in("tenant_admin")
    assert (await api.get("/permissions")).status == 200
    assert (await api.get("/roles/viewer/permissions")).status == 200


@pytest.mark.parametrize("role", LOWER_ROLES)
async def test_lower_roles_see_neither_catalogue_nor_roles(people, role):
    api = await people.signed_in(role)
    for path in ("/permissions", "/roles/viewer/permissions"):
        answer = await api.get(path)
        assert (answer.status, answer.code) == (403, "forbidden")
        assert answer.details == {"required": "admin:users", "your_role": role}


async def test_nobody_sees_anything_without_signing_in(api):
    for path in ("/permissions", "/roles/viewer/permissions", "/me/permissions"):
        assert (await api.get(path)).status == 401
    assert (await api.put("/roles/viewer/permissions", {"permissions": []})).status == 401


@pytest.mark.parametrize("role", list(Role))
async def test_everyone_sees_their_own_permissions(people, admin, role):
    api = admin if role is Role.super_admin else await people.signed_in(role)
    own = await api.get("/me/permissions")
    of_role = await admin.get(f"/roles/{role}/permissions")
    assert own.status == of_role.status == 200
    assert own.json() == of_role.json()
    assert set(own.json()) == {"role", "permissions"}
    assert own.json()["role"] == role
    assert own.json()["permissions"] == [key for key in PERMISSION_KEYS if key in own.json()["permissions"]]


async def test_the_default_matrix_is_the_contracts(admin):
    held = {role: set((await admin.get(f"/roles/{role}/permissions")).json()["permissions"]) for role in Role}
    assert held["super_admin"] == set(PERMISSION_KEYS)
    assert held["tenant_admin"] == set(PERMISSION_KEYS) - {"admin:roles", "admin:tenants"}
    assert held["agent_user"] == {
        *("agents:read", "agents:chat", "conversations:read", "conversations:write", "workflows:read"),
        *("forms:read", "forms:submit", "tools:read", "data_tables:read", "approvals:read"),
        *("approvals:decide", "files:read", "files:write"),
    }
    assert held["viewer"] == {
        *("agents:read", "workflows:read", "forms:read", "tools:read", "data_tables:read"),
        *("webhooks:read", "events:read", "notification_channels:read"),
    }
    assert set(PERMISSION_KEYS) - held["agent_developer"] == {
        *("credentials:reveal", "notification_channels:write", "notification_channels:reveal"),
        *("api_keys:read", "api_keys:write", "audit:read", "audit:write", "usage:write", "traces:write"),
        *("service_accounts:read", "service_accounts:write"),
        *("admin:users", "admin:roles", "admin:tenants"),
    }


@pytest.mark.parametrize("name", ["janitor", "Viewer", "VIEWER", "viewer%20", "%00", "x" * 300])
async def test_an_unknown_role_is_not_found(admin, name):
    for answer in (
        await admin.get(f"/roles/{name}/permissions"),
        await admin.put(f"/roles/{name}/permissions", {"permissions": []}),
    ):
        assert (answer.status, answer.code) == (404, "role_not_found")


async def test_a_changed_role_counts_from_the_next_request(people, admin):
    viewer = await people.signed_in("viewer")
    assert (await viewer.get("/users")).status == 403
    answer = await admin.put("/roles/viewer/permissions", {"permissions": ["admin:users", "agents:read"]})
    assert answer.status == 200
    assert set(answer.json()) == {"role", "permissions", "message"}
    assert answer.json()["role"] == "viewer"
    assert answer.json()["permissions"] == ["agents:read", "admin:users"]
    assert (await viewer.get("/users")).status == 200
    assert (await viewer.get("/me/permissions")).json()["permissions"] == ["agents:read", "admin:users"]
    await admin.put("/roles/viewer/permissions", {"permissions": []})
    assert (await viewer.get("/users")).status == 403
    assert (await viewer.get("/me/permissions")).json()["permissions"] == []


async def test_a_change_of_a_role_is_audited_once_and_a_repetition_not(people, admin):
    for _ in range(2):
        body = {"permissions": ["agents:read", "agents:read", "agents:chat"]}
        answer = await admin.put("/roles/viewer/permissions", body)
        assert answer.json()["permissions"] == ["agents:read", "agents:chat"]
    [row] = await audits(people, "access.role_permissions_changed")
    assert row.subject_id == "viewer"
    assert row.actor == {"type": "user", "id": admin.user.id}
    assert row.metadata["granted"] == ["agents:chat"]
    assert "webhooks:read" in row.metadata["withdrawn"]
    assert await events(people, "access.role_permissions_changed") == []


@pytest.mark.parametrize("role", NOT_SUPER_ADMIN)
async def test_only_a_super_admin_changes_roles(people, role):
    api = await people.signed_in(role)
    answer = await api.put("/roles/viewer/permissions", {"permissions": ["agents:read"]})
    assert (answer.status, answer.code) == (403, "forbidden")
    assert answer.details == {"required": "admin:roles", "your_role": role}


async def test_the_super_admins_permissions_are_locked(admin):
    answer = await admin.put("/roles/super_admin/permissions", {"permissions": ["agents:read"]})
    assert (answer.status, answer.code) == (409, "role_locked")
    assert len((await admin.get("/me/permissions")).json()["permissions"]) == len(PERMISSION_KEYS)


@pytest.mark.parametrize(
    "permissions",
    [
        ["agents:read", "agents:fly"],
        ["agents"],
        [""],
        ["admin:roles"],
        ["admin:tenants"],
        ["x" * 101],
        ["agents:read"] * 501,
        "agents:read",
        [1],
        None,
    ],
)
async def test_permissions_that_cannot_be_given_are_refused(admin, permissions):
    before = (await admin.get("/roles/viewer/permissions")).json()
    answer = await admin.put("/roles/viewer/permissions", {"permissions": permissions})
    assert (answer.status, answer.code) == (422, "validation_error")
    assert next(iter(answer.details)).startswith("permissions")
    assert (await admin.get("/roles/viewer/permissions")).json() == before


async def test_permissions_must_be_given(admin):
    answer = await admin.put("/roles/viewer/permissions", {})
    assert (answer.status, answer.details) == (422, {"permissions": "is required"})


async def test_a_super_admin_with_a_second_factor_confirms_the_change(people, admin):
    async with people.context(admin.user.tenant_id) as ctx:
        await ctx.db.update(admin.user, mfa_enabled=True)
    body = {"permissions": ["agents:read"]}
    answer = await admin.put("/roles/viewer/permissions", body)
    assert (answer.status, answer.code) == (403, "forbidden")
    assert answer.details == {
        "required": "step_up",
        "your_role": "super_admin",
        "reason": "step_up_required",
    }
    wrong = await admin.put("/roles/viewer/permissions", {**body, "password": "Not-The-Password-1"})
    assert (wrong.status, wrong.details["reason"]) == (403, "step_up_required")
    confirmed = await admin.put("/roles/viewer/permissions", {**body, "password": "Correct-Horse-1"})
    assert confirmed.status == 200
    assert confirmed.json()["permissions"] == ["agents:read"]
