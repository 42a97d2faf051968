"""Forgetting, resetting and changing a password."""

import asyncio

from retinue.auth.models import OneTimeToken
from retinue.kit.ids import hash_token
from retinue.users.models import User, UserStatus
from tests.client import Api
from tests.factories.happenings import audits, only_event
from tests.factories.mails import html_of, last_mail, link_token, mails_to, text_of
from tests.factories.people import PASSWORD, People

NEW = "Another-Staple-3"
BAD_TOKENS = [None, "", "null", [], {}, 0, 7.5, True, ["x"], "x" * 300, "unknown"]


async def request_reset(service, user: User) -> str:
    """Ask for a reset; return the token of the link."""
    assert (await Api(service).post("/auth/forgot-password", {"email": user.email})).status == 200
    return link_token(await last_mail(service, user.email))


async def reset(api: Api, token: object, password: str = NEW):
    return await api.post("/auth/reset-password", {"token": token, "new_password": password})


async def can_sign_in(api: Api, user: User, password: str) -> bool:
    return (await api.post("/auth/login", {"email": user.email, "password": password})).status == 200


def is_bad_token(answer) -> bool:
    return (answer.status, answer.code, list(answer.details)) == (422, "validation_error", ["token"])


async def test_a_forgotten_password_is_replaced_with_the_mailed_link(service, api, people):
    user = await people.user()
    token = await request_reset(service, user)
    answer = await reset(api, token)
    assert (answer.status, list(answer.json())) == (200, ["message"])
    assert await can_sign_in(api, user, NEW)
    assert not await can_sign_in(api, user, PASSWORD)
    assert [row.metadata["with_link"] for row in await audits(people, "auth.password_changed")] == [True]
    assert (await last_mail(service, user.email))["Subject"] == "Your password was changed"


async def test_forgetting_is_answered_alike_for_everyone(service, api, people):
    user, inactive = await people.user(), await people.user()
    async with people.context(inactive.tenant_id) as ctx:
        await ctx.db.update(inactive, status=UserStatus.inactive)
    addresses = [user.email, user.email.upper(), inactive.email, "nobody@example.com"]
    answers = [await api.post("/auth/forgot-password", {"email": email}) for email in addresses]
    assert {(answer.status, answer.body, tuple(sorted(answer.headers))) for answer in answers} == {
        (200, answers[0].body, tuple(sorted(answers[0].headers)))
    }
    jobs = await service.instance.database.fetch("SELECT kind FROM jobs", [])
    assert [row[0] for row in jobs] == ["auth.send_password_reset"] * 4
    assert await mails_to(service, inactive.email) == []
    assert await mails_to(service, "nobody@example.com") == []
    assert len(await mails_to(service, user.email)) == 2


async def test_nobody_is_flooded_with_links(service, api, people):
    user = await people.user()
    answers = [await api.post("/auth/forgot-password", {"email": user.email}) for _ in range(9)]
    assert {answer.status for answer in answers} == {200}
    assert len(await mails_to(service, user.email)) == 5


async def test_forgetting_needs_an_address(api):
    for bad in (None, "", "ada", 7, ["a@example.com"], {"$gt": ""}):
        answer = await api.post("/auth/forgot-password", {"email": bad})
        assert (answer.status, list(answer.details)) == (422, ["email"]), bad


async def test_a_token_that_was_never_sent_resets_nothing(service, api, people):
    user = await people.user()
    await request_reset(service, user)
    for bad in BAD_TOKENS:
        assert is_bad_token(await reset(api, bad)), bad
    assert await can_sign_in(api, user, PASSWORD)


async def test_a_link_says_whether_it_works_before_a_password_is_chosen(service, api, people):
    user = await people.user()
    token = await request_reset(service, user)
    link = {"purpose": "reset_password", "token": token}
    assert (await api.post("/auth/link", link)).status == 200
    assert is_bad_token(await api.post("/auth/link", {**link, "token": "never-sent"}))
    # A link is for one purpose, and looking does not use it up.
    assert (await api.post("/auth/link", {**link, "purpose": "setup"})).status in {409, 422}
    assert (await reset(api, token)).status == 200
    assert is_bad_token(await api.post("/auth/link", link))


async def test_a_missing_token_resets_nothing(api):
    assert is_bad_token(await api.post("/auth/reset-password", {"new_password": NEW}))
    assert is_bad_token(await api.post("/auth/verify-email", {}))


