"""Service accounts: who may make them, what they hold, and when a change counts."""

import asyncio

import pytest

from retinue.access.catalogue import PEOPLE_ONLY, PERMISSION_KEYS
from tests.factories.happenings import audits
from tests.factories.machines import PATH, machine, make_account, make_secret, token_of
from tests.factories.people import ADMIN_EMAIL, ADMIN_PASSWORD


@pytest.fixture
async def made(admin):
    return await make_account(
        admin,
        *("agents:chat", "agents:read", "agents:read"),
        description="Runs the tests",
        allowed_ips=["203.0.113.7", "2001:db8::/32"],
        rate_limit_per_minute=60,
        monthly_token_budget=1000,
    )


async def test_a_new_account_is_shown_with_its_permissions_and_networks_in_order(admin, made):
    assert made["id"].startswith("sac_")
    expected = {
        "client_id": made["id"],
        "permissions": ["agents:read", "agents:chat"],
        "allowed_ips": ["203.0.113.7/32", "2001:db8::/32"],
        "status": "active",
        "created_by": admin.user.id,
        "tokens_used": 0,
        "last_used_at": None,
        "last_used_ip": None,
    }
    assert {name: made[name] for name in expected} == expected
    assert (await admin.get(f"{PATH}/{made['id']}")).json() == made


async def test_accounts_are_searched_by_name(admin, made):
    page = (await admin.get(PATH, query={"search": "DEPLOY", "sort": "name"})).json()
    assert page["data"] == [made]
    assert page["pagination"]["total"] == 1


async def test_a_changed_account_keeps_what_was_not_sent(admin, made):
    path = f"{PATH}/{made['id']}"
    changed = await admin.patch(path, {"description": "", "allowed_ips": [], "rate_limit_per_minute": None})
    assert changed.status == 200
    assert changed.json()["allowed_ips"] == []
    assert changed.json()["rate_limit_per_minute"] is None
    assert changed.json()["name"] == "Deployment"


async def test_a_deleted_account_is_gone_with_its_secrets(admin, made):
    path = f"{PATH}/{made['id']}"
    secret = await make_secret(admin, made)
    assert (await admin.delete(path)).status == 204
    assert (await admin.get(path)).status == 404
    assert (await admin.get(f"{path}/secrets")).status == 404
    assert (await admin.delete(f"{path}/secrets/{secret['id']}")).status == 404


async def test_every_change_of_an_account_is_audited(admin, made, people):
    path = f"{PATH}/{made['id']}"
    await admin.patch(path, {"description": ""})
    await make_secret(admin, made)
    await admin.delete(path)
    for action in ("created", "updated", "secret_created", "deleted"):
        [row] = await audits(people, f"system.service_account.{action}")
        assert (row.subject_id, row.metadata["name"]) == (made["id"], "Deployment")
        assert row.actor == {"type": "user", "id": admin.user.id}


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"permissions": []}, "permissions"),
        ({"permissions": ["agents:fly"]}, "permissions"),
        *(({"permissions": ["agents:read", key]}, "permissions") for key in sorted(PEOPLE_ONLY)),
        ({"name": ""}, "name"),
        ({"name": "x" * 101}, "name"),
        ({"allowed_ips": ["10.0.0.1/8"]}, "allowed_ips.0"),
        ({"allowed_ips": ["10.0.0.0/8", "localhost"]}, "allowed_ips.1"),
        ({"expires_at": "2001-01-01T00:00:00Z"}, "expires_at"),
        ({"expires_at": "soon"}, "expires_at"),
        ({"rate_limit_per_minute": 0}, "rate_limit_per_minute"),
        ({"monthly_token_budget": 0}, "monthly_token_budget"),
    ],
)
@pytest.mark.either_database
async def test_what_cannot_be_is_refused_when_it_is_made_and_when_it_is_changed(admin, body, field):
    whole = {"name": "One", "permissions": ["agents:read"], **body}
    refused = await admin.post(PATH, whole)
    assert (refused.status, list(refused.details)) == (422, [field])
    account = await make_account(admin)
    refused = await admin.patch(f"{PATH}/{account['id']}", body)
    assert (refused.status, list(refused.details)) == (422, [field])


async def test_a_name_is_there_once_in_a_tenant(admin, people):
    await make_account(admin)
    other = await make_account(admin, name="Other")
    taken = await admin.post(PATH, {"name": "Deployment", "permissions": ["agents:read"]})
    assert (taken.status, taken.code) == (409, "name_taken")
    assert (await admin.patch(f"{PATH}/{other['id']}", {"name": "Deployment"})).code == "name_taken"
    elsewhere = await people.signed_in("tenant_admin", await people.tenant())
    await make_account(elsewhere)


async def machine_of(admin, account):
    """Return a caller with a new secret of the account, and the secret."""
    secret = await make_secret(admin, account)
    caller = admin.signed_in(await token_of(admin, secret))
    assert (await caller.get("/api/v1/agents")).status == 200
    return caller, secret


async def test_narrowed_permissions_count_from_the_next_request(admin):
    account = await make_account(admin, "agents:read", "tools:read")
    machine, _ = await machine_of(admin, account)
    await admin.patch(f"{PATH}/{account['id']}", {"permissions": ["agents:read", "forms:read"]})
    refused = await machine.get("/v1/tools")
    assert refused.status == 403
    assert refused.details == {"required": "tools:read", "your_role": "service_account"}
    # A permission that came later is not in the token.
    assert (await machine.get("/api/v1/forms")).status == 403
    assert (await machine.get("/me/permissions")).json() == {
        "role": "service_account",
        "permissions": ["agents:read"],
    }


