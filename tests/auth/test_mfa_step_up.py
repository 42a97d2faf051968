"""Step-up: with a second factor on the account, an access token alone is not enough for what is delicate."""

import asyncio

import pytest

from retinue.auth.mfa import step_up
from retinue.auth.models import MfaDevice
from tests.factories.happenings import audits, only_event
from tests.factories.mails import last_mail
from tests.factories.people import ADMIN_PASSWORD, PASSWORD
from tests.factories.second_factors import complete, enable, mfa_token, only_device, refusal_of, sign_in
from tests.factories.second_factors import set_up as set_up_factor

RENEW = "/api/v1/mfa/recovery-codes"
STEP_UP = (403, "step_up_required")


async def renew(person, **body):
    return await person.post(RENEW, body)


async def set_up(person, **body):
    return await person.post("/api/v1/mfa/setup", body)


async def remove(person, **body):
    device = await only_device(person)
    return await person.delete(f"/api/v1/mfa/devices/{device['id']}", body or None)


DELICATE = pytest.mark.parametrize("act", [renew, set_up, remove])


@pytest.fixture
async def thief(people, person):
    """A session of the same person that has never shown a second factor."""
    session = await people.sign_in(person.user)
    session.user = person.user
    return session


@pytest.fixture
async def factor(person, thief, clock):
    return await enable(person, clock)


@DELICATE
async def test_a_token_alone_is_refused(person, thief, factor, act) -> None:
    answer = await act(thief)
    assert refusal_of(answer) == STEP_UP
    assert answer.details == {
        "required": "step_up",
        "your_role": "agent_user",
        "reason": "step_up_required",
    }
    status = (await person.get("/api/v1/mfa/status")).json()
    assert (status["enabled"], status["devices_count"]) == (True, 1)


@DELICATE
async def test_the_session_that_enabled_mfa_is_not_asked(person, factor, act) -> None:
    assert (await act(person)).status == 200


@DELICATE
async def test_a_session_begun_with_a_code_is_not_asked(api, person, factor, act) -> None:
    assert (await act(await sign_in(api, person.user, factor.code()))).status == 200


@DELICATE
async def test_a_session_that_verified_a_code_is_not_asked(thief, factor, act) -> None:
    assert (await thief.post("/api/v1/mfa/verify", {"code": factor.wrong_code()})).status == 200
    assert refusal_of(await act(thief)) == STEP_UP
    assert (await thief.post("/api/v1/mfa/verify", {"code": factor.code()})).json() == {"valid": True}
    assert (await act(thief)).status == 200


@DELICATE
async def test_a_code_goes_along(thief, factor, act) -> None:
    assert (await act(thief, code=factor.code())).status == 200


@DELICATE
async def test_a_recovery_code_goes_along_and_is_used_up(people, thief, factor, act) -> None:
    assert (await act(thief, code=factor.recovery_codes[0])).status == 200
    (used,) = await audits(people, "auth.recovery_code_used")
    assert used.metadata["purpose"] == "step_up"


@pytest.mark.parametrize("act", [renew, set_up])
async def test_the_password_goes_along(thief, factor, act) -> None:
    assert (await act(thief, password=PASSWORD)).status == 200


async def test_the_password_alone_does_not_remove_the_last_factor(person, thief, factor) -> None:
    answer = await remove(thief, password=PASSWORD)
    assert refusal_of(answer) == STEP_UP
    assert (await person.get("/api/v1/mfa/status")).json()["enabled"] is True
    assert (await remove(thief, password=PASSWORD, code=factor.code())).status == 200
    assert (await person.get("/api/v1/mfa/status")).json()["enabled"] is False


async def test_the_password_removes_a_device_while_another_one_stays(person, thief, factor, clock) -> None:
    await enable(person, clock, name="Tablet")
    first, second = (await person.get("/api/v1/mfa/devices")).json()["devices"]
    path = "/api/v1/mfa/devices/"
    assert (await thief.delete(path + first["id"], {"password": PASSWORD})).status == 200
    assert refusal_of(await thief.delete(path + second["id"], {"password": PASSWORD})) == STEP_UP


async def added_with_the_password(session, clock):
    """Add a factor with the password alone; return it."""
    mine = await set_up_factor(session, clock, name="Mine", password=PASSWORD)
    assert (await session.post("/api/v1/mfa/enable", {"code": mine.code()})).status == 200
    return mine


