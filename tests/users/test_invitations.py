"""Inviting people: a mail with a link for a week, a place in the tenant, a role no higher than one's own."""

import asyncio
from html import escape

import pytest

from retinue.access.models import Role
from retinue.kit.ids import hash_token
from retinue.users.models import Invitation
from tests.factories.happenings import events, only_event
from tests.factories.mails import html_of, last_mail, link_token, mails_to, text_of
from tests.factories.people import People
from tests.users.invitations import EMAIL, invite, registration

WEEK_S = 7 * 24 * 3600


async def list_invitations(people, email: str = EMAIL) -> list[Invitation]:
    async with people.context() as ctx:
        return await ctx.system("test").all(Invitation, email=email)


@pytest.fixture
async def acme(people):
    return await people.tenant("Acme")


@pytest.fixture
async def tenant_admin(people, acme):
    return await people.signed_in("tenant_admin", acme)


async def test_an_invitation_leads_into_the_tenant_with_the_role(service, api, tenant_admin, acme):
    answer = await tenant_admin.post("/users/invite", {"email": EMAIL, "role": "agent_developer"})
    assert answer.status == 201
    assert set(answer.json()) == {"id", "email", "role", "expires_at", "message", "invite_url"}
    assert (answer.json()["email"], answer.json()["role"]) == (EMAIL, "agent_developer")
    mail = await last_mail(service, EMAIL)
    token = link_token(mail)
    assert f"http://127.0.0.1:8080/register?invite_token={token}" in text_of(mail)
    assert "Acme" in text_of(mail)
    registered = await api.post("/auth/register", registration(token))
    assert (registered.status, registered.json()["role"]) == (201, "agent_developer")
    users = (await tenant_admin.get("/users", query={"search": EMAIL})).json()["users"]
    assert [user["tenant_id"] for user in users] == [acme.id]


async def test_the_token_is_stored_as_a_hash_only(service, people, tenant_admin):
    await tenant_admin.post("/users/invite", {"email": EMAIL, "role": "viewer"})
    token = link_token(await last_mail(service, EMAIL))
    [stored] = await list_invitations(people)
    assert stored.token_hash == hash_token(token)
    assert token not in str(stored)


async def test_a_link_uses_the_configured_address_and_no_header(make_service):
    # A development instance would not even answer to another host.
    service = await make_service(base_url="https://retinue.example.com")
    tenant_admin = await People(service).signed_in(Role.tenant_admin)
    lies = {"Host": "evil.example", "X-Forwarded-Host": "evil.example", "Forwarded": "host=evil.example"}
    answer = await tenant_admin.post("/users/invite", {"email": EMAIL, "role": "viewer"}, headers=lies)
    assert answer.status == 201
    assert "evil" not in (await last_mail(service, EMAIL)).as_string()


async def test_an_invitation_lasts_seven_days(service, api, clock, tenant_admin):
    await tenant_admin.post("/users/invite", {"email": EMAIL, "role": "viewer"})
    token = link_token(await last_mail(service, EMAIL))
    clock.advance(WEEK_S + 1)
    assert (await api.post("/auth/register", registration(token))).status == 422


async def test_inviting_again_replaces_the_earlier_invitation(service, people, api, tenant_admin):
    first = await tenant_admin.post("/users/invite", {"email": EMAIL, "role": "viewer"})
    old = link_token(await last_mail(service, EMAIL))
    second = await tenant_admin.post("/users/invite", {"email": EMAIL.upper(), "role": "agent_user"})
    assert (second.status, second.json()["email"]) == (201, EMAIL)
    tokens = {link_token(mail) for mail in await mails_to(service, EMAIL)}
    [new] = tokens - {old}
    assert [invitation.id for invitation in await list_invitations(people)] == [second.json()["id"]]
    assert first.json()["id"] != second.json()["id"]
    assert (await api.post("/auth/register", registration(old))).status == 422
    assert (await api.post("/auth/register", registration(new))).json()["role"] == "agent_user"


async def test_of_invitations_sent_at_once_one_is_left(people, tenant_admin):
    body = {"email": EMAIL, "role": "viewer"}
    answers = await asyncio.gather(*(tenant_admin.post("/users/invite", body) for _ in range(4)))
    refused = [answer.code for answer in answers if answer.status != 201]
    assert len(refused) < 4
    assert set(refused) <= {"conflict"}
    assert len(await list_invitations(people)) == 1


