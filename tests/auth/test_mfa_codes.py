"""Codes of an authenticator: their form, their time, once for each purpose, and not too many tries."""

import asyncio

import pytest

from tests.factories.happenings import audits
from tests.factories.second_factors import complete, enable, mfa_token, refusal_of, set_up, sign_in

NOT_A_CODE = [
    "000000",  # wrong unless the secret is one in a million
    " 123456",
    "123456 ",
    "\n123456",
    "１２３４５６",  # noqa: RUF001  full-width digits
    "١٢٣٤٥٦",
    "1234567",
    "12345",
    "",
    "+12345",
    "1_2345",
    "12e456",
    "𝟏𝟐𝟑𝟒𝟓𝟔",  # noqa: RUF001  mathematical digits
]
NOT_TEXT = [123456, None, ["123456"], {"code": "123456"}, True, 1.5]

VERIFY = "/api/v1/mfa/verify"


def digits(code: str, zero: int) -> str:
    """Return the same number in the digits of another script."""
    return "".join(chr(zero + int(digit)) for digit in code)


async def test_what_only_looks_like_a_code_does_not_sign_in(api, person, factor, clock) -> None:
    for number, code in enumerate(NOT_A_CODE):
        if number % 5 == 0:
            clock.advance(301)
            token = await mfa_token(api, person.user)
        assert refusal_of(await complete(api, token, code)) == (401, "invalid_code"), code


@pytest.mark.parametrize("path", ["/auth/mfa/verify", VERIFY, "/api/v1/mfa/enable", "/api/v1/mfa/disable"])
async def test_what_is_not_text_is_not_even_tried(api, person, factor, path) -> None:
    caller, more = (api, {"mfa_token": "x"}) if path.startswith("/auth") else (person, {})
    for code in NOT_TEXT:
        answer = await caller.post(path, {"code": code, **more})
        assert (answer.status, answer.code) == (422, "validation_error")
        assert list(answer.details) == ["code"]


async def test_a_code_is_taken_as_people_write_it(person, factor) -> None:
    right = factor.code()
    written = [
        f"{right[:3]} {right[3:]}",
        f"{right[:3]}-{right[3:]}",
        f"{right[:2]} {right[2:4]} {right[4:]}",
        f" {right}\n",
        f"{right[:3]}\N{NO-BREAK SPACE}{right[3:]}",
        f"{right[:3]}\N{NON-BREAKING HYPHEN}{right[3:]}",
        f"{right[:3]}\N{EN DASH}{right[3:]}",
    ]
    for code in written:
        assert (await person.post(VERIFY, {"code": code})).json() == {"valid": True}, code


async def test_a_code_as_people_write_it_is_used_up_like_any_other(api, person, factor) -> None:
    right = factor.code()
    await sign_in(api, person.user, f"{right[:3]} {right[3:]}")
    token = await mfa_token(api, person.user)
    for again in (right, f"{right[:3]}-{right[3:]}"):
        assert refusal_of(await complete(api, token, again)) == (401, "invalid_code")


async def test_a_right_code_in_another_dress_is_wrong(person, factor) -> None:
    right = factor.code()
    dressed = [
        f"{right[:3]}.{right[3:]}",
        f"{right[:3]}_{right[3:]}",
        digits(right, 0xFF10),
        digits(right, 0x0660),
        f"0{right}",
    ]
    for code in dressed:
        assert (await person.post(VERIFY, {"code": code})).json() == {"valid": False}, code
    assert (await person.post(VERIFY, {"code": right})).json() == {"valid": True}


async def test_a_code_signs_in_once(api, person, factor) -> None:
    code = factor.code()
    await sign_in(api, person.user, code)
    assert refusal_of(await complete(api, await mfa_token(api, person.user), code)) == (401, "invalid_code")


async def test_an_older_code_is_dead_once_a_newer_one_was_used(api, person, factor, clock) -> None:
    clock.advance(60)
    older, newer = factor.code(-30), factor.code()
    await sign_in(api, person.user, newer)
    token = await mfa_token(api, person.user)
    assert refusal_of(await complete(api, token, older)) == (401, "invalid_code")
    assert (await complete(api, token, factor.code(30))).status == 200
    assert refusal_of(await complete(api, await mfa_token(api, person.user), newer)) == (401, "invalid_code")


@pytest.mark.parametrize(
    ("seconds", "is_right"), [(-90, False), (-60, False), (-30, True), (30, True), (60, False), (90, False)]
)
async def test_a_clock_may_be_one_step_off(api, person, factor, clock, seconds, is_right) -> None:
    clock.advance(300)
    answer = await complete(api, await mfa_token(api, person.user), factor.code(seconds))
    assert answer.status == (200 if is_right else 401)


