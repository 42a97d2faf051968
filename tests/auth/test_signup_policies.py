"""`RETINUE_SIGNUP`: who gets in by registering, and who lets the others in."""

import pytest

from retinue.access.models import Role
from retinue.users.acting_as import acting_as
from retinue.users.errors import RequesterInactive
from retinue.users.models import User
from tests.client import Api
from tests.factories.happenings import audits, events
from tests.factories.mails import last_mail, link_token
from tests.factories.people import PASSWORD, People

PUBLIC_URL = "https://retinue.example.com"
SOMEBODY = {"email": "new@example.com", "password": PASSWORD, "first_name": "New", "last_name": "Person"}
REFUSED = (403, "account_pending")


async def register(api: Api, **more: object):
    answer = await api.post("/auth/register", {**SOMEBODY, **more})
    assert answer.status == 201, answer
    return answer.json()


async def sign_in(api: Api, email: str = SOMEBODY["email"]) -> tuple[Api, str]:
    answer = await api.post("/auth/login", {"email": email, "password": PASSWORD})
    assert answer.status == 200, answer
    return api.signed_in(answer.json()["access_token"]), answer.json()["refresh_token"]


def refusal(answer) -> tuple[int, str]:
    assert answer.code == "forbidden"
    return answer.status, answer.details["reason"]


@pytest.fixture
async def pending_service(make_service):
    return await make_service(signup="pending")


@pytest.fixture
def people(pending_service) -> People:
    return People(pending_service)


@pytest.fixture
def api(pending_service) -> Api:
    return Api(pending_service)


@pytest.fixture
async def stranger(api) -> Api:
    user = await register(api)
    session, _ = await sign_in(api)
    session.user = User(**{name: user[name] for name in ("id", "email", "role")}, password_hash="")
    return session


async def test_registering_answers_as_specified_and_sends_the_mail(pending_service, api) -> None:
    answer = await register(api)
    assert {**answer, "id": "", "message": ""} == {
        "id": "",
        "email": "new@example.com",
        "first_name": "New",
        "last_name": "Person",
        "role": "agent_user",
        "email_verified": False,
        "message": "",
    }
    assert "approved" in answer["message"]
    assert link_token(await last_mail(pending_service, "new@example.com"))


async def test_a_pending_account_sees_only_itself(stranger) -> None:
    me = (await stranger.get("/auth/me")).json()
    assert (me["is_pending"], me["status"]) == (True, "active")
    assert (await stranger.get("/api/v1/profile")).json()["is_pending"] is True
    assert (await stranger.get("/api/v1/mfa/status")).status == 200
    assert (await stranger.get("/auth/sessions")).status == 200
    answer = await stranger.get("/api/v1/agents")
    assert refusal(answer) == REFUSED
    assert answer.details == {
        "required": "approved_account",
        "your_role": "agent_user",
        "reason": "account_pending",
    }
    assert "approve" in answer.json()["error"]["message"]


async def test_neither_verifying_nor_refreshing_lets_a_pending_account_in(
    pending_service, api, stranger
) -> None:
    token = link_token(await last_mail(pending_service, "new@example.com"))
    assert (await api.post("/auth/verify-email", {"token": token})).status == 200
    assert refusal(await stranger.get("/api/v1/agents")) == REFUSED
    again, refresh_token = await sign_in(api)
    assert refusal(await again.get("/api/v1/agents")) == REFUSED
    renewed = (await api.post("/auth/refresh", {"refresh_token": refresh_token})).json()
    assert refusal(await api.signed_in(renewed["access_token"]).get("/api/v1/agents")) == REFUSED
    change = {"current_password": PASSWORD, "new_password": "Another-Staple-3"}
    assert (await stranger.post("/auth/change-password", change)).status == 200
    assert refusal(await stranger.get("/api/v1/agents")) == REFUSED