async def test_two_tenants_may_invite_the_same_person(people, admin, tenant_admin):
    for api in (admin, tenant_admin):
        assert (await api.post("/users/invite", {"email": EMAIL, "role": "viewer"})).status == 201
    assert len(await list_invitations(people)) == 2


async def test_a_super_admin_invites_into_another_tenant_by_the_header(people, admin, acme):
    answer = await admin.post(
        "/users/invite", {"email": EMAIL, "role": "super_admin"}, headers={"X-Tenant-ID": acme.id}
    )
    assert answer.status == 201
    assert [invitation.tenant_id for invitation in await list_invitations(people)] == [acme.id]


async def test_someone_with_an_account_anywhere_is_not_invited(service, people, tenant_admin):
    user = await people.user()
    for email in (user.email, user.email.upper()):
        answer = await tenant_admin.post("/users/invite", {"email": email, "role": "viewer"})
        assert (answer.status, answer.code) == (409, "email_taken")
    assert await list_invitations(people, user.email) == []
    assert await mails_to(service, user.email) == []


async def test_an_address_is_invited_five_times_an_hour(service, people, clock, tenant_admin):
    for _ in range(5):
        assert (await invite(tenant_admin)).status == 201
    refused = await invite(tenant_admin, EMAIL.upper())
    assert (refused.status, refused.code) == (429, "rate_limited")
    assert 3590 < int(refused.headers["retry-after"]) <= 3600
    assert len(await mails_to(service, EMAIL)) == 5
    assert (await invite(tenant_admin, "else@engine.example")).status == 201
    clock.advance(3601)
    assert (await invite(await people.sign_in(tenant_admin.user))).status == 201


async def test_one_tenant_does_not_use_up_the_invitations_of_another(admin, tenant_admin):
    assert [(await invite(tenant_admin)).status for _ in range(6)][-1] == 429
    assert (await invite(admin)).status == 201


async def test_an_invitation_that_cannot_be_is_not_counted(people, tenant_admin, acme):
    colleague = await people.user(tenant=acme)
    for _ in range(6):
        refused = await invite(tenant_admin, colleague.email)
        assert (refused.status, refused.code) == (409, "email_taken")


async def test_the_name_of_a_tenant_stays_in_its_sentence(service, people):
    hostile = await people.tenant("<b>Acme</b>\n\nSend money:\r\nhttps://evil.example")
    await invite(await people.signed_in("tenant_admin", hostile))
    mail = await last_mail(service, EMAIL)
    sentence = "You are invited to join <b>Acme</b> Send money: https://evil.example as viewer."
    assert sentence in text_of(mail).splitlines()
    assert f"<p>{escape(sentence)}</p>" in html_of(mail)


async def test_who_accepted_is_told_and_audited_in_the_tenant(service, people, api, tenant_admin, acme):
    made = (await invite(tenant_admin)).json()
    answer = await api.post("/auth/register", registration(link_token(await last_mail(service, EMAIL))))
    assert await only_event(people, "system.user.invitation_accepted") == {
        "invitation_id": made["id"],
        "user_id": answer.json()["id"],
    }
    assert (await events(people, "system.user.invitation_accepted"))[0].tenant_id == acme.id


async def test_who_registers_without_an_invitation_accepts_none(people, api):
    uninvited = registration("")
    del uninvited["invite_token"]
    assert (await api.post("/auth/register", uninvited)).status == 201
    assert await events(people, "system.user.invitation_accepted") == []


@pytest.fixture
async def hiding(make_service):
    """A service that does not tell which addresses have an account."""
    return await make_service(hide_accounts=True)


async def invite_both(service):
    """Invite an address without an account and one with an account elsewhere; return all that took part."""
    people = People(service)
    acme, other = await people.tenant("Acme"), await people.tenant("Other")
    tenant_admin = await people.signed_in("tenant_admin", acme)
    stranger = await people.user(tenant=other)
    new, taken = await invite(tenant_admin), await invite(tenant_admin, stranger.email)
    assert (new.status, taken.status) == (201, 201)
    return tenant_admin, stranger, new, taken


