import asyncio
import multiprocessing
import random
import signal
import socket
import time

import pytest
import structlog
from redis.asyncio import Redis

from retinue.kit.clock import ManualClock, SystemClock
from retinue.kit.ids import new_id
from retinue.kit.limits import PLANS, Limiter, LimitsUnreachable, MemoryStore, WindowUsage, limits_for
from retinue.kit.limits.redis import RedisStore
from tests.redis_server import BINARY, RedisServer, own_server

FREE = PLANS["free"]
STANDING = "redis://127.0.0.1:6379/0"


@pytest.fixture
def server():
    server = RedisServer()
    server.start()
    yield server
    server.kill()


def standing_server_answers():
    try:
        socket.create_connection(("127.0.0.1", 6379), timeout=1).close()
    except OSError:
        return False
    return True


@pytest.fixture(scope="module")
def url():
    if BINARY is None:
        if not standing_server_answers():
            pytest.skip("no redis-server and nothing at 127.0.0.1:6379")
        yield STANDING
        return
    server = RedisServer()
    server.start()
    yield server.url
    server.kill()


@pytest.fixture
async def store(url):
    store = RedisStore.connect(url)
    yield store
    await store.close()


@pytest.fixture
def tenant():
    return new_id("test")


def early_in_a_millisecond():
    return ManualClock(1_800_000_000.0001)


PLANS_TRIED = [
    limits_for("free"),
    limits_for("free", {"requests_per_minute": 10, "burst_factor": 1.5, "burst_seconds": 3}),
    limits_for("free", {"requests_per_minute": 8, "requests_per_hour": 12, "requests_per_day": 20}),
    limits_for("free", {"requests_per_minute": None, "requests_per_hour": 15, "requests_per_day": None}),
    limits_for("free", {"requests_per_minute": 5, "burst_seconds": 0}),
]


@pytest.mark.parametrize("seed", range(10))
async def test_the_same_hits_get_the_same_decisions_in_memory_and_in_redis(url, tenant, seed):
    chance, limits = random.Random(seed), PLANS_TRIED[seed % len(PLANS_TRIED)]
    clocks = early_in_a_millisecond(), early_in_a_millisecond()
    memory, shared = MemoryStore(clocks[0]), RedisStore.connect(url, clock=clocks[1])
    for _ in range(80):
        pause = chance.choice([0, 0.1, 0.4, 0.5, 3, 7, 9.9, 10, 50, 59.5, 60, 900 * chance.random(), 4000])
        for clock in clocks:
            clock.advance(pause)
        cost, burst = chance.choice([0, 1, 1, 1, 2, 5, 10]), bool(seed % 3)
        for _ in range(chance.randint(1, 6)):
            remembered = memory.hit(tenant, limits, cost, burst=burst)
            assert remembered == await shared.hit(tenant, limits, cost, burst=burst)
            remembered = memory.hit_window(tenant, 7, 60, cost)
            assert remembered == await shared.hit_window(tenant, 7, 60, cost)
    assert memory.used(tenant) == await shared.used(tenant)
    await shared.close()


async def test_a_burst_lasts_its_seconds_to_the_millisecond(url, tenant):
    clock = early_in_a_millisecond()
    store = RedisStore.connect(url, clock=clock)
    assert all([(await store.hit(tenant, FREE, 1)).allowed for _ in range(61)])
    clock.advance(9.999)
    assert (await store.hit(tenant, FREE, 1)).allowed
    clock.advance(0.001)
    assert not (await store.hit(tenant, FREE, 1)).allowed
    clock.advance(50)
    assert [(await store.hit(tenant, FREE, 10)).allowed for _ in range(12)] == [True] * 11 + [False]
    await store.close()


@pytest.mark.parametrize("step", [-0.9, -7200])
async def test_a_clock_set_back_is_met_as_in_memory(url, tenant, step):
    clocks = early_in_a_millisecond(), early_in_a_millisecond()
    memory, shared = MemoryStore(clocks[0]), RedisStore.connect(url, clock=clocks[1])
    for pause in (0, step, 0.5, 0.5, 60):
        for clock in clocks:
            clock.advance(pause)
        for _ in range(50):
            assert memory.hit(tenant, FREE, 1) == await shared.hit(tenant, FREE, 1)
    await shared.close()


