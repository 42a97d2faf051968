"""Registering in each of the three modes, by invitation, and with an address that is taken."""

import asyncio
from typing import Any

from retinue.access.models import Role
from retinue.auth import passwords
from retinue.kit.ids import hash_token
from retinue.tenants.models import Tenant
from retinue.users.models import Invitation, User
from tests.client import Api
from tests.factories.mails import last_mail, link_token, mails_to
from tests.factories.people import PASSWORD, People

ADA = {"email": "ada@example.org", "password": PASSWORD, "first_name": "Ada", "last_name": "Lovelace"}


async def find_user(people: People, email: str) -> User | None:
    async with people.context() as ctx:
        return await ctx.system("test").find(User, email=email)


async def invite(people: People, token: str = "an-invitation", **changed: object) -> Invitation:
    async with people.context() as ctx:
        tenant = await ctx.system("test").insert(Tenant(name="Inviting", plan="free"))
        ctx.bind_tenant(tenant.id)
        chosen = {
            "email": ADA["email"],
            "role": Role.agent_developer,
            "invited_by": "usr_x",
            "expires_at": ctx.clock.ahead(3600),
            **changed,
        }
        return await ctx.db.insert(Invitation(token_hash=hash_token(token), **chosen))


async def test_a_registered_person_may_sign_in_and_gets_a_verification_mail(service, api, people):
    answer = await api.post("/auth/register", ADA)
    assert answer.status == 201
    shown = answer.json()
    assert shown.keys() == {
        "id", "email", "first_name", "last_name", "role", "email_verified", "message",
    }  # fmt: skip
    assert (shown["email"], shown["role"], shown["email_verified"]) == (ADA["email"], "agent_user", False)
    user = await find_user(people, ADA["email"])
    assert user.id == shown["id"]
    assert user.tenant_id == (await people.default_tenant()).id
    me = await people.sign_in(user)
    assert (await me.get("/auth/me")).json()["email_verified"] is False
    token = link_token(await last_mail(service, ADA["email"]))
    assert (await api.post("/auth/verify-email", {"token": token})).status == 200
    assert (await me.get("/auth/me")).json()["email_verified"] is True


async def test_registering_tells_the_event_log_once(service, api, people):
    answer = await api.post("/auth/register", ADA)
    rows = await service.instance.database.fetch(
        "SELECT type, subject_id FROM event_log WHERE type = 'system.user.created'"
        f" AND subject_id = '{answer.json()['id']}'",
        [],
    )
    assert len(rows) == 1


async def test_an_address_is_kept_in_lower_case_and_stays_one_account(api):
    assert (await api.post("/auth/register", {**ADA, "email": "Ada@Example.ORG"})).status == 201
    answer = await api.post("/auth/register", ADA)
    assert (answer.status, answer.code) == (409, "email_taken")
    credentials = {"email": "ADA@example.org", "password": PASSWORD}
    assert (await api.post("/auth/login", credentials)).status == 200


async def test_of_many_who_register_one_address_at_once_one_succeeds(api):
    answers = await asyncio.gather(*(api.post("/auth/register", ADA) for _ in range(8)))
    assert sorted(answer.status for answer in answers) == [201] + [409] * 7


BAD = [
    ({"password": "Short-1"}, "password"),
    ({"password": "no-upper-case-1"}, "password"),
    ({"password": "NO-LOWER-CASE-1"}, "password"),
    ({"password": "No-Number-Here"}, "password"),
    ({"password": "aA1" + "x" * 126}, "password"),
    ({"password": ""}, "password"),
    ({"password": None}, "password"),
    ({"password": ["Battery-Staple-2"]}, "password"),
    ({"email": "ada"}, "email"),
    ({"email": "ada@localhost"}, "email"),
    ({"email": "ada@example.org, eve@example.org"}, "email"),
    ({"email": "ada@example.org\r\nBcc: eve@example.org"}, "email"),
    ({"email": "=?utf-8?q?a?=@example.org"}, "email"),
    ({"email": "x" * 250 + "@example.org"}, "email"),
    ({"email": None}, "email"),
    ({"first_name": ""}, "first_name"),
    ({"first_name": "x" * 101}, "first_name"),
    ({"last_name": 7}, "last_name"),
    ({"invite_token": ""}, "invite_token"),
    ({"invite_token": "x" * 300}, "invite_token"),
    ({"invite_token": "unknown"}, "invite_token"),
]