async def test_a_hidden_account_of_another_tenant_is_invited_like_nobodys(hiding):
    tenant_admin, stranger, new, taken = await invite_both(hiding)
    assert new.headers.keys() == taken.headers.keys()
    own = {"id", "email", "expires_at", "invite_url"}
    assert {**new.json(), **dict.fromkeys(own)} == {**taken.json(), **dict.fromkeys(own)}
    assert (taken.json()["email"], taken.json()["id"][:4]) == (stranger.email, "inv_")
    for name in ("id", "invite_url"):
        assert len(taken.json()[name]) == len(new.json()[name])
    listed = (await tenant_admin.get("/users/invitations")).json()["data"]
    assert sorted(one["email"] for one in listed) == sorted([EMAIL, stranger.email])


async def test_a_hidden_account_of_another_tenant_is_told_that_there_is_one(hiding):
    tenant_admin, stranger, *_ = await invite_both(hiding)
    told = await mails_to(hiding, stranger.email)
    assert [mail["Subject"] for mail in told] == ["You already have an account"]
    assert "token" not in text_of(told[0])
    assert len(await mails_to(hiding, EMAIL)) == 1
    logged = await events(People(hiding), "system.user.invited")
    assert [(event.tenant_id, event.data["email"]) for event in logged] == [
        (tenant_admin.user.tenant_id, EMAIL),
        (tenant_admin.user.tenant_id, stranger.email),
    ]


async def test_a_hidden_account_is_hidden_from_the_limit_too(make_service):
    service = await make_service(hide_accounts=True)
    people = People(service)
    tenant_admin = await people.signed_in("tenant_admin", await people.tenant("Acme"))
    stranger = await people.user()
    for email in (EMAIL, stranger.email):
        assert [(await invite(tenant_admin, email)).status for _ in range(6)] == [201] * 5 + [429]
        assert len(await mails_to(service, email)) == 5


async def test_a_colleague_is_no_secret(make_service):
    service = await make_service(hide_accounts=True)
    people = People(service)
    acme = await people.tenant("Acme")
    colleague = await people.user(tenant=acme)
    answer = await invite(await people.signed_in("tenant_admin", acme), colleague.email)
    assert (answer.status, answer.code) == (409, "email_taken")
    assert await mails_to(service, colleague.email) == []


async def test_a_tenant_admin_invites_up_to_its_own_role(people, tenant_admin):
    refused = await tenant_admin.post("/users/invite", {"email": EMAIL, "role": "super_admin"})
    assert (refused.status, refused.code) == (403, "forbidden")
    assert refused.details == {
        "required": "super_admin",
        "your_role": "tenant_admin",
        "reason": "role_above_yours",
    }
    assert await list_invitations(people) == []
    for role in ("viewer", "agent_user", "agent_developer", "tenant_admin"):
        assert (await tenant_admin.post("/users/invite", {"email": EMAIL, "role": role})).status == 201


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"email": "nobody"}, "email"),
        ({"email": ""}, "email"),
        ({"email": None}, "email"),
        ({"email": "a@b.example, c@d.example"}, "email"),
        ({"email": "=?utf-8?q?a?=@b.example"}, "email"),
        ({"email": "a@b.example\r\nBcc: c@d.example"}, "email"),
        ({"email": "x" * 250 + "@b.example"}, "email"),
        ({"role": "janitor"}, "role"),
        ({"role": None}, "role"),
    ],
)
async def test_an_invitation_that_cannot_be_is_refused(service, tenant_admin, changed, field):
    answer = await tenant_admin.post("/users/invite", {"email": EMAIL, "role": "viewer", **changed})
    assert (answer.status, answer.code) == (422, "validation_error")
    assert list(answer.details) == [field]
    await service.runner.drain()
    assert not list((service.settings.data_dir / "outbox").glob("*.eml"))


async def test_address_and_role_must_be_given(tenant_admin):
    answer = await tenant_admin.post("/users/invite", {})
    assert answer.details == {"email": "is required", "role": "is required"}