async def test_a_code_outlives_its_thirty_seconds_by_one_step(api, person, factor, clock) -> None:
    clock.advance(60)
    code = factor.code()
    token = await mfa_token(api, person.user)
    clock.advance(59)
    assert (await complete(api, token, code)).status == 200
    clock.advance(60)
    code = factor.code()
    clock.advance(61)
    assert refusal_of(await complete(api, await mfa_token(api, person.user), code)) == (401, "invalid_code")


async def test_a_code_is_good_once_for_each_purpose(api, people, person, clock) -> None:
    factor = await set_up(person, clock)
    code = factor.code()
    stale = await people.sign_in(person.user)
    assert (await person.post("/api/v1/mfa/enable", {"code": code})).status == 200
    await sign_in(api, person.user, code)
    assert refusal_of(await complete(api, await mfa_token(api, person.user), code)) == (401, "invalid_code")
    assert (await stale.post("/api/v1/mfa/recovery-codes", {"code": code})).status == 200
    assert (await stale.post(VERIFY, {"code": code})).json() == {"valid": True}
    assert (await person.post("/api/v1/mfa/disable", {"code": code})).status == 200


async def test_a_step_up_code_is_not_accepted_again(people, person, clock) -> None:
    first, second = await people.sign_in(person.user), await people.sign_in(person.user)
    factor = await enable(person, clock)
    code = factor.code()
    assert (await first.post("/api/v1/mfa/recovery-codes", {"code": code})).status == 200
    answer = await second.post("/api/v1/mfa/recovery-codes", {"code": code})
    assert refusal_of(answer) == (403, "step_up_required")


async def test_verify_uses_nothing_up(api, person, factor) -> None:
    for _ in range(3):
        assert (await person.post(VERIFY, {"code": factor.code()})).json() == {"valid": True}
    await sign_in(api, person.user, factor.code())
    assert (await person.post(VERIFY, {"code": factor.code()})).json() == {"valid": True}


async def test_verify_says_false_to_everything_else(person, factor) -> None:
    for code in (factor.wrong_code(), factor.recovery_codes[0], "", "nonsense"):
        answer = await person.post(VERIFY, {"code": code})
        assert (answer.status, answer.json()) == (200, {"valid": False})
    assert (await person.get("/api/v1/mfa/status")).json()["recovery_codes_remaining"] == 10


async def test_verify_says_false_to_whoever_has_no_mfa(person) -> None:
    assert (await person.post(VERIFY, {"code": "123456"})).json() == {"valid": False}


async def test_twenty_sign_ins_with_one_code_give_one_session(api, person, factor) -> None:
    tokens = [await mfa_token(api, person.user) for _ in range(20)]
    code = factor.code()
    answers = await asyncio.gather(*(complete(api, token, code) for token in tokens))
    statuses = [answer.status for answer in answers]
    assert statuses.count(200) == 1
    assert set(statuses) <= {200, 401, 429}


async def test_many_tries_at_once_are_all_counted(person, factor) -> None:
    answers = await asyncio.gather(*(person.post(VERIFY, {"code": factor.wrong_code()}) for _ in range(20)))
    statuses = [answer.status for answer in answers]
    assert (statuses.count(200), statuses.count(429)) == (10, 10)


async def test_the_tries_of_all_paths_are_counted_together(api, people, person, clock) -> None:
    stale = await people.sign_in(person.user)
    factor = await enable(person, clock)
    wrong = factor.wrong_code()
    token = await mfa_token(api, person.user)
    for _ in range(3):
        assert (await complete(api, token, wrong)).status == 401
        assert (await person.post(VERIFY, {"code": wrong})).status == 200
        assert (await person.post("/api/v1/mfa/disable", {"code": wrong})).status == 422
    answer = await stale.post("/api/v1/mfa/recovery-codes", {"code": wrong})
    assert refusal_of(answer) == (403, "step_up_required")
    right = factor.code(30)
    for attempt in (
        complete(api, token, right),
        person.post(VERIFY, {"code": right}),
        person.post("/api/v1/mfa/disable", {"code": right}),
        stale.post("/api/v1/mfa/recovery-codes", {"code": right}),
    ):
        answer = await attempt
        assert (answer.status, answer.code) == (429, "rate_limited")
        assert 0 < int(answer.headers["retry-after"]) <= 300
        assert (answer.headers["x-ratelimit-limit"], answer.headers["x-ratelimit-remaining"]) == ("10", "0")
    refusals = [entry.metadata["purpose"] for entry in await audits(people, "auth.mfa_code_refused")]
    assert sorted(refusals) == ["disable"] * 3 + ["step_up"] + ["verify"] * 3
    # Nobody guesses a recovery code, so it still gets its owner in.
    assert (await complete(api, token, factor.recovery_codes[0])).status == 200


