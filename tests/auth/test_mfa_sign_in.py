"""The second half of signing in: the token of the first half, and a code."""

import asyncio

from retinue.auth.models import MfaChallenge, Session
from retinue.users.models import User, UserStatus
from tests.factories.happenings import audits, events
from tests.factories.people import PASSWORD
from tests.factories.second_factors import complete, enable, mfa_token, only_device, refusal_of, sign_in

INVALID_TOKEN = (401, "mfa_token_invalid")


async def change_user(people, user: User, **changes) -> None:
    async with people.context(user.tenant_id) as ctx:
        await ctx.db.update(await ctx.db.get(User, user.id), **changes)


async def test_a_code_completes_the_sign_in(api, people, person, factor) -> None:
    answer = await complete(api, await mfa_token(api, person.user), factor.code())
    assert answer.status == 200
    assert answer.headers["cache-control"] == "no-store"
    body = answer.json()
    assert set(body) == {"access_token", "refresh_token", "token_type", "expires_in"}
    assert (body["token_type"], body["expires_in"]) == ("Bearer", 900)
    me = await api.signed_in(body["access_token"]).get("/auth/me")
    assert me.json()["id"] == person.user.id
    assert (await api.post("/auth/refresh", {"refresh_token": body["refresh_token"]})).status == 200
    last = (await audits(people, "auth.logged_in"))[-1]
    assert last.metadata["second_factor"] is True


async def test_a_recovery_code_completes_the_sign_in(api, people, person, factor) -> None:
    answer = await complete(api, await mfa_token(api, person.user), factor.recovery_codes[0])
    assert answer.status == 200
    (used,) = await audits(people, "auth.recovery_code_used")
    assert used.metadata == {"user_id": person.user.id, "purpose": "login", "remaining": 9}


async def test_the_first_half_alone_gives_nothing(api, person, factor) -> None:
    token = await mfa_token(api, person.user)
    answer = await api.signed_in(token).get("/auth/me")
    assert refusal_of(answer) == (401, "invalid_token")
    assert refusal_of(await api.post("/auth/refresh", {"refresh_token": token})) == (
        401,
        "invalid_refresh_token",
    )


async def test_a_wrong_code_is_refused_and_recorded(api, people, person, factor) -> None:
    answer = await complete(api, await mfa_token(api, person.user), factor.wrong_code())
    assert refusal_of(answer) == (401, "invalid_code")
    (failed,) = await events(people, "system.auth.login_failed")
    assert failed.data == {"user_id": person.user.id, "reason": "invalid_code", "purpose": "login"}
    (audited,) = await audits(people, "system.auth.login_failed")
    assert audited.success is False


async def test_a_token_is_good_for_one_sign_in(api, person, factor) -> None:
    token = await mfa_token(api, person.user)
    assert (await complete(api, token, factor.code())).status == 200
    assert refusal_of(await complete(api, token, factor.code(30))) == INVALID_TOKEN
    assert refusal_of(await complete(api, token, factor.recovery_codes[0])) == INVALID_TOKEN


async def test_a_token_that_is_used_up_does_not_use_up_codes(api, person, factor) -> None:
    token = await mfa_token(api, person.user)
    await complete(api, token, factor.code())
    await complete(api, token, factor.recovery_codes[0])
    status = (await person.get("/api/v1/mfa/status")).json()
    assert status["recovery_codes_remaining"] == 10


async def test_a_token_is_good_for_five_tries(api, person, factor) -> None:
    token = await mfa_token(api, person.user)
    for _ in range(5):
        assert refusal_of(await complete(api, token, factor.wrong_code())) == (401, "invalid_code")
    assert refusal_of(await complete(api, token, factor.code())) == INVALID_TOKEN
    assert refusal_of(await complete(api, token, factor.recovery_codes[0])) == INVALID_TOKEN
    await sign_in(api, person.user, factor.code())


async def test_the_fifth_try_may_be_the_right_one(api, person, factor) -> None:
    token = await mfa_token(api, person.user)
    for _ in range(4):
        await complete(api, token, factor.wrong_code())
    assert (await complete(api, token, factor.code())).status == 200


async def test_a_token_is_good_for_five_minutes(api, person, factor, clock) -> None:
    early, late = await mfa_token(api, person.user), await mfa_token(api, person.user)
    clock.advance(298)
    assert (await complete(api, early, factor.code())).status == 200
    clock.advance(30)
    assert refusal_of(await complete(api, late, factor.code())) == INVALID_TOKEN


async def test_text_is_no_token(api) -> None:
    for token in ("x", "a.b.c", "mfa", "null", "é"):
        assert refusal_of(await complete(api, token, "123456")) == INVALID_TOKEN


async def test_a_token_has_the_form_of_one(api) -> None:
    for token in (None, "", 7, ["a"], {}, "t" * 4097):
        answer = await complete(api, token, "123456")
        assert (answer.status, answer.code) == (422, "validation_error")
        assert set(answer.details) == {"mfa_token"}


