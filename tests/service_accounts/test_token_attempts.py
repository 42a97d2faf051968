"""Guessing at POST /auth/token: limited as signing in is, and counted in the audit log."""

import asyncio

import pytest

from retinue.service_accounts.refused_tokens import record_rest
from tests.factories.happenings import audits
from tests.factories.machines import PATH, ask_token, basic_header, make_account, make_secret, token_of
from tests.factories.people import People

GRANT = {"grant_type": "client_credentials"}
WINDOW_SECONDS = 15 * 60


@pytest.fixture
async def account(admin):
    return await make_account(admin, "agents:read")


@pytest.fixture
async def secret(admin, account):
    return await make_secret(admin, account)


@pytest.fixture
def wrong(secret):
    return {**secret, "client_secret": "rcs_" + "x" * 43}


async def rows(people: People) -> list[tuple[str, int]]:
    return [
        (row.metadata["reason"], row.metadata["count"]) for row in await audits(people, "auth.token_refused")
    ]


async def test_after_five_wrong_secrets_the_right_one_waits_too(api, secret, wrong, clock):
    for _ in range(5):
        assert (await ask_token(api, wrong)).status == 400
    for tried in (wrong, secret):
        answer = await ask_token(api, tried)
        assert (answer.status, answer.json()["error"]) == (429, "rate_limited")
        assert set(answer.json()) == {"error", "error_description", "request_id"}
        assert answer.json()["request_id"] == answer.headers["x-request-id"]
        assert 0 < int(answer.headers["retry-after"]) <= WINDOW_SECONDS + 1
        assert (answer.headers["x-ratelimit-limit"], answer.headers["x-ratelimit-remaining"]) == ("5", "0")
    assert (await api.post("/auth/token", GRANT, headers=basic_header(wrong))).status == 429
    clock.advance(WINDOW_SECONDS + 1)
    assert (await ask_token(api, secret)).status == 200


async def test_wrong_secrets_lock_neither_other_addresses_nor_other_accounts(api, admin, secret, wrong):
    for _ in range(5):
        await ask_token(api, wrong)
    assert (await ask_token(api, secret)).status == 429
    assert (await ask_token(api.at("198.51.100.9"), secret)).status == 200, "nobody locks an account"
    other = await make_secret(admin, await make_account(admin, name="Other"))
    assert (await ask_token(api, other)).status == 200


async def test_a_token_resets_the_count_and_many_at_once_are_no_guesses(api, secret, wrong):
    for _ in range(3):
        for _ in range(4):
            assert (await ask_token(api, wrong)).status == 400
        answers = await asyncio.gather(*(ask_token(api, secret) for _ in range(12)))
        assert [answer.status for answer in answers] == [200] * 12


async def test_of_wrong_secrets_at_once_five_are_refused_and_the_others_throttled(api, wrong):
    answers = await asyncio.gather(*(ask_token(api, wrong) for _ in range(12)))
    assert sorted(answer.status for answer in answers) == [400] * 5 + [429] * 7