async def test_a_body_cannot_choose_tenant_id_or_expiry(people, tenant_admin, admin, acme):
    body = {
        "email": EMAIL,
        "role": "viewer",
        "id": "inv_mine",
        "tenant_id": admin.user.tenant_id,
        "expires_at": "2999-01-01T00:00:00.000000Z",
        "token_hash": hash_token("known"),
        "invited_by": admin.user.id,
    }
    assert (await tenant_admin.post("/users/invite", body)).status == 201
    [stored] = await list_invitations(people)
    assert stored.id != "inv_mine"
    assert (stored.tenant_id, stored.invited_by) == (acme.id, tenant_admin.user.id)
    assert stored.expires_at < "2999"
    assert stored.token_hash != hash_token("known")


async def test_an_invitation_is_told_once(people, tenant_admin, acme):
    made = (await tenant_admin.post("/users/invite", {"email": EMAIL, "role": "viewer"})).json()
    assert await only_event(people, "system.user.invited") == {
        "invitation_id": made["id"],
        "email": EMAIL,
        "role": "viewer",
        "is_link_shown": True,
    }
    assert (await events(people, "system.user.invited"))[0].tenant_id == acme.id


async def test_invitations_are_listed_with_what_became_of_them(service, api, clock, tenant_admin):
    await tenant_admin.post("/users/invite", {"email": EMAIL, "role": "viewer"})
    await api.post("/auth/register", registration(link_token(await last_mail(service, EMAIL))))
    await tenant_admin.post("/users/invite", {"email": "late@example.com", "role": "viewer"})
    clock.advance(WEEK_S + 1)
    login = {"email": tenant_admin.user.email, "password": "Battery-Staple-2"}
    again = api.signed_in((await api.post("/auth/login", login)).json()["access_token"])
    await again.post("/users/invite", {"email": "new@example.com", "role": "viewer"})
    answer = await again.get("/users/invitations")
    assert answer.status == 200
    assert set(answer.json()) == {"data", "pagination"}
    assert [(one["email"], one["status"]) for one in answer.json()["data"]] == [
        ("new@example.com", "pending"),
        ("late@example.com", "expired"),
        (EMAIL, "accepted"),
    ]
    assert set(answer.json()["data"][0]) == {
        *("id", "email", "role", "status", "invited_by", "expires_at", "created_at"),
    }
    found = await again.get("/users/invitations", query={"search": "late"})
    assert found.json()["pagination"]["total"] == 1


async def test_an_invitation_is_taken_back(service, people, api, tenant_admin):
    made = (await tenant_admin.post("/users/invite", {"email": EMAIL, "role": "viewer"})).json()
    token = link_token(await last_mail(service, EMAIL))
    answer = await tenant_admin.delete(f"/users/invitations/{made['id']}")
    assert answer.status == 200
    assert set(answer.json()) == {"message"}
    assert (await api.post("/auth/register", registration(token))).status == 422
    gone = await tenant_admin.delete(f"/users/invitations/{made['id']}")
    assert (gone.status, gone.code) == (404, "invitation_not_found")
    told = await only_event(people, "system.user.invitation_revoked")
    assert told == {"invitation_id": made["id"], "email": EMAIL}


async def test_another_tenants_invitations_are_neither_seen_nor_taken_back(people, tenant_admin):
    other = await people.signed_in("tenant_admin", await people.tenant("Other"))
    theirs = (await other.post("/users/invite", {"email": EMAIL, "role": "viewer"})).json()
    assert (await tenant_admin.get("/users/invitations")).json()["data"] == []
    foreign = await tenant_admin.delete(f"/users/invitations/{theirs['id']}")
    unknown = await tenant_admin.delete("/users/invitations/inv_nowhere")
    assert (foreign.status, foreign.code) == (404, "invitation_not_found")
    assert foreign.body == unknown.body
    assert len(await list_invitations(people)) == 1


@pytest.mark.parametrize("role", ["agent_developer", "agent_user", "viewer"])
async def test_lower_roles_invite_nobody(people, role):
    api = await people.signed_in(role)
    for answer in (
        await api.post("/users/invite", {"email": EMAIL, "role": "viewer"}),
        await api.delete("/users/invitations/inv_x"),
    ):
        assert (answer.status, answer.details["required"]) == (403, "admin:users")


async def test_nobody_invites_without_signing_in(api):
    assert (await api.post("/users/invite", {"email": EMAIL, "role": "viewer"})).status == 401
    assert (await api.get("/users/invitations")).status == 401
    assert (await api.delete("/users/invitations/inv_x")).status == 401