async def test_an_administrator_approves_from_the_next_request_on(people, stranger) -> None:
    admin = await people.super_admin()
    approve = f"/users/{stranger.user.id}/approve"
    shown = await admin.post(approve)
    assert shown.status == 200
    assert (shown.json()["is_pending"], shown.json()["status"]) == (False, "active")
    assert shown.json().keys() == (await stranger.get("/auth/me")).json().keys()
    assert (await stranger.get("/api/v1/agents")).status == 200
    assert (await admin.post(approve)).json() == shown.json()
    assert [row.subject_id for row in await audits(people, "system.user.approved")] == [stranger.user.id]


@pytest.mark.parametrize("role", ["agent_developer", "agent_user"])
async def test_giving_a_role_approves_even_if_it_is_the_same(people, stranger, role) -> None:
    admin = await people.super_admin()
    assert (await admin.put(f"/users/{stranger.user.id}/role", {"role": role})).status == 200
    assert (await stranger.get("/api/v1/agents")).status == 200
    assert (await stranger.get("/auth/me")).json()["is_pending"] is False


async def test_only_an_administrator_of_the_tenant_approves(people, stranger) -> None:
    approve = f"/users/{stranger.user.id}/approve"
    developer = await people.signed_in(Role.agent_developer)
    assert (await developer.post(approve)).status == 403
    assert refusal(await stranger.post(approve)) == REFUSED
    outsider = await people.signed_in(Role.tenant_admin, await people.tenant("Other"))
    answer = await outsider.post(approve)
    assert (answer.status, answer.code) == (404, "user_not_found")
    assert refusal(await stranger.get("/api/v1/agents")) == REFUSED
    insider = await people.signed_in(Role.tenant_admin)
    assert (await insider.post(approve)).status == 200


async def test_what_was_refused_while_pending_is_not_replayed_after_the_approval(people, stranger) -> None:
    body = {"name": "A", "primary_model": "m", "system_prompt": "p"}
    once = {"Idempotency-Key": "first"}
    assert refusal(await stranger.post("/api/v1/agents", body, headers=once)) == REFUSED
    admin = await people.super_admin()
    await admin.put(f"/users/{stranger.user.id}/role", {"role": "agent_developer"})
    assert (await stranger.post("/api/v1/agents", body, headers=once)).status == 201


async def test_pending_accounts_are_listed_for_administrators(people, stranger) -> None:
    admin = await people.super_admin()
    waiting = (await admin.get("/users?is_pending=true")).json()
    assert [(user["id"], user["is_pending"]) for user in waiting["users"]] == [(stranger.user.id, True)]
    others = (await admin.get("/users?is_pending=false")).json()
    assert stranger.user.id not in {user["id"] for user in others["users"]}
    assert (await admin.get("/users")).json()["total"] == waiting["total"] + others["total"]


async def test_administrators_are_told_and_the_stranger_is_not(pending_service, people, stranger) -> None:
    admin = await people.super_admin()
    viewer = await people.signed_in(Role.viewer)
    await pending_service.runner.drain()
    (asked,) = await events(people, "system.user.approval_requested")
    assert asked.data["email"] == "new@example.com"
    (told,) = (await admin.get("/api/v1/notifications")).json()["data"]
    assert told["type"] == "account_pending"
    assert "new@example.com" in told["message"]
    assert (await viewer.get("/api/v1/notifications")).json()["data"] == []
    await admin.post(f"/users/{stranger.user.id}/approve")
    assert (await stranger.get("/api/v1/notifications")).json()["data"] == []


async def test_a_flood_of_registrations_is_no_flood_of_notifications(
    pending_service, people, api, clock
) -> None:
    admin = await people.super_admin()
    for number in range(25):
        await register(api, email=f"person{number}@example.com")
    await pending_service.runner.drain()
    assert (await admin.get("/api/v1/notifications/unread/count")).json() == {"count": 20}
    clock.advance(3601)
    await register(api, email="late@example.com")
    await pending_service.runner.drain()
    admin = await people.super_admin()
    assert (await admin.get("/api/v1/notifications/unread/count")).json() == {"count": 21}