async def test_an_address_that_tries_many_clients_is_throttled(make_service):
    service = await make_service(default_plan="enterprise")
    people = People(service)
    secret = await make_secret(await people.super_admin(), await make_account(await people.super_admin()))
    guesser = people.api.at("2001:db8::7")
    letters = "abcdefghijklmnopqrstuvwxyz"
    for number in range(100):
        tried = {**secret, "client_id": "sac_" + (letters[number // 26] + letters[number % 26]) * 13}
        assert (await ask_token(guesser, tried)).status == 400, number
    assert (await ask_token(guesser, {**secret, "client_id": "sac_" + "z" * 26})).status == 429
    assert (await ask_token(people.api.at("2001:db8::8"), secret)).status == 429, "the same /64"
    assert (await ask_token(people.api.at("2001:db8:1::7"), secret)).status == 200


async def test_what_proved_its_secret_is_not_counted_as_a_guess(api, secret):
    for _ in range(8):
        assert (await ask_token(api, secret, scope="tools:write")).json()["error"] == "invalid_scope"
    assert (await ask_token(api, secret)).status == 200


def begin_hour(clock) -> None:
    """Go to shortly after a full hour, so that what follows is in one."""
    clock.advance(-clock.time() % 3600 + 60)


async def test_a_reason_has_one_audit_row_an_hour_and_later_one_that_counts_the_rest(
    api, people, service, secret, wrong, clock
):
    begin_hour(clock)
    for number in range(12):
        assert (await ask_token(api.at(f"198.51.100.{number}"), wrong)).status == 400
    assert (await ask_token(api, secret, scope="tools:write")).status == 400
    await service.runner.drain()
    assert await rows(people) == [("wrong_secret", 1), ("scope_not_held", 1)]
    clock.advance(3600)
    async with people.context() as ctx:
        await record_rest(ctx)
        await record_rest(ctx)
    assert await rows(people) == [("wrong_secret", 1), ("scope_not_held", 1), ("wrong_secret", 11)]
    last = (await audits(people, "auth.token_refused"))[-1]
    assert (last.success, last.ip_address) == (False, "198.51.100.11")
    assert last.metadata["since"] < last.created_at
    verdict = await (await people.super_admin()).get("/api/v1/audit/verify")
    assert verdict.json()["intact"] is True


async def test_refusals_after_the_audit_row_of_an_hour_are_counted_in_the_next_row(
    api, people, service, secret, wrong, clock
):
    begin_hour(clock)
    for _ in range(2):
        assert (await ask_token(api, wrong)).status == 400
    await service.runner.drain()
    clock.advance(3600)
    async with people.context() as ctx:
        await record_rest(ctx)
    assert await rows(people) == [("wrong_secret", 1), ("wrong_secret", 1)]
    assert (await ask_token(api, wrong)).status == 400
    await service.runner.drain()
    assert len(await rows(people)) == 2, "this hour has its row"
    clock.advance(3600)
    assert (await ask_token(api, wrong)).status == 400
    await service.runner.drain()
    assert (await rows(people))[2:] == [("wrong_secret", 2)]
    verdict = await (await people.super_admin()).get("/api/v1/audit/verify")
    assert verdict.json()["intact"] is True


async def test_refusals_recorded_at_once_are_all_counted(api, people, service, wrong, clock):
    clock.advance(-clock.time() % 3600 + 60)
    answers = await asyncio.gather(*(ask_token(api.at(f"198.51.100.{n}"), wrong) for n in range(20)))
    assert {answer.status for answer in answers} == {400}
    await service.runner.drain()
    clock.advance(3600)
    async with people.context() as ctx:
        await asyncio.gather(record_rest(ctx), record_rest(ctx), record_rest(ctx))
    assert await rows(people) == [("wrong_secret", 1), ("wrong_secret", 19)]


async def test_what_is_counted_of_a_deleted_account_is_recorded_as_the_strangers_doing(
    api, admin, people, service, account, wrong
):
    for _ in range(3):
        await ask_token(api.at("198.51.100.7"), wrong)
    await service.runner.drain()
    assert (await admin.delete(f"{PATH}/{account['id']}")).status == 204
    await service.runner.drain()
    assert await rows(people) == [("wrong_secret", 1), ("wrong_secret", 2)]
    last = (await audits(people, "auth.token_refused"))[-1]
    assert (last.actor["type"], last.ip_address) == ("system", "198.51.100.7"), "not the administrator"
    await ask_token(api, wrong)
    await service.runner.drain()
    assert len(await rows(people)) == 2


async def test_a_token_that_was_issued_before_goes_on_working(api, secret, wrong):
    token = await token_of(api, secret)
    for _ in range(6):
        await ask_token(api, wrong)
    assert (await api.signed_in(token).get("/api/v1/agents")).status == 200
