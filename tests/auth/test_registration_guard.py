"""Tests of the limits on strangers: registrations, password hashes and mails."""

import asyncio
import threading

import pytest

from retinue.auth import passwords
from retinue.auth.account_mails import MAX_REQUESTS_PER_HOUR
from tests.client import Api
from tests.factories.mails import mails_to
from tests.factories.people import ADMIN_EMAIL, ADMIN_PASSWORD, PASSWORD, People


def somebody(number: object) -> dict[str, str]:
    return {
        "email": f"person{number}@example.org",
        "password": PASSWORD,
        "first_name": "P",
        "last_name": "N",
    }


async def register(api: Api, number: object):
    return await api.post("/auth/register", somebody(number))


@pytest.fixture
async def service(make_service):
    return await make_service(registrations_per_minute=3, registrations_per_hour=5)


async def test_an_address_registers_three_times_a_minute(service, api) -> None:
    assert [(await register(api, number)).status for number in range(4)] == [201] * 3 + [429]
    assert await mails_to(service, "person3@example.org") == []
    assert (await register(api.at("198.51.100.9"), 3)).status == 201


async def test_a_refused_registration_says_when_to_come_back(service, api, clock) -> None:
    for number in range(3):
        await register(api, number)
    answer = await register(api, 3)
    assert (answer.status, answer.code) == (429, "rate_limited")
    wait = int(answer.headers["retry-after"])
    assert 0 < wait <= 61
    assert answer.details == {"limit": 3, "window": 60, "retry_after": wait}
    shown = [answer.headers[f"x-ratelimit-{name}"] for name in ("limit", "remaining", "window")]
    assert shown == ["3", "0", "60"]
    assert int(answer.headers["x-ratelimit-reset"]) == pytest.approx(clock.time() + wait, abs=2)
    assert [name for name, _ in answer.raw_headers].count(b"x-ratelimit-limit") == 1
    clock.advance(wait)
    assert (await register(api, 4)).status == 201


async def test_an_address_registers_so_often_an_hour(service, api, clock) -> None:
    statuses = []
    for number in range(7):
        clock.advance(61)
        statuses.append((await register(api, number)).status)
    assert statuses == [201] * 5 + [429] * 2
    answer = await register(api, 7)
    assert (answer.headers["x-ratelimit-limit"], answer.headers["x-ratelimit-window"]) == ("5", "3600")
    clock.advance(int(answer.headers["retry-after"]))
    assert (await register(api, 8)).status == 201


async def test_an_ipv6_host_is_one_address_whichever_it_uses(service, api) -> None:
    hosts = [api.at(f"2001:db8:0:1::{number:x}") for number in range(4)]
    answers = [await register(host, number) for number, host in enumerate(hosts)]
    assert [answer.status for answer in answers] == [201] * 3 + [429]
    assert (await register(api.at("2001:db8:0:2::1"), "a")).status == 201


async def test_guesses_at_accounts_and_invitations_are_counted_too(service, api) -> None:
    assert (await register(api, 0)).status == 201
    assert (await register(api, 0)).code == "email_taken"
    answer = await api.post("/auth/register", {**somebody(1), "invite_token": "nonsense"})
    assert answer.status == 422
    assert (await register(api, 2)).status == 429


async def wait_until_queued(count: int) -> None:
    while passwords._anonymous_queue.waiting < count:
        await asyncio.sleep(0)


@pytest.mark.one_service("the queue of a process is what is looked into")
async def test_a_sign_in_is_served_while_registrations_wait(make_service) -> None:
    service = await make_service()
    api, gate = Api(service), threading.Event()
    # The strangers' one thread is busy until the gate opens.
    busy = asyncio.create_task(passwords._anonymous_queue.run(gate.wait))
    try:
        registering = [asyncio.create_task(register(api, number)) for number in range(50)]
        await wait_until_queued(50)
        answer = await register(api, "too-many")
        assert (answer.status, answer.code) == (429, "rate_limited")
        assert int(answer.headers["retry-after"]) > 0
        for name in ("limit", "remaining", "reset", "window"):
            assert answer.headers[f"x-ratelimit-{name}"].isdigit()
        login = await api.post("/auth/login", {"email": ADMIN_EMAIL, "password": ADMIN_PASSWORD})
        assert login.status == 200
        assert not any(task.done() for task in registering)
    finally:
        gate.set()
        await busy
    answers = await asyncio.gather(*registering)
    assert {answer.status for answer in answers} == {201}
    assert (await register(api, "later")).status == 201


async def test_asking_for_mails_to_many_addresses_ends(make_service) -> None:
    api = Api(await make_service())
    statuses = []
    for number in range(MAX_REQUESTS_PER_HOUR + 2):
        path = "/auth/forgot-password" if number % 2 else "/auth/resend-verification"
        statuses.append((await api.post(path, {"email": f"person{number}@example.org"})).status)
    assert statuses == [200] * MAX_REQUESTS_PER_HOUR + [429] * 2
    elsewhere = api.at("198.51.100.9")
    assert (await elsewhere.post("/auth/forgot-password", {"email": "a@example.org"})).status == 200


async def test_signing_out_is_never_refused_for_a_spent_limit(make_service) -> None:
    service = await make_service(default_plan="free")
    people = People(service)
    member = await people.signed_in()
    while (await member.get("/auth/me")).status != 429:
        pass
    assert (await member.get("/auth/me")).status == 429
    assert (await member.post("/auth/logout")).status == 200
    assert (await member.get("/auth/me")).status == 401


async def test_trying_tokens_at_the_way_out_is_not_free(make_service) -> None:
    api = Api(await make_service(default_plan="free")).signed_in("nonsense")
    statuses = {(await api.post("/auth/logout")).status for _ in range(200)}
    assert statuses == {401, 429}