async def test_both_fields_are_needed(api) -> None:
    answer = await api.post("/auth/mfa/verify", {})
    assert answer.status == 422
    assert answer.details == {"mfa_token": "is required", "code": "is required"}


async def test_other_tokens_are_no_mfa_tokens(api, person, factor) -> None:
    for token in (person.token, person.token[:-2], person.token.replace(".", "")):
        assert refusal_of(await complete(api, token, factor.code())) == INVALID_TOKEN


async def test_a_code_belongs_to_its_user(api, people, person, factor, clock) -> None:
    other = await people.signed_in()
    others = await enable(other, clock)
    token = await mfa_token(api, person.user)
    for code in (others.code(), others.recovery_codes[0]):
        assert refusal_of(await complete(api, token, code)) == (401, "invalid_code")
    assert (await other.get("/api/v1/mfa/status")).json()["recovery_codes_remaining"] == 10


async def test_a_user_deactivated_in_between_is_refused(api, people, person, factor) -> None:
    token = await mfa_token(api, person.user)
    await change_user(people, person.user, status=UserStatus.inactive)
    assert refusal_of(await complete(api, token, factor.code())) == (403, "account_inactive")
    assert refusal_of(await complete(api, token, factor.recovery_codes[0])) == (403, "account_inactive")
    await change_user(people, person.user, status=UserStatus.active)
    assert (await complete(api, token, factor.code())).status == 200


async def test_deactivating_through_the_api_ends_the_waiting_sign_in(api, admin, person, factor) -> None:
    token = await mfa_token(api, person.user)
    assert (await admin.post(f"/users/{person.user.id}/deactivate")).status == 200
    assert refusal_of(await complete(api, token, factor.code())) == INVALID_TOKEN


async def test_a_user_deleted_in_between_is_refused(api, admin, person, factor) -> None:
    token = await mfa_token(api, person.user)
    assert (await admin.delete(f"/users/{person.user.id}")).status == 200
    assert refusal_of(await complete(api, token, factor.code())) == INVALID_TOKEN


async def test_a_sign_in_that_waits_while_mfa_is_disabled_starts_again(api, people, person, factor) -> None:
    token = await mfa_token(api, person.user)
    await person.post("/api/v1/mfa/disable", {"code": factor.code()})
    assert refusal_of(await complete(api, token, factor.code())) == INVALID_TOKEN
    await people.sign_in(person.user)


async def test_a_new_password_ends_the_waiting_sign_in(api, person, factor) -> None:
    token = await mfa_token(api, person.user)
    body = {"current_password": PASSWORD, "new_password": "Another-Staple-3"}
    assert (await person.post("/auth/change-password", body)).status == 200
    assert refusal_of(await complete(api, token, factor.code())) == INVALID_TOKEN


async def test_an_administrators_reset_takes_the_second_factor_away(
    api, admin, people, person, factor
) -> None:
    token = await mfa_token(api, person.user)
    for _ in range(3):
        await complete(api, token, factor.wrong_code())
    answer = await admin.post(f"/api/v1/users/{person.user.id}/mfa/reset")
    assert answer.status == 200
    assert (answer.json()["id"], answer.json()["mfa_enabled"]) == (person.user.id, False)
    assert refusal_of(await complete(api, token, factor.code())) == INVALID_TOKEN
    assert refusal_of(await person.get("/api/v1/mfa/status")) == (401, "session_ended")
    again = await people.sign_in(person.user)
    status = (await again.get("/api/v1/mfa/status")).json()
    assert (status["enabled"], status["devices_count"], status["recovery_codes_remaining"]) == (False, 0, 0)


async def test_of_many_with_one_token_and_one_code_one_succeeds(api, person, factor) -> None:
    token = await mfa_token(api, person.user)
    answers = await asyncio.gather(*(complete(api, token, factor.code()) for _ in range(20)))
    assert sorted(answer.status for answer in answers)[:2] == [200, 401]
    assert {answer.status for answer in answers} == {200, 401}


async def test_of_two_good_codes_at_once_one_gets_the_token(api, people, person, factor) -> None:
    token = await mfa_token(api, person.user)
    answers = await asyncio.gather(
        complete(api, token, factor.code()),
        *(complete(api, token, code) for code in factor.recovery_codes[:4]),
    )
    assert sorted(answer.status for answer in answers) == [200, 401, 401, 401, 401]
    async with people.context(person.user.tenant_id) as ctx:
        assert await ctx.db.count(Session, user_id=person.user.id) == 2
        assert await ctx.db.count(MfaChallenge) == 0


async def test_the_session_counts_as_shown_a_second_factor(api, person, factor) -> None:
    session = await sign_in(api, person.user, factor.code())
    device = await only_device(session)
    assert (await session.delete(f"/api/v1/mfa/devices/{device['id']}")).status == 200