async def test_disabling_and_enabling_count_from_the_next_request(admin):
    account = await make_account(admin, "agents:read", "tools:read")
    machine, _ = await machine_of(admin, account)
    path = f"{PATH}/{account['id']}"
    await admin.patch(path, {"status": "disabled"})
    assert (await admin.get(path)).json()["status"] == "disabled"
    refused = await machine.get("/api/v1/agents")
    assert (refused.status, refused.details["reason"]) == (401, "token_revoked")
    await admin.patch(path, {"status": "active"})
    assert (await machine.get("/api/v1/agents")).status == 200


async def test_deleting_a_secret_or_its_account_counts_from_the_next_request(admin):
    account = await make_account(admin, "agents:read", "tools:read")
    with_first, first = await machine_of(admin, account)
    with_second, _ = await machine_of(admin, account)
    path = f"{PATH}/{account['id']}"
    assert (await admin.delete(f"{path}/secrets/{first['id']}")).status == 204
    assert (await with_first.get("/api/v1/agents")).status == 401
    assert (await with_second.get("/api/v1/agents")).status == 200
    await admin.delete(path)
    assert (await with_second.get("/api/v1/agents")).status == 401


async def test_an_account_and_a_secret_expire(admin, clock):
    account = await make_account(admin, expires_at="2027-01-16T00:00:00Z")
    secret = await make_secret(admin, account, expires_at="2027-01-15T09:00:00Z")
    caller = admin.signed_in(await token_of(admin, secret))
    assert (await caller.get("/api/v1/agents")).status == 200
    too_long = await admin.post(f"{PATH}/{account['id']}/secrets", {"expires_at": "2028-01-16T00:00:00Z"})
    assert (too_long.status, list(too_long.details)) == (422, ["expires_at"])
    clock.advance(3600)
    assert (await caller.get("/api/v1/agents")).details["reason"] in {"token_expired", "token_revoked"}


async def test_a_rotation_leaves_no_gap_and_a_third_secret_is_refused(admin):
    account = await make_account(admin)
    path = f"{PATH}/{account['id']}/secrets"
    old = await make_secret(admin, account, name="old")
    running = admin.signed_in(await token_of(admin, old))
    new = await make_secret(admin, account, name="new")
    third = await admin.post(path, {})
    assert (third.status, third.code) == (409, "too_many_secrets")
    assert (await running.get("/api/v1/agents")).status == 200
    renewed = admin.signed_in(await token_of(admin, new))
    assert (await admin.delete(f"{path}/{old['id']}")).status == 204
    assert (await renewed.get("/api/v1/agents")).status == 200
    listed = (await admin.get(path)).json()["data"]
    assert [(one["id"], one["name"]) for one in listed] == [(new["id"], "new")]
    assert listed[0]["last_used_at"] is not None


async def test_a_secret_is_shown_when_it_is_made_and_never_again(admin):
    account = await make_account(admin)
    made = await make_secret(admin, account)
    assert made["client_secret"].startswith("rcs_")
    assert len(made["client_secret"]) == 4 + 43
    assert made["client_secret"].startswith(made["secret_prefix"])
    (listed,) = (await admin.get(f"{PATH}/{account['id']}/secrets")).json()["data"]
    assert "client_secret" not in listed


async def test_an_expired_secret_makes_room_for_a_new_one(admin, clock):
    account = await make_account(admin)
    await make_secret(admin, account, name="new")
    await make_secret(admin, account, name="soon over", expires_at="2027-01-15T09:00:00Z")
    clock.advance(3600)
    fresh = await admin_again(admin)
    await make_secret(fresh, account, name="newest")
    listed = (await fresh.get(f"{PATH}/{account['id']}/secrets")).json()["data"]
    assert [one["name"] for one in listed] == ["new", "newest"]


async def admin_again(admin):
    """The administrator after an hour."""
    answer = await admin.post("/auth/login", {"email": ADMIN_EMAIL, "password": ADMIN_PASSWORD})
    return admin.signed_in(answer.json()["access_token"])


async def test_of_secrets_made_at_once_two_are_there(admin):
    account = await make_account(admin)
    path = f"{PATH}/{account['id']}/secrets"
    answers = await asyncio.gather(*(admin.post(path, {"name": str(number)}) for number in range(5)))
    assert sorted(answer.status for answer in answers) == [201, 201, 409, 409, 409]
    assert len((await admin.get(path)).json()["data"]) == 2


async def test_only_holders_of_the_permissions_see_and_make_accounts(people):
    tenant = await people.tenant()
    account = await make_account(await people.signed_in("tenant_admin", tenant))
    for role in ("agent_developer", "agent_user", "viewer"):
        caller = await people.signed_in(role, tenant)
        assert (await caller.get(PATH)).details["required"] == "service_accounts:read"
        assert (await caller.get(f"{PATH}/{account['id']}")).status == 403
        refused = await caller.post(PATH, {"name": "Mine", "permissions": ["agents:read"]})
        assert refused.details["required"] == "service_accounts:write"
    elsewhere = await people.signed_in("tenant_admin", await people.tenant())
    assert (await elsewhere.get(f"{PATH}/{account['id']}")).status == 404
    assert (await elsewhere.get(PATH)).json()["data"] == []


async def test_every_permission_a_machine_can_hold_fits_into_a_token(admin):
    keys = [key for key in PERMISSION_KEYS if key not in PEOPLE_ONLY]
    caller = await machine(admin, *keys)
    assert (await caller.get("/me/permissions")).json()["permissions"] == keys