async def test_a_link_works_once(service, api, people):
    user = await people.user()
    token = await request_reset(service, user)
    assert (await reset(api, token)).status == 200
    assert is_bad_token(await reset(api, token, "Yet-Another-4"))
    assert await can_sign_in(api, user, NEW)


async def test_a_link_used_many_times_at_once_works_once(service, api, people):
    user = await people.user()
    token = await request_reset(service, user)
    answers = await asyncio.gather(*(reset(api, token, f"Password-{number}") for number in range(8)))
    assert sorted(answer.status for answer in answers) == [200] + [422] * 7
    (winner,) = [number for number, answer in enumerate(answers) if answer.status == 200]
    assert await can_sign_in(api, user, f"Password-{winner}")


async def test_a_link_lasts_an_hour(service, api, people, clock):
    user = await people.user()
    token = await request_reset(service, user)
    clock.advance(3601)
    assert is_bad_token(await reset(api, token))
    fresh = await request_reset(service, user)
    clock.advance(3590)
    assert (await reset(api, fresh)).status == 200


async def test_a_new_link_voids_the_one_before(service, api, people):
    user = await people.user()
    first = await request_reset(service, user)
    second = await request_reset(service, user)
    assert is_bad_token(await reset(api, first))
    assert (await reset(api, second)).status == 200


async def test_a_link_changes_only_the_account_it_was_mailed_to(service, api, people):
    mine, theirs = await people.user(), await people.user()
    token = await request_reset(service, mine)
    body = {"token": token, "new_password": NEW, "email": theirs.email, "user_id": theirs.id}
    assert (await api.post("/auth/reset-password", body)).status == 200
    assert await can_sign_in(api, theirs, PASSWORD)
    assert await can_sign_in(api, mine, NEW)


async def test_a_link_has_one_purpose(service, api, people):
    registration = {"email": "ada@example.org", "password": PASSWORD, "first_name": "A", "last_name": "L"}
    await api.post("/auth/register", registration)
    verify = link_token(await last_mail(service, "ada@example.org"))
    async with people.context() as ctx:
        user = await ctx.system("test").find(User, email="ada@example.org")
    resetting = await request_reset(service, user)
    assert is_bad_token(await reset(api, verify))
    assert is_bad_token(await api.post("/auth/verify-email", {"token": resetting}))
    assert (await api.post("/auth/verify-email", {"token": verify})).status == 200
    assert (await reset(api, resetting)).status == 200


async def test_a_link_of_a_deactivated_account_is_dead(service, api, people):
    user = await people.user()
    token = await request_reset(service, user)
    async with people.context(user.tenant_id) as ctx:
        await ctx.db.update(user, status=UserStatus.inactive)
    assert is_bad_token(await reset(api, token))


async def test_a_weak_new_password_does_not_use_up_the_link(service, api, people):
    user = await people.user()
    token = await request_reset(service, user)
    answer = await reset(api, token, "weak")
    assert (answer.status, list(answer.details)) == (422, ["new_password"])
    assert (await reset(api, token)).status == 200


async def test_only_the_hash_of_a_link_is_stored(service, people):
    user = await people.user()
    token = await request_reset(service, user)
    async with people.context() as ctx:
        stored = await ctx.system("test").all(OneTimeToken)
    assert [row.token_hash for row in stored] == [hash_token(token)]
    assert len(token) == 43
    if service.instance.database.dialect == "sqlite":
        for file in service.settings.data_dir.glob("retinue.db*"):
            assert token.encode() not in file.read_bytes()


POISON = [
    {"Host": "evil.example"},
    {"X-Forwarded-Host": "evil.example"},
    {"Forwarded": "host=evil.example;proto=https"},
    {"X-Forwarded-Proto": "javascript", "X-Original-URL": "https://evil.example/"},
    {"Origin": "https://evil.example", "Referer": "https://evil.example/"},
]


async def test_the_link_leads_to_the_configured_address_whatever_the_request_says(make_service):
    # A development instance would not even answer to another host.
    service = await make_service(base_url="https://retinue.example.com")
    api, user = Api(service), await People(service).user()
    for headers in POISON:
        await api.post("/auth/forgot-password", {"email": user.email}, headers=headers)
        mail = await last_mail(service, user.email)
        token = link_token(mail)
        lines = text_of(mail).splitlines()
        assert f"https://retinue.example.com/reset-password?token={token}" in lines
        assert token in lines
        assert "evil" not in str(mail.items()) + text_of(mail) + html_of(mail)
    assert len(await mails_to(service, user.email)) == len(POISON)