async def spend_tries(api, user, wrong: str, tries: int = 10):
    """Wrong codes at sign-ins, as somebody sends them who knows the password."""
    for _ in range(tries // 5):
        token = await mfa_token(api, user)
        for _ in range(5):
            assert refusal_of(await complete(api, token, wrong)) == (401, "invalid_code")
    return await complete(api, await mfa_token(api, user), wrong)


async def test_wrong_codes_wait_longer_each_time_over_sessions_and_addresses(
    api, person, factor, clock
) -> None:
    waits = []
    for number in range(6):
        stranger = api.at(f"198.51.100.{number + 1}")
        answer = await spend_tries(stranger, person.user, factor.wrong_code())
        assert (answer.status, answer.code) == (429, "rate_limited")
        waits.append(int(answer.headers["retry-after"]))
        clock.advance(waits[-1])
    assert waits == [pytest.approx(wait, abs=2) for wait in (300, 600, 1200, 2400, 3600, 3600)]


async def test_strangers_do_not_lock_the_owner_out(api, person, factor, clock) -> None:
    stranger, elsewhere = api.at("198.51.100.1"), api.at("192.0.2.33")
    assert (await spend_tries(stranger, person.user, factor.wrong_code())).status == 429
    # At home, where a second factor was shown before, the owner does not even notice.
    await sign_in(api, person.user, factor.code())
    assert (await person.post(VERIFY, {"code": factor.code()})).json() == {"valid": True}
    # Elsewhere an authenticator has to wait, and a recovery code has not.
    token = await mfa_token(elsewhere, person.user)
    assert (await complete(elsewhere, token, factor.code(30))).status == 429
    assert (await complete(elsewhere, token, factor.recovery_codes[0])).status == 200


async def test_a_right_code_ends_the_longer_waits(person, factor, clock) -> None:
    for _ in range(10):
        await person.post(VERIFY, {"code": factor.wrong_code()})
    clock.advance(int((await person.post(VERIFY, {"code": "1"})).headers["retry-after"]))
    assert (await person.post(VERIFY, {"code": factor.code()})).json() == {"valid": True}
    for _ in range(10):
        await person.post(VERIFY, {"code": factor.wrong_code()})
    assert int((await person.post(VERIFY, {"code": "1"})).headers["retry-after"]) <= 301


async def test_recovery_codes_are_not_tried_without_end(api, person, factor) -> None:
    statuses = []
    for _ in range(3):
        token = await mfa_token(api, person.user)
        statuses += [(await complete(api, token, "AAAAABBBBB")).status for _ in range(5)]
    assert statuses == [401] * 10 + [429] * 5


async def test_the_tries_at_enabling_are_counted_too(person, clock) -> None:
    factor = await set_up(person, clock)
    for _ in range(10):
        assert (await person.post("/api/v1/mfa/enable", {"code": factor.wrong_code()})).status == 422
    assert (await person.post("/api/v1/mfa/enable", {"code": factor.code()})).status == 429


async def test_after_five_minutes_one_may_try_again(person, factor, clock) -> None:
    for _ in range(10):
        await person.post(VERIFY, {"code": factor.wrong_code()})
    assert (await person.post(VERIFY, {"code": factor.code()})).status == 429
    clock.advance(301)
    assert (await person.post(VERIFY, {"code": factor.code()})).json() == {"valid": True}


async def test_a_right_code_wipes_the_slate_clean(person, factor) -> None:
    for _ in range(3):
        for _ in range(9):
            assert (await person.post(VERIFY, {"code": factor.wrong_code()})).json() == {"valid": False}
        assert (await person.post(VERIFY, {"code": factor.code()})).json() == {"valid": True}


async def test_the_tries_of_one_person_do_not_hold_up_another(people, person, factor, clock) -> None:
    other = await people.signed_in()
    others = await enable(other, clock)
    for _ in range(11):
        await person.post(VERIFY, {"code": factor.wrong_code()})
    assert (await other.post(VERIFY, {"code": others.code()})).json() == {"valid": True}


async def test_calls_that_try_no_code_are_not_counted(person, clock) -> None:
    for _ in range(12):
        assert (await person.post("/api/v1/mfa/disable", {"code": "123456"})).status == 409
        assert (await person.post("/api/v1/mfa/enable", {"code": "123456"})).status == 409
    await enable(person, clock)