async def owners_device(person):
    return (await person.get("/api/v1/mfa/devices")).json()["devices"][0]["id"]


async def test_a_factor_that_the_password_added_removes_no_other_one(
    service, api, person, thief, factor, clock
) -> None:
    mine = await added_with_the_password(thief, clock)
    path = f"/api/v1/mfa/devices/{await owners_device(person)}"
    assert (await last_mail(service, person.user.email))["Subject"].startswith("A way to sign in was added")
    clock.advance(60)
    again = await sign_in(api, person.user, mine.code())
    for session in (thief, again):
        assert (await session.post("/api/v1/mfa/verify", {"code": mine.code()})).json() == {"valid": True}
        for body in (None, {"password": PASSWORD}, {"code": mine.code()}, {"code": mine.recovery_codes[0]}):
            assert refusal_of(await session.delete(path, body)) == STEP_UP, body
        for code in (mine.code(), mine.recovery_codes[1]):
            assert (await session.post("/api/v1/mfa/disable", {"code": code})).status == 422
    assert (await person.get("/api/v1/mfa/status")).json()["devices_count"] == 2
    assert (await person.post("/api/v1/mfa/disable", {"code": factor.code()})).status == 200


async def test_right_codes_of_such_a_factor_buy_no_guesses_at_the_others(thief, factor, clock) -> None:
    mine = await added_with_the_password(thief, clock)
    stranger = thief.at("198.51.100.1")
    statuses = []
    for _ in range(6):
        statuses.append((await stranger.post("/api/v1/mfa/disable", {"code": factor.wrong_code()})).status)
        statuses.append((await stranger.post("/api/v1/mfa/verify", {"code": mine.code()})).status)
    assert statuses == [422, 200] * 5 + [429, 429]


async def test_recovery_codes_that_the_password_bought_remove_no_factor(api, person, thief, factor) -> None:
    bought = (await renew(thief, password=PASSWORD)).json()["recovery_codes"]
    assert refusal_of(await remove(thief, code=bought[0])) == STEP_UP
    assert (await thief.post("/api/v1/mfa/disable", {"code": bought[1]})).status == 422
    assert refusal_of(await remove(await sign_in(api, person.user, bought[2]))) == STEP_UP


async def test_a_factor_that_the_password_added_counts_like_any_other_a_day_later(
    api, person, thief, factor, clock
) -> None:
    mine = await added_with_the_password(thief, clock)
    clock.advance(24 * 3600 + 1)
    later = await sign_in(api, person.user, mine.code())
    assert (await later.delete(f"/api/v1/mfa/devices/{await owners_device(later)}")).status == 200


@DELICATE
async def test_what_is_wrong_does_not_help(thief, factor, act) -> None:
    for body in (
        {"code": "nonsense"},
        {"code": ""},
        {"code": None},
        {"password": "Wrong-Staple-2"},
        {"password": None},
        {"code": "nonsense", "password": "Wrong-Staple-2"},
    ):
        assert refusal_of(await act(thief, **body)) == STEP_UP


async def test_a_confirmation_is_text(thief, factor) -> None:
    for body in ({"code": 123456}, {"password": 7}, {"password": ""}, {"code": ["123456"]}):
        answer = await renew(thief, **body)
        assert (answer.status, answer.code) == (422, "validation_error")
        assert set(answer.details) == set(body)


async def test_either_of_both_is_enough(thief, factor) -> None:
    assert (await renew(thief, code=factor.wrong_code(), password=PASSWORD)).status == 200


async def test_the_codes_and_passwords_of_others_do_not_help(people, thief, factor, clock) -> None:
    other = await people.signed_in()
    others = await enable(other, clock)
    for code in (others.code(), others.recovery_codes[0]):
        assert refusal_of(await renew(thief, code=code)) == STEP_UP


async def test_a_code_given_counts_for_the_session_and_a_password_does_not(thief, factor) -> None:
    assert (await renew(thief, password=PASSWORD)).status == 200
    assert refusal_of(await renew(thief)) == STEP_UP
    assert (await renew(thief, code=factor.code())).status == 200
    assert (await renew(thief)).status == 200


