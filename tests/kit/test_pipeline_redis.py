"""Limits of several processes through HTTP: one window in Redis, and never none when Redis is gone."""

import asyncio
from collections import Counter

import pytest
from redis.asyncio import Redis
from structlog.testing import capture_logs

from retinue.app import Service
from retinue.domains import DOMAINS
from tests.client import Api
from tests.kit.planted import ANYONE, PATIENCE_S, Planted
from tests.redis_server import RedisServer, own_server

pytestmark = [
    pytest.mark.either_database,
    own_server,
    pytest.mark.one_service("starts the second process itself, and kills Redis"),
]


@pytest.fixture
def redis():
    server = RedisServer()
    server.start()
    yield server
    server.kill()


def patient(service: Service) -> Service:
    """Make the limiter patient with a busy Redis, and quick to look again after an outage."""
    service.instance.limiter._patience = 5
    service.instance.limiter._retry_seconds = 0.05
    return service


@pytest.fixture
async def service(make_service, planted, redis):
    made = await make_service(
        manifests=(*DOMAINS, planted.manifest), burst=False, default_plan="free", redis_url=redis.url
    )
    return patient(made)


@pytest.fixture
async def other_service(service, clock):
    """A second process of the same instance."""
    other = Service(service.settings, clock, (*DOMAINS, Planted().manifest))
    await other.start()
    yield patient(other)
    await other.stop()


def elsewhere(caller: Api, service: Service) -> Api:
    return Api(service, token=caller.token, ip=caller.ip)


async def wait_for_recovery(service: Service) -> None:
    recovery = service.instance.limiter._recovery
    if recovery is not None:
        await asyncio.wait_for(recovery, PATIENCE_S)


def outages(logs) -> list[tuple[str, str]]:
    return [(log["log_level"], log["event"]) for log in logs if log["event"].startswith("redis")]


async def test_two_processes_share_one_window(me, other_service):
    there = elsewhere(me, other_service)
    shown = []
    for caller in (me, there, me, there):
        answer = await caller.post("/planted/chat")
        shown.append((answer.status, answer.headers["x-ratelimit-remaining"]))
    assert shown == [(200, "50"), (200, "40"), (200, "30"), (200, "20")]
    answers = await asyncio.gather(*(caller.get("/planted/read") for caller in (me, there) * 20))
    assert Counter(answer.status for answer in answers) == {200: 20, 429: 20}


async def test_a_refusal_through_redis_is_the_same_refusal(me, other_service):
    for _ in range(6):
        assert (await elsewhere(me, other_service).post("/planted/chat")).status == 200
    refused = await me.post("/planted/chat")
    wait = refused.details["retry_after"]
    assert (refused.status, refused.code) == (429, "rate_limited")
    assert refused.details == {"limit": 60, "window": 60, "retry_after": wait}
    assert 50 <= wait <= 61
    assert refused.headers["retry-after"] == str(wait)
    shown = tuple(refused.headers[f"x-ratelimit-{name}"] for name in ("limit", "remaining", "window"))
    assert shown == ("60", "0", "60")


async def test_addresses_bad_tokens_and_free_requests_count_alike_in_both_processes(service, other_service):
    one, two = Api(service), Api(other_service)
    for _ in range(10):
        assert (await one.get(ANYONE)).status == 200
        assert (await two.signed_in("garbage").get("/planted/read")).status == 401
        assert (await two.get("/nowhere")).status == 404
        assert (await one.request("OPTIONS", ANYONE)).status == 204
    assert (await two.get(ANYONE)).headers["x-ratelimit-remaining"] == "29"
    assert (await one.get("/health")).headers["x-ratelimit-remaining"] == "29"


async def test_a_burst_through_redis_is_the_same_burst(make_service, planted, redis):
    made = await make_service(
        manifests=(*DOMAINS, planted.manifest), default_plan="free", redis_url=redis.url
    )
    answers = await asyncio.gather(*(Api(patient(made)).get(ANYONE) for _ in range(130)))
    assert Counter(answer.status for answer in answers) == {200: 120, 429: 10}


async def test_without_redis_each_process_limits_for_itself_and_says_so_once(
    service, other_service, redis, me
):
    there = elsewhere(me, other_service)
    for _ in range(50):
        assert (await me.get("/planted/read")).status == 200
    with capture_logs() as logs:
        redis.process.kill()
        redis.process.wait()
        here = await asyncio.gather(*(me.get("/planted/read") for _ in range(80)))
        away = await asyncio.gather(*(there.get("/planted/read") for _ in range(80)))
    assert Counter(answer.status for answer in here) == {200: 60, 429: 20}
    assert Counter(answer.status for answer in away) == {200: 60, 429: 20}
    assert outages(logs) == [("warning", "redis_lost")] * 2, "one for each process"
    assert all("x-ratelimit-limit" in answer.headers for answer in here)


async def test_what_returns_is_shared_again(service, other_service, redis, me):
    with capture_logs() as logs:
        redis.kill()
        assert (await me.get("/planted/read")).status == 200
        assert (await elsewhere(me, other_service).get("/planted/read")).status == 200
        redis.start()
        await wait_for_recovery(service)
        await wait_for_recovery(other_service)
        assert (await me.post("/planted/chat")).headers["x-ratelimit-remaining"] == "50"
        answer = await elsewhere(me, other_service).post("/planted/chat")
        assert answer.headers["x-ratelimit-remaining"] == "40"
    assert Counter(outages(logs)) == {("warning", "redis_lost"): 2, ("info", "redis_found"): 2}


async def test_a_service_starts_without_its_redis_and_limits_all_the_same(make_service, planted, redis):
    redis.process.kill()
    redis.process.wait()
    made = patient(
        await make_service(
            manifests=(*DOMAINS, planted.manifest), burst=False, default_plan="free", redis_url=redis.url
        )
    )
    statuses = [(await Api(made).get(ANYONE)).status for _ in range(61)]
    assert statuses == [200] * 60 + [429]


async def test_an_emptied_redis_starts_the_windows_anew_and_loses_nothing_else(me, redis):
    for _ in range(60):
        await me.get("/planted/read")
    assert (await me.get("/planted/read")).status == 429
    async with Redis.from_url(redis.url) as client:
        await client.flushall()
        await client.script_flush()
    assert (await me.get("/planted/read")).headers["x-ratelimit-remaining"] == "59"
