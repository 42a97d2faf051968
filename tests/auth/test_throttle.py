"""Guessing passwords is slow: counted before the guess is checked, on every path that takes a password."""

import asyncio

import pytest

from retinue.users.models import User
from tests.client import Api
from tests.factories.happenings import events
from tests.factories.mails import last_mail, link_token
from tests.factories.people import PASSWORD, People

WRONG = "Wrong-1-password"


async def guess(api: Api, email: str, password: str = WRONG):
    return await api.post("/auth/login", {"email": email, "password": password})


async def count_checked_guesses(service, people: People) -> int:
    """Return the number of guesses that were compared with the hash."""
    await service.runner.drain()
    return len(await events(people, "system.auth.login_failed"))


async def test_the_sixth_guess_is_refused_unseen_even_with_the_right_password(service, api, people):
    user = await people.user()
    assert [(await guess(api, user.email)).status for _ in range(5)] == [401] * 5
    refused = await guess(api, user.email, PASSWORD)
    assert (refused.status, refused.code) == (429, "rate_limited")
    assert await count_checked_guesses(service, people) == 5


async def test_a_refusal_describes_the_limit_that_refused(api, people, clock):
    user = await people.user()
    for _ in range(5):
        await guess(api, user.email)
    clock.advance(300)
    refused = await guess(api, user.email)
    wait = int(refused.headers["retry-after"])
    assert 595 <= wait <= 601
    assert refused.details == {"limit": 5, "window": 900, "retry_after": wait}
    assert f"{wait} seconds" in refused.json()["error"]["message"]
    shown = {name: refused.headers[f"x-ratelimit-{name}"] for name in ("limit", "remaining", "window")}
    assert shown == {"limit": "5", "remaining": "0", "window": "900"}
    assert int(refused.headers["x-ratelimit-reset"]) == pytest.approx(clock.time() + wait, abs=2)
    assert [name for name, _ in refused.raw_headers].count(b"x-ratelimit-limit") == 1


async def test_the_throttle_ends_with_its_window(api, people, clock):
    user = await people.user()
    for _ in range(7):
        refused = await guess(api, user.email)
    clock.advance(int(refused.headers["retry-after"]))
    assert (await guess(api, user.email, PASSWORD)).status == 200


async def test_the_right_password_forgets_the_wrong_ones(api, people):
    user = await people.user()
    for _ in range(3):
        assert [(await guess(api, user.email)).status for _ in range(4)] == [401] * 4
        assert (await guess(api, user.email, PASSWORD)).status == 200


async def test_two_hundred_guesses_at_once_are_five_guesses(service, api, people):
    user = await people.user()
    answers = await asyncio.gather(*(guess(api, user.email, f"Guess-{number}") for number in range(200)))
    statuses = [answer.status for answer in answers]
    assert (statuses.count(401), statuses.count(429)) == (5, 195)
    assert await count_checked_guesses(service, people) == 5


async def test_an_unknown_address_is_throttled_like_a_known_one(api):
    assert [(await guess(api, "nobody@example.com")).status for _ in range(6)] == [401] * 5 + [429]


@pytest.mark.parametrize("spelling", ["PERSON1@EXAMPLE.COM", " person1@example.com", "Person1@Example.com\t"])
async def test_another_spelling_of_the_address_is_the_same_account(api, people, spelling):
    user = await people.user()
    for _ in range(5):
        await guess(api, user.email)
    assert (await guess(api, spelling)).status == 429


async def test_no_account_is_locked_for_its_owner_elsewhere(api, people):
    user = await people.user()
    for _ in range(20):
        await guess(api, user.email)
    assert (await guess(api, user.email, PASSWORD)).status == 429
    assert (await guess(api.at("198.51.100.9"), user.email, PASSWORD)).status == 200