async def test_redis_itself_is_the_clock(store, tenant):
    decision = await store.hit(tenant, FREE, 10)
    assert (decision.allowed, decision.limit, decision.remaining, decision.window) == (True, 60, 50, 60)
    assert 58 <= decision.reset - time.time() <= 62
    assert await store.used(tenant) == WindowUsage(10, 1, 1)


async def test_fifty_at_once_are_admitted_exactly(store, tenant):
    decisions = await asyncio.gather(*(store.hit(tenant, FREE, 2, burst=False) for _ in range(50)))
    assert sum(decision.allowed for decision in decisions) == 30


async def test_keys_expire_and_old_buckets_are_cleaned(url, tenant):
    clock = early_in_a_millisecond()
    store = RedisStore.connect(url, clock=clock)
    limits = limits_for("enterprise", {"requests_per_minute": None, "requests_per_hour": None})
    for _ in range(300):
        clock.advance(0.6)
        await store.hit(tenant, limits, 1)
        await store.hit_window(tenant, 1000, 900)
    clock.advance(3700)
    await store.hit(tenant, limits, 1)
    async with Redis.from_url(url) as client:
        assert await client.strlen(f"retinue:limits:plan:{tenant}") < 60
        assert 86_390_000 < await client.pttl(f"retinue:limits:plan:{tenant}") <= 86_401_000
        assert 890_000 < await client.pttl(f"retinue:limits:900:{tenant}") <= 901_000
    await store.close()


async def test_a_script_redis_has_forgotten_is_sent_again(url, store, tenant):
    await store.hit(tenant, FREE, 1)
    async with Redis.from_url(url) as client:
        await client.script_flush()
    assert (await store.hit(tenant, FREE, 1)).remaining == 58
    assert (await store.hit(tenant, FREE, 1)).remaining == 57


async def hit_forty_times(url, key):
    store = RedisStore.connect(url)
    allowed = 0
    for _ in range(5):
        decisions = await asyncio.gather(*(store.hit(key, FREE, 1, burst=False) for _ in range(8)))
        allowed += sum(decision.allowed for decision in decisions)
    await store.close()
    return allowed


def one_of_eight(start, counts, url, key):
    start.wait()
    counts.put(asyncio.run(hit_forty_times(url, key)))


def test_eight_processes_together_admit_no_more_than_the_limit(url, tenant):
    fork = multiprocessing.get_context("fork")
    start, counts = fork.Barrier(8), fork.SimpleQueue()
    processes = [fork.Process(target=one_of_eight, args=(start, counts, url, tenant)) for _ in range(8)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0] * 8
    assert sum(counts.get() for _ in processes) == 60
    counts.close()


async def test_one_place_is_given_to_exactly_one_of_fifty(store, tenant):
    given = await asyncio.gather(*(store.acquire(tenant, 1, f"lease_{n}", 30) for n in range(50)))
    assert sum(given) == 1
    await store.release(tenant, f"lease_{given.index(True)}")
    assert await store.acquire(tenant, 1, "next", 30)


async def test_leases_expire_and_renew_as_in_memory(url, tenant):
    clocks = early_in_a_millisecond(), early_in_a_millisecond()
    memory, shared = MemoryStore(clocks[0]), RedisStore.connect(url, clock=clocks[1])
    chance = random.Random(5)
    for _ in range(200):
        pause = chance.choice([0, 5, 12, 30])
        for clock in clocks:
            clock.advance(pause)
        lease, limit = chance.choice("abcde"), chance.choice([1, 2, 3, 3, None])
        if chance.random() < 0.2:
            memory.release(tenant, lease)
            await shared.release(tenant, lease)
        assert memory.acquire(tenant, limit, lease, 30) == await shared.acquire(tenant, limit, lease, 30)
    async with Redis.from_url(url) as client:
        assert 0 < await client.pttl(f"retinue:limits:leases:{tenant}") <= 30_000
    await shared.close()