async def test_a_bad_or_missing_field_is_named(api, people):
    for changed, field in BAD:
        answer = await api.post("/auth/register", {**ADA, **changed})
        assert (answer.status, answer.code) == (422, "validation_error"), changed
        assert list(answer.details) == [field], changed
    for missing in ADA:
        answer = await api.post("/auth/register", {name: ADA[name] for name in ADA if name != missing})
        assert (answer.status, answer.details) == (422, {missing: "is required"})
    assert await find_user(people, ADA["email"]) is None


async def test_a_body_chooses_neither_role_nor_tenant_nor_state(api, people):
    elsewhere = await people.tenant("Elsewhere")
    forced = {
        "id": "usr_mine",
        "role": "super_admin",
        "tenant_id": elsewhere.id,
        "email_verified": True,
        "mfa_enabled": True,
        "status": "inactive",
        "password_hash": "x",
        "permissions": ["admin:users"],
        "created_at": "1970-01-01T00:00:00.000000Z",
    }
    answer = await api.post("/auth/register", {**ADA, **forced})
    assert answer.status == 201
    user = await find_user(people, ADA["email"])
    assert (user.role, user.status, user.email_verified, user.mfa_enabled) == (
        Role.agent_user,
        "active",
        False,
        False,
    )
    assert user.tenant_id == (await people.default_tenant()).id
    assert user.id == answer.json()["id"] != "usr_mine"
    assert user.created_at > "2027"


async def test_in_tenant_mode_everyone_gets_a_tenant_of_their_own(make_service):
    service = await make_service(signup="tenant", default_plan="pro")
    people = People(service)
    first = await Api(service).post("/auth/register", ADA)
    second = await Api(service).post("/auth/register", {**ADA, "email": "grace@example.org"})
    assert (first.json()["role"], second.json()["role"]) == ("tenant_admin", "tenant_admin")
    ada, grace = await find_user(people, ADA["email"]), await find_user(people, "grace@example.org")
    default = await people.default_tenant()
    assert len({ada.tenant_id, grace.tenant_id, default.id}) == 3
    async with people.context() as ctx:
        tenant = await ctx.system("test").get(Tenant, ada.tenant_id)
    assert (tenant.name, tenant.plan, tenant.is_default) == ("Ada Lovelace", "pro", False)


async def test_a_taken_address_leaves_no_empty_tenant_behind(make_service):
    service = await make_service(signup="tenant")
    people = People(service)
    await Api(service).post("/auth/register", ADA)
    assert (await Api(service).post("/auth/register", ADA)).status == 409
    async with people.context() as ctx:
        assert await ctx.system("test").count(Tenant) == 2


async def test_closed_registration_is_for_the_invited_only(make_service):
    service = await make_service(signup="off")
    people, api = People(service), Api(service)
    answer = await api.post("/auth/register", ADA)
    assert (answer.status, answer.code) == (403, "forbidden")
    assert answer.details == {
        "required": "invitation",
        "your_role": "anonymous",
        "reason": "registration_disabled",
    }
    await invite(people)
    assert (await api.post("/auth/register", {**ADA, "invite_token": "an-invitation"})).status == 201


async def test_an_invitation_decides_tenant_and_role_and_works_once(api, people):
    invitation = await invite(people)
    taken_role = {**ADA, "role": "super_admin", "invite_token": "an-invitation"}
    answer = await api.post("/auth/register", taken_role)
    assert (answer.status, answer.json()["role"]) == (201, "agent_developer")
    user = await find_user(people, ADA["email"])
    assert (user.tenant_id, user.role) == (invitation.tenant_id, Role.agent_developer)
    async with people.context(invitation.tenant_id) as ctx:
        await ctx.db.delete(user)
    again = await api.post("/auth/register", {**ADA, "invite_token": "an-invitation"})
    assert (again.status, list(again.details)) == (422, ["invite_token"])


async def test_an_invitation_is_for_one_address(api, people):
    await invite(people)
    eve = {**ADA, "email": "eve@example.org", "invite_token": "an-invitation"}
    answer = await api.post("/auth/register", eve)
    assert (answer.status, list(answer.details)) == (422, ["invite_token"])
    assert await find_user(people, "eve@example.org") is None
    assert (await api.post("/auth/register", {**ADA, "invite_token": "an-invitation"})).status == 201