async def test_a_second_factor_counts_for_fifteen_minutes(api, person, factor, clock) -> None:
    token = await mfa_token(api, person.user)
    first = (await complete(api, token, factor.code())).json()
    clock.advance(14 * 60)
    renewed = (await api.post("/auth/refresh", {"refresh_token": first["refresh_token"]})).json()
    session = api.signed_in(renewed["access_token"])
    clock.advance(59)
    assert (await renew(session)).status == 200
    clock.advance(2)
    assert refusal_of(await renew(session)) == STEP_UP
    assert (await renew(session, code=factor.code())).status == 200


async def test_without_mfa_nothing_is_asked(person) -> None:
    assert (await set_up(person)).status == 200
    assert (await set_up(person)).status == 200
    answer = await renew(person)
    assert (answer.status, answer.code) == (409, "mfa_not_enabled")


async def test_a_refused_setup_leaves_what_is_in_use(api, person, thief, factor) -> None:
    assert refusal_of(await set_up(thief)) == STEP_UP
    answer = await thief.post("/api/v1/mfa/enable", {"code": factor.code()})
    assert (answer.status, answer.code) == (409, "mfa_not_setup")
    await sign_in(api, person.user, factor.code())


async def test_a_wrong_password_is_recorded_with_its_purpose(service, people, thief, factor) -> None:
    assert refusal_of(await renew(thief, password="Wrong-Staple-2")) == STEP_UP
    await service.runner.drain()
    told = await only_event(people, "system.auth.login_failed")
    assert told == {"user_id": thief.user.id, "reason": "invalid_credentials", "purpose": "step_up"}


async def test_passwords_are_counted_as_at_the_sign_in(api, person, thief, factor) -> None:
    for _ in range(5):
        assert refusal_of(await renew(thief, password="Wrong-Staple-2")) == STEP_UP
    answer = await renew(thief, password=PASSWORD)
    assert (answer.status, answer.code) == (429, "rate_limited")
    login = await api.post("/auth/login", {"email": person.user.email, "password": PASSWORD})
    assert login.status == 429


async def test_of_many_sessions_with_one_code_one_is_let_through(people, person, clock) -> None:
    sessions = [await people.sign_in(person.user) for _ in range(8)]
    code = (await enable(person, clock)).code()
    answers = await asyncio.gather(*(renew(session, code=code) for session in sessions))
    assert sorted(answer.status for answer in answers) == [200] + [403] * 7


async def test_whether_a_device_exists_is_told_only_after_the_step_up(thief, factor) -> None:
    path = "/api/v1/mfa/devices/mfa_aaaaaaaaaaaaaaaaaaaaaaaaaa"
    assert refusal_of(await thief.delete(path)) == STEP_UP
    answer = await thief.delete(path, {"password": PASSWORD})
    assert (answer.status, answer.code) == (404, "device_not_found")


@pytest.mark.parametrize("act", [renew, set_up, "remove"])
async def test_mfa_enabled_while_a_request_is_on_its_way_is_asked_for(
    people, person, thief, clock, monkeypatch, act
) -> None:
    waiting = await set_up_factor(person, clock)
    async with people.context(person.user.tenant_id) as ctx:
        device = await ctx.db.find(MfaDevice, user_id=person.user.id)
    judge = step_up.require

    async def overtaken(ctx, **given):
        judged = await judge(ctx, **given)
        assert (await person.post("/api/v1/mfa/enable", {"code": waiting.code()})).status == 200
        return judged

    monkeypatch.setattr(step_up, "require", overtaken)
    if act == "remove":
        answer = await thief.delete(f"/api/v1/mfa/devices/{device.id}")
    else:
        answer = await act(thief)
    assert refusal_of(answer) == STEP_UP
    status = (await person.get("/api/v1/mfa/status")).json()
    assert (status["devices_count"], status["recovery_codes_remaining"]) == (1, 10)


async def test_a_super_administrator_who_acts_elsewhere_shows_the_own_second_factor(
    people, admin, clock
) -> None:
    stale = await people.super_admin()
    factor = await enable(admin, clock)
    elsewhere = {"X-Tenant-ID": (await people.tenant()).id}
    current = (await admin.get("/roles/viewer/permissions")).json()["permissions"]

    async def change(**confirmation):
        body = {"permissions": current, **confirmation}
        return await stale.put("/roles/viewer/permissions", body, headers=elsewhere)

    assert refusal_of(await change()) == STEP_UP
    assert refusal_of(await change(code=factor.wrong_code())) == STEP_UP
    assert (await change(password=ADMIN_PASSWORD)).status == 200
    assert (await change(code=factor.code())).status == 200
    assert (await change()).status == 200