async def test_one_ipv6_host_is_one_address_however_many_it_uses(api, people):
    user = await people.user()
    for number in range(5):
        assert (await guess(api.at(f"2001:db8:0:1::{number:x}"), user.email)).status == 401
    assert (await guess(api.at("2001:db8:0:1:ffff::1"), user.email)).status == 429
    assert (await guess(api.at("2001:db8:0:2::1"), user.email)).status == 401


async def test_a_forwarding_header_of_a_stranger_is_no_other_address(api, people):
    user = await people.user()
    names = ("X-Forwarded-For", "X-Real-IP", "Forwarded", "CF-Connecting-IP", "True-Client-IP")
    statuses = []
    for number in range(6):
        headers = dict.fromkeys(names, f"198.51.100.{number}")
        body = {"email": user.email, "password": WRONG}
        statuses.append((await api.post("/auth/login", body, headers=headers)).status)
    assert statuses == [401] * 5 + [429]


async def test_signing_in_and_changing_the_password_share_one_count(service, people):
    me = await people.signed_in()
    change = {"current_password": WRONG, "new_password": "Another-Staple-3"}
    for _ in range(3):
        answer = await me.post("/auth/change-password", change)
        assert (answer.status, list(answer.details)) == (422, ["current_password"])
    for _ in range(2):
        assert (await guess(people.api, me.user.email)).status == 401
    assert (await guess(people.api, me.user.email, PASSWORD)).status == 429
    right = {**change, "current_password": PASSWORD}
    assert (await me.post("/auth/change-password", right)).status == 429
    assert await count_checked_guesses(service, people) == 5


async def test_a_reset_forgives_the_failed_guesses(service, api, people):
    user = await people.user()
    for _ in range(6):
        await guess(api, user.email)
    await api.post("/auth/forgot-password", {"email": user.email})
    token = link_token(await last_mail(service, user.email))
    reset = {"token": token, "new_password": "Another-Staple-3"}
    assert (await api.post("/auth/reset-password", reset)).status == 200
    assert (await guess(api, user.email, "Another-Staple-3")).status == 200


async def spray(api: Api, accounts: int) -> list[int]:
    return [(await guess(api, f"person{number}@example.net")).status for number in range(accounts)]


async def test_one_password_on_many_accounts_is_throttled_by_address(api):
    statuses = await spray(api, 120)
    assert statuses == [401] * 100 + [429] * 20
    refused = await guess(api, "another@example.net")
    assert refused.details["limit"] == 100
    assert (await guess(api.at("198.51.100.9"), "another@example.net")).status == 401


@pytest.mark.slow
async def test_one_password_on_ten_thousand_accounts_reaches_a_hundred(make_service, clock):
    """The long form of A6; the plan's own limit would refuse first, so time passes for it alone."""
    service = await make_service()
    people = People(service)
    hashes = (await people.user()).password_hash
    async with people.context((await people.default_tenant()).id) as ctx:
        await ctx.db.insert_many(
            [User(email=f"person{number}@example.net", password_hash=hashes) for number in range(10_000)]
        )
    statuses = await spray(Api(service), 10_000)
    assert (statuses.count(401), statuses.count(429)) == (100, 9_900)
    assert await count_checked_guesses(service, people) == 100


async def test_many_people_behind_one_address_may_sign_in(api, people):
    """Only failures count for an address: a hundred right passwords leave room for the next one."""
    user = await people.user()
    for _ in range(105):
        assert (await guess(api, user.email, PASSWORD)).status == 200


async def test_hammering_one_account_does_not_close_the_address_for_others(api, people):
    victim, neighbour = await people.user(), await people.user()
    for _ in range(120):
        await guess(api, victim.email)
    assert (await guess(api, neighbour.email, PASSWORD)).status == 200


async def test_the_right_password_many_times_at_once_is_no_attack(api, people):
    user = await people.user()
    answers = await asyncio.gather(*(guess(api, user.email, PASSWORD) for _ in range(20)))
    assert {answer.status for answer in answers} == {200}