def limiter_with(url, **options):
    return Limiter(MemoryStore(SystemClock()), RedisStore.connect(url), burst=False, **options)


async def test_a_limiter_without_redis_is_plain_and_obeys_the_burst_setting():
    steady = Limiter(MemoryStore(ManualClock()), burst=False)
    assert sum([(await steady.hit("tenant", FREE, 1)).allowed for _ in range(130)]) == 60
    assert (await steady.hit("tenant", FREE, 0)).remaining == 0
    bursting = Limiter(MemoryStore(ManualClock()), burst=True)
    assert sum([(await bursting.hit("tenant", FREE, 1)).allowed for _ in range(130)]) == 120
    assert not (await bursting.hit("tenant", FREE, 1)).allowed
    assert (await bursting.hit_window("form", 1, 60)).allowed
    assert not (await bursting.hit_window("form", 1, 60)).allowed
    assert await bursting.acquire("tenant", 1, "a", 30)
    await bursting.release("tenant", "a")
    assert await bursting.acquire("tenant", 1, "b", 30)
    assert await bursting.used("tenant") == WindowUsage(120, 120, 120)
    await bursting.close()


async def test_limiters_with_redis_share_their_limits(url, tenant):
    one, other = limiter_with(url, patience=5), limiter_with(url, patience=5)
    decisions = [await limiter.hit(tenant, FREE, 10) for limiter in (one, other) * 4]
    assert [decision.allowed for decision in decisions] == [True] * 6 + [False] * 2
    throttled = [await limiter.hit_window(tenant, 3, 60) for limiter in (one, other) * 2]
    assert [decision.allowed for decision in throttled] == [True] * 3 + [False]
    assert await one.used(tenant) == await other.used(tenant) == WindowUsage(60, 6, 6)
    assert await one.acquire(tenant, 1, "a", 30)
    assert not await other.acquire(tenant, 1, "b", 30)
    await one.release(tenant, "a")
    assert await other.acquire(tenant, 1, "b", 30)
    await one.close()
    await other.close()


@own_server
async def test_a_killed_redis_means_local_limits_one_warning_and_recovery(server):
    limiter = limiter_with(server.url, patience=5, retry_seconds=0.05)
    with structlog.testing.capture_logs() as logs:
        assert all([(await limiter.hit("tenant", FREE, 1)).allowed for _ in range(10)])
        assert await limiter.acquire("tenant", 1, "held", 30)
        server.process.send_signal(signal.SIGKILL)
        server.process.wait()
        decisions = await asyncio.gather(*(limiter.hit("tenant", FREE, 1) for _ in range(80)))
        assert sum(decision.allowed for decision in decisions) == 60
        windows = [(await limiter.hit_window("form", 1, 60)).allowed for _ in range(2)]
        assert (windows, await limiter.acquire("tenant", 1, "another", 30)) == ([True, False], False)
        assert await limiter.used("tenant") == WindowUsage(60, 60, 60)
        assert [(entry["log_level"], entry["event"]) for entry in logs] == [("warning", "redis_lost")]

        recovery = limiter._recovery
        server.kill()
        server.start()
        await asyncio.wait_for(recovery, 10)
        assert (await limiter.hit("tenant", FREE, 1)).remaining == 59
        assert await limiter._shared.used("tenant") == WindowUsage(1, 1, 1)
    assert [entry["event"] for entry in logs] == ["redis_lost", "redis_found"]
    await limiter.close()