async def test_a_reset_does_not_get_around_the_second_factor(service, api, people):
    user = await people.user()
    async with people.context(user.tenant_id) as ctx:
        await ctx.db.update(user, mfa_enabled=True)
    pending = await api.post("/auth/login", {"email": user.email, "password": PASSWORD})
    assert (await reset(api, await request_reset(service, user))).status == 200
    answer = await api.post("/auth/login", {"email": user.email, "password": NEW})
    assert (answer.status, answer.json()["mfa_required"]) == (200, True)
    assert "access_token" not in answer.json()
    late = await api.post("/auth/mfa/verify", {"mfa_token": pending.json()["mfa_token"], "code": "000000"})
    assert (late.status, late.details) == (401, {"reason": "mfa_token_invalid"})


async def change(me: Api, current: str = PASSWORD, new: str = NEW):
    return await me.post("/auth/change-password", {"current_password": current, "new_password": new})


async def test_a_password_is_changed_by_who_knows_it(service, people):
    me = await people.signed_in()
    answer = await change(me)
    assert (answer.status, list(answer.json())) == (200, ["message"])
    assert (await me.get("/auth/me")).status == 200
    assert await can_sign_in(people.api, me.user, NEW)
    assert not await can_sign_in(people.api, me.user, PASSWORD)
    assert (await last_mail(service, me.user.email))["Subject"] == "Your password was changed"


async def test_the_wrong_current_password_changes_nothing(service, people):
    me = await people.signed_in()
    answer = await change(me, current="Wrong-1-password")
    assert (answer.status, answer.code) == (422, "validation_error")
    assert answer.details == {"current_password": "is not your current password"}
    assert await can_sign_in(people.api, me.user, PASSWORD)
    await service.runner.drain()
    told = await only_event(people, "system.auth.login_failed")
    assert told == {"user_id": me.user.id, "reason": "invalid_credentials", "purpose": "change_password"}


async def test_a_new_password_follows_the_rule(people):
    me = await people.signed_in()
    for weak in ("Short-1", "alllower1", "ALLUPPER1", "NoNumberHere", "x" * 129):
        answer = await change(me, new=weak)
        assert (answer.status, list(answer.details)) == (422, ["new_password"]), weak
    assert await can_sign_in(people.api, me.user, PASSWORD)


async def test_changing_the_password_voids_links_that_were_mailed_before(service, people):
    me = await people.signed_in()
    token = await request_reset(service, me.user)
    assert (await change(me)).status == 200
    assert is_bad_token(await reset(people.api, token, "Yet-Another-4"))


async def test_changing_a_password_needs_a_session(api):
    answer = await change(api)
    assert (answer.status, answer.details) == (401, {"reason": "missing_token"})


async def test_two_changes_at_once_leave_one_password(people):
    me = await people.signed_in()
    answers = await asyncio.gather(*(change(me, new=f"Password-{number}") for number in range(4)))
    won = [number for number, answer in enumerate(answers) if answer.status == 200]
    working = [
        n for n in range(4) if await can_sign_in(people.api.at("198.51.100.7"), me.user, f"Password-{n}")
    ]
    assert len(won) == 1
    assert working == won
    assert {answer.status for answer in answers} <= {200, 422}


async def test_a_sign_in_that_overlaps_a_reset_does_not_survive_it(service, api, people):
    """In either order, no session that was opened with the old password survives."""
    user = await people.user()
    token = await request_reset(service, user)
    elsewhere = api.at("198.51.100.7")
    body = {"email": user.email, "password": PASSWORD}
    outcomes = await asyncio.gather(
        reset(api, token), *(elsewhere.post("/auth/login", body) for _ in range(4))
    )
    assert outcomes[0].status == 200
    for login in outcomes[1:]:
        if login.status == 200:
            me = api.signed_in(login.json()["access_token"])
            assert (await me.get("/auth/me")).status == 401


async def test_the_current_password_is_asked_for_in_every_tenant(people: People):
    """Acting elsewhere is for routes with a permission; one's own password is at home."""
    elsewhere = await people.tenant("Elsewhere")
    admin = await people.super_admin()
    body = {"current_password": "Wrong-1-password", "new_password": NEW}
    answer = await admin.post("/auth/change-password", body, headers={"X-Tenant-ID": elsewhere.id})
    assert (answer.status, list(answer.details)) == (422, ["current_password"])