async def test_an_invitation_expires(api, people, clock):
    await invite(people)
    clock.advance(3601)
    answer = await api.post("/auth/register", {**ADA, "invite_token": "an-invitation"})
    assert (answer.status, list(answer.details)) == (422, ["invite_token"])
    assert await find_user(people, ADA["email"]) is None


async def test_an_invitation_used_twice_at_once_makes_one_account(api, people):
    await invite(people)
    wanted = {**ADA, "invite_token": "an-invitation"}
    answers = await asyncio.gather(*(api.post("/auth/register", wanted) for _ in range(6)))
    assert [answer.status for answer in answers].count(201) == 1
    assert {answer.status for answer in answers} <= {201, 409, 422}


async def test_the_sent_invitation_lets_its_recipient_in(service, people, api):
    admin = await people.signed_in(Role.tenant_admin, await people.tenant("Sending"))
    invited = await admin.post("/users/invite", {"email": "Ada@example.org", "role": "viewer"})
    assert invited.status == 201
    token = link_token(await last_mail(service, "ada@example.org"))
    answer = await api.post("/auth/register", {**ADA, "invite_token": token})
    assert (answer.status, answer.json()["role"]) == (201, "viewer")
    user = await find_user(people, ADA["email"])
    assert user.tenant_id == admin.user.tenant_id


def same_but_id(shown: dict) -> dict:
    return {name: value for name, value in shown.items() if name not in {"id", "email"}}


async def test_a_hidden_account_looks_like_a_new_one_and_its_owner_is_told(make_service):
    service = await make_service(hide_accounts=True)
    people, api = People(service), Api(service)
    owner = await people.user(email="owner@example.org")
    new = await api.post("/auth/register", ADA)
    taken = await api.post("/auth/register", {**ADA, "email": owner.email})
    assert (new.status, taken.status) == (201, 201)
    assert same_but_id(new.json()) == same_but_id(taken.json())
    assert new.headers.keys() == taken.headers.keys()
    assert taken.json()["email"] == owner.email
    fake = taken.json()["id"]
    assert (len(fake), fake[:4]) == (len(owner.id), "usr_")
    async with people.context() as ctx:
        assert await ctx.system("test").find(User, id=fake) is None
        unchanged = await ctx.system("test").get(User, owner.id)
    assert unchanged.password_hash == owner.password_hash
    told = await mails_to(service, owner.email)
    assert [mail["Subject"] for mail in told] == ["You already have an account"]
    assert len(await mails_to(service, ADA["email"])) == 1


async def test_a_hidden_account_costs_the_same_work(make_service, monkeypatch):
    """One hash and one queued mail, whether or not the address has an account."""
    service = await make_service(hide_accounts=True)
    people, api = People(service), Api(service)
    await people.user(email="owner@example.org")

    async def work(email: str) -> tuple[int, int, int]:
        hashes: list[str] = []
        real = passwords.hash_for_anonymous

        async def counted(password: str, *more: Any) -> str:
            hashes.append(password)
            return await real(password, *more)

        monkeypatch.setattr(passwords, "hash_for_anonymous", counted)
        before = await count_mails(service)
        assert (await api.post("/auth/register", {**ADA, "email": email})).status == 201
        monkeypatch.setattr(passwords, "hash_for_anonymous", real)
        after = await count_mails(service)
        return len(hashes), after[0] - before[0], after[1] - before[1]

    assert await work("new@example.org") == (1, 1, 1) == await work("owner@example.org")


async def count_mails(service) -> tuple[int, int]:
    fetch = service.instance.database.fetch
    jobs = await fetch("SELECT count(*) FROM jobs WHERE kind = 'mail.send'", [])
    stored = await fetch("SELECT count(*) FROM outgoing_mails", [])
    return jobs[0][0], stored[0][0]


async def test_an_owner_is_told_a_few_times_and_not_flooded(make_service):
    service = await make_service(hide_accounts=True)
    people, api = People(service), Api(service)
    owner = await people.user(email="owner@example.org")
    answers = [await api.post("/auth/register", {**ADA, "email": owner.email}) for _ in range(8)]
    assert {answer.status for answer in answers} == {201}
    assert len(await mails_to(service, owner.email)) == 5