@own_server
async def test_a_redis_that_hangs_is_not_waited_for(server):
    limiter = limiter_with(server.url, retry_seconds=0.05)
    limiter._patience = 5
    await limiter.hit("tenant", FREE, 1)
    limiter._patience = 0.1
    with structlog.testing.capture_logs() as logs:
        server.process.send_signal(signal.SIGSTOP)
        began = time.monotonic()
        decisions = await asyncio.gather(*(limiter.hit("tenant", FREE, 1) for _ in range(70)))
        assert time.monotonic() - began < 2
        assert sum(decision.allowed for decision in decisions) == 60
        assert [entry["event"] for entry in logs] == ["redis_lost"]
        server.process.send_signal(signal.SIGCONT)
        await asyncio.wait_for(limiter._recovery, 10)
        assert [entry["event"] for entry in logs] == ["redis_lost", "redis_found"]
    await limiter.close()


async def test_a_late_event_loop_is_not_taken_for_an_outage(url, tenant):
    async def stall():
        time.sleep(0.3)

    limiter = limiter_with(url, patience=5)
    await limiter.hit(tenant, FREE, 1)
    limiter._patience = 0.1
    with structlog.testing.capture_logs() as logs:
        for _ in range(2):
            await asyncio.gather(limiter.hit(tenant, FREE, 1), stall(), limiter.hit(tenant, FREE, 1))
    assert logs == []
    assert await limiter._shared.used(tenant) == WindowUsage(5, 5, 5)
    await limiter.close()


@own_server
async def test_a_redis_that_cannot_write_counts_as_lost_although_it_answers_pings(server):
    limiter = limiter_with(server.url, patience=5, retry_seconds=0.01)
    async with Redis.from_url(server.url) as client:
        await client.config_set("maxmemory", "1")
        with structlog.testing.capture_logs() as logs:
            assert sum([(await limiter.hit("tenant", FREE, 1)).allowed for _ in range(70)]) == 60
            recovery = limiter._recovery
            assert await client.ping()
            assert not await limiter._answers()
            await client.config_set("maxmemory", "0")
            await asyncio.wait_for(recovery, 10)
        assert [entry["event"] for entry in logs] == ["redis_lost", "redis_found"]
    await limiter.close()


@own_server
async def test_closing_during_an_outage_ends_the_recovery(server):
    limiter = limiter_with(server.url, retry_seconds=60)
    server.process.send_signal(signal.SIGKILL)
    server.process.wait()
    assert (await limiter.hit("tenant", FREE, 1)).allowed
    recovery = limiter._recovery
    await limiter.close()
    assert recovery.cancelled()


async def test_closing_ends_a_charge_whose_caller_has_gone(url, store, tenant):
    limiter = limiter_with(url, patience=5)
    charge = asyncio.create_task(limiter.hit(tenant, FREE, 1))
    while not limiter._calls:
        await asyncio.sleep(0)
    charge.cancel()
    await limiter.close()
    assert not limiter._calls
    assert not any(
        kept.is_connected for kept in limiter._shared._client.connection_pool._available_connections
    )
    assert await store.used(tenant) == WindowUsage(1, 1, 1)


async def test_a_closed_limiter_charges_this_process_and_connects_no_more(url, tenant):
    limiter = limiter_with(url)
    await limiter.hit(tenant, FREE, 1)
    await limiter.close()
    assert (await limiter.hit(tenant, FREE, 1)).allowed
    lease = await limiter.hold(tenant, 1, 60)
    await lease.release()
    pool = limiter._shared._client.connection_pool
    assert not any(kept.is_connected for kept in pool._available_connections)


@own_server
async def test_an_outage_found_while_closing_starts_no_recovery(server):
    limiter = limiter_with(server.url, patience=0.5)
    server.process.send_signal(signal.SIGSTOP)
    hit = asyncio.create_task(limiter.hit("tenant", FREE, 1))
    while not limiter._calls:
        await asyncio.sleep(0)
    await limiter.close()
    assert (await hit).allowed
    assert limiter._recovery is None


async def test_a_store_says_when_it_cannot_be_reached():
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    store = RedisStore.connect(f"redis://127.0.0.1:{port}/0")
    with pytest.raises(LimitsUnreachable):
        await store.hit("tenant", FREE, 1)
    with pytest.raises(LimitsUnreachable):
        await store.release("tenant", "lease")
    await store.close()
