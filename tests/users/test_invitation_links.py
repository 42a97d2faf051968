"""The link of an invitation: answered where no mail goes out, sent again, and what having it proves."""

import pytest

from retinue.kit.secrets import Secret
from retinue.users import invitations
from tests.client import Api
from tests.factories.happenings import audits
from tests.factories.mails import last_mail, link_token, mails_to, text_of
from tests.factories.people import People
from tests.users.invitations import EMAIL, invite, registration


@pytest.fixture
async def tenant_admin(people):
    return await people.signed_in("tenant_admin", await people.tenant("Acme"))


async def test_without_a_mail_server_the_answer_has_the_link(service, people, api, tenant_admin):
    answer = await invite(tenant_admin)
    assert answer.headers["cache-control"] == "no-store"
    url = answer.json()["invite_url"]
    assert url.startswith("http://127.0.0.1:8080/register?invite_token=")
    assert url in text_of(await last_mail(service, EMAIL)).splitlines()
    assert "invite_url" in answer.json()["message"]
    [audited] = await audits(people, "system.user.invited")
    assert audited.metadata["is_link_shown"] is True
    token = url.partition("=")[2]
    assert token not in str(audited)
    registered = await api.post("/auth/register", registration(token))
    assert (registered.status, registered.json()["email_verified"]) == (201, False)
    assert (await last_mail(service, EMAIL))["Subject"] == "Confirm your email address"


async def test_an_invitation_is_sent_again_with_a_new_link(service, people, api, clock, tenant_admin):
    made = (await invite(tenant_admin)).json()
    clock.advance(3 * 24 * 3600)
    tenant_admin = await people.sign_in(tenant_admin.user)
    again = await tenant_admin.post(f"/users/invitations/{made['id']}/resend")
    assert (again.status, again.headers["cache-control"]) == (200, "no-store")
    assert set(again.json()) == set(made)
    assert again.json()["id"] == made["id"]
    assert again.json()["expires_at"] > made["expires_at"]
    old, new = (one["invite_url"].partition("=")[2] for one in (made, again.json()))
    assert [link_token(mail) for mail in await mails_to(service, EMAIL)] == [old, new]
    [audited] = await audits(people, "system.user.invitation_resent")
    assert audited.metadata == {"invitation_id": made["id"], "email": EMAIL, "is_link_shown": True}
    assert (await api.post("/auth/register", registration(old))).status == 422
    assert (await api.post("/auth/register", registration(new))).status == 201
    taken = await tenant_admin.post(f"/users/invitations/{made['id']}/resend")
    assert (taken.status, taken.code) == (409, "email_taken")


async def test_sending_again_needs_the_invitation_the_rank_and_patience(people, admin, tenant_admin):
    made = (await invite(tenant_admin)).json()
    path = f"/users/invitations/{made['id']}/resend"
    assert [(await tenant_admin.post(path)).status for _ in range(5)] == [200] * 4 + [429]
    stranger = await people.signed_in("tenant_admin", await people.tenant("Other"))
    assert (await stranger.post(path)).code == "invitation_not_found"
    viewer = await people.signed_in("viewer", await people.tenant("Third"))
    assert (await viewer.post(path)).status == 403
    above = await admin.post("/users/invite", {"email": "root2@engine.example", "role": "super_admin"})
    colleague = await people.signed_in("tenant_admin")
    refused = await colleague.post(f"/users/invitations/{above.json()['id']}/resend")
    assert (refused.status, refused.details["reason"]) == (403, "role_above_yours")


async def test_with_a_mail_server_the_link_is_mailed_only_and_proves_the_address(
    make_service,
    mail_server,
):
    server = mail_server()
    service = await make_service(smtp_url=Secret(f"smtp://127.0.0.1:{server.port}"))
    people = People(service)
    tenant_admin = await people.signed_in("tenant_admin", await people.tenant("Acme"))
    made = await invite(tenant_admin)
    again = await tenant_admin.post(f"/users/invitations/{made.json()['id']}/resend")
    for answer in (made, again):
        assert set(answer.json()) == {"id", "email", "role", "expires_at", "message"}
    [audited] = await audits(people, "system.user.invited")
    assert audited.metadata["is_link_shown"] is False
    await service.runner.drain()
    [_, (_, mail)] = server.received()
    registered = await people.api.post("/auth/register", registration(link_token(mail)))
    assert (registered.status, registered.json()["email_verified"]) == (201, True)
    await service.runner.drain()
    assert len(server.received()) == 2, "an address that is proven needs no mail to prove it"
    assert len(await audits(people, "auth.email_verified")) == 1


@pytest.mark.parametrize(("signup", "statuses"), [("tenant", [201, 201, 429]), ("open", [201, 201, 201])])
async def test_a_tenant_that_anybody_can_make_invites_a_few_hundred_a_day(
    make_service, monkeypatch, signup, statuses
):
    monkeypatch.setattr(invitations._BY_TENANT, "_limit", 2)
    people = People(await make_service(signup=signup))
    admin = await people.signed_in("tenant_admin", await people.tenant("Acme"))
    assert [(await invite(admin, f"{n}@engine.example")).status for n in range(3)] == statuses


async def test_a_link_says_who_invited_whom_to_what_while_it_works(api, clock, people, tenant_admin):
    made = (await invite(tenant_admin)).json()
    token = made["invite_url"].partition("=")[2]
    answer = await api.post("/auth/invitation", {"invite_token": token})
    assert answer.json() == {
        "email": EMAIL,
        "role": made["role"],
        "organization": "Acme",
        "invited_by": f"{tenant_admin.user.first_name} {tenant_admin.user.last_name}",
        "expires_at": made["expires_at"],
    }
    unknown = await api.post("/auth/invitation", {"invite_token": "x"})
    assert (unknown.status, list(unknown.details)) == (422, ["invite_token"])
    clock.advance(8 * 24 * 3600)
    assert (await api.post("/auth/invitation", {"invite_token": token})).status == 422


async def test_a_mail_is_announced_only_where_a_mail_server_takes_it(api, service, make_service):
    person = {"first_name": "Ada", "last_name": "Byron", "password": "Analytical1"}
    told = [
        (await api.post("/auth/register", {**person, "email": "ada@example.com"})).json()["message"],
        (await api.post("/auth/forgot-password", {"email": "ada@example.com"})).json()["message"],
        (await api.post("/auth/resend-verification", {"email": "ada@example.com"})).json()["message"],
    ]
    assert all("no mail server" in one for one in told), told
    assert (await api.get("/auth/setup")).json()["sends_mail"] is False
    mailing = Api(await make_service(smtp_url=Secret("smtp://127.0.0.1:9")))
    sent = (await mailing.post("/auth/forgot-password", {"email": "ada@example.com"})).json()["message"]
    assert "was sent" in sent
    assert (await mailing.get("/auth/setup")).json()["sends_mail"] is True