async def test_nobody_tells_a_pending_account_anything(pending_service, people, stranger) -> None:
    admin = await people.super_admin()
    body = {"type": "news", "title": "T", "message": "M", "user_ids": [stranger.user.id]}
    await admin.post("/api/v1/notifications", body)
    await admin.post(
        "/api/v1/notifications", {"type": "news", "title": "T", "message": "M", "roles": ["agent_user"]}
    )
    await pending_service.runner.drain()
    await admin.post(f"/users/{stranger.user.id}/approve")
    assert (await stranger.get("/api/v1/notifications")).json()["data"] == []


async def test_invited_people_are_never_pending(pending_service, people, api) -> None:
    admin = await people.super_admin()
    invited = await admin.post("/users/invite", {"email": "new@example.com", "role": "viewer"})
    assert invited.status == 201
    token = link_token(await last_mail(pending_service, "new@example.com"))
    answer = await register(api, invite_token=token)
    assert "approved" not in answer["message"]
    session, _ = await sign_in(api)
    assert (await session.get("/api/v1/agents")).status == 200
    assert (await session.get("/auth/me")).json()["is_pending"] is False


async def test_a_pending_account_spends_its_own_limits_and_not_the_tenants(make_service) -> None:
    service = await make_service(signup="pending", default_plan="free")
    api, people = Api(service), People(service)
    await register(api)
    session, _ = await sign_in(api)
    statuses = [(await session.get("/api/v1/agents")).status for _ in range(200)]
    assert statuses[0] == 403
    assert statuses[-1] == 429
    member = await people.user(Role.viewer)
    elsewhere, _ = await sign_in(api.at("198.51.100.9"), member.email)
    assert (await elsewhere.get("/api/v1/agents")).status == 200


async def test_an_instance_that_others_reach_makes_accounts_pending_by_itself(make_service) -> None:
    api = Api(await make_service(base_url=PUBLIC_URL))
    await register(api)
    session, _ = await sign_in(api)
    assert refusal(await session.get("/api/v1/agents")) == REFUSED


async def test_a_development_instance_is_open_by_itself(make_service) -> None:
    api = Api(await make_service())
    await register(api)
    session, _ = await sign_in(api)
    assert (await session.get("/api/v1/agents")).status == 200


@pytest.mark.parametrize("signup", ["open", "tenant"])
async def test_where_others_register_an_address_has_to_be_proven(make_service, signup) -> None:
    service = await make_service(base_url=PUBLIC_URL, signup=signup)
    api = Api(service)
    await register(api)
    session, _ = await sign_in(api)
    for path in ("/api/v1/agents", "/users", "/api/v1/tenant", "/api/v1/notifications", "/me/permissions"):
        answer = await session.get(path)
        assert refusal(answer) == (403, "email_not_verified"), path
        assert answer.details["required"] == "verified_email"
    assert (await session.get("/api/v1/profile")).status == 200
    token = link_token(await last_mail(service, "new@example.com"))
    assert (await api.post("/auth/verify-email", {"token": token})).status == 200
    assert (await session.get("/api/v1/agents")).status == 200


async def test_whom_an_administrator_vouched_for_needs_no_proven_address(make_service) -> None:
    service = await make_service(base_url=PUBLIC_URL, signup="open")
    api, people = Api(service), People(service)
    user = await register(api)
    session, _ = await sign_in(api)
    admin = await people.super_admin()
    assert (await admin.put(f"/users/{user['id']}/role", {"role": "viewer"})).status == 200
    assert (await session.get("/api/v1/agents")).status == 200
    await admin.post("/users/invite", {"email": "guest@example.com", "role": "viewer"})
    invitation = link_token(await last_mail(service, "guest@example.com"))
    await register(api, email="guest@example.com", invite_token=invitation)
    guest, _ = await sign_in(api, "guest@example.com")
    assert (await guest.get("/api/v1/agents")).status == 200


async def test_a_turn_does_not_go_on_for_an_account_that_was_not_let_in(people, stranger) -> None:
    tenant = await people.default_tenant()
    async with people.context(tenant.id) as ctx:
        with pytest.raises(RequesterInactive):
            await acting_as(ctx, stranger.user.id)
