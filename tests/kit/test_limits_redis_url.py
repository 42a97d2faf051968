"""Redis with TLS and behind Sentinel: a promoted server is used without a restart."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from retinue.kit.clock import SystemClock
from retinue.kit.ids import new_id
from retinue.kit.limits import Limiter, LimitsUnreachable, MemoryStore
from retinue.kit.limits.redis import RedisStore
from retinue.kit.limits.redis_url import parse_redis_url
from retinue.kit.setting_loader import load_settings
from retinue.kit.settings import BadSetting
from tests.kit.certificates import certificate_for
from tests.redis_sentinel import HOST, PASSWORD, RedisProcess, WatchedRedis
from tests.redis_server import own_server

LOGIN = ":of%20the%20servers%2F%40"
PATIENCE_S = 60


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    _, path = certificate_for("redis.example.com", tmp_path)
    return path


@pytest.fixture
def encrypted_redis(tmp_path: Path, certificate: Path) -> Iterator[RedisProcess]:
    server = RedisProcess(tmp_path, certificate, PASSWORD, is_sentinel=False)
    server.start('save ""')
    yield server
    server.kill()


@pytest.mark.either_database
@own_server
async def test_a_certificate_is_trusted_by_its_authority_only(
    encrypted_redis: RedisProcess, certificate: Path
) -> None:
    url = f"rediss://{LOGIN}@{HOST}:{encrypted_redis.port}/1"
    trusting, other = RedisStore.connect(url, ca_bundle=certificate), RedisStore.connect(url)
    named = RedisStore.connect(url.replace(HOST, "127.0.0.1"), ca_bundle=certificate)
    plain = RedisStore.connect(url.replace("rediss", "redis"), ca_bundle=certificate)
    try:
        decision = await trusting.hit_window(new_id("test"), 5, 60)
        assert (decision.allowed, decision.remaining) == (True, 4)
        for store in (other, named, plain):
            with pytest.raises(LimitsUnreachable):
                await store.ping()
    finally:
        for store in (trusting, other, named, plain):
            await store.close()


@pytest.fixture(params=[False, pytest.param(True, marks=pytest.mark.slow)], ids=["plain", "tls"])
async def watched_redis(
    request: pytest.FixtureRequest, tmp_path: Path, certificate: Path
) -> AsyncIterator[tuple[WatchedRedis, Limiter]]:
    is_tls: bool = request.param
    servers = WatchedRedis(tmp_path, certificate if is_tls else None)
    limiter = None
    try:
        await asyncio.to_thread(servers.start)
        store = RedisStore.connect(servers.url, ca_bundle=certificate)
        limiter = Limiter(MemoryStore(SystemClock()), store, patience=5, retry_seconds=0.1)
        yield servers, limiter
    finally:
        if limiter is not None:
            await limiter.close()
        servers.stop()


@pytest.mark.either_database
@own_server
async def test_a_failover_needs_no_restart(watched_redis: tuple[WatchedRedis, Limiter]) -> None:
    servers, limiter = watched_redis
    tenant = new_id("test")
    with servers.replica.client() as replica:
        assert (await limiter.hit_window(tenant, 1_000, 3600)).remaining == 999
        await asyncio.to_thread(servers.replica.wait_for, lambda _: replica.info("keyspace").get("db2"))
        servers.primary.kill()
        async with asyncio.timeout(PATIENCE_S):
            while replica.info("replication")["role"] != "master":
                # Never without a limit: meanwhile this process counts alone.
                assert (await limiter.hit_window(tenant, 1_000, 3600)).allowed
                await asyncio.sleep(0.05)
            while limiter._recovery is not None or (await limiter.hit_window(tenant, 1_000, 3600)) is None:
                await asyncio.sleep(0.05)
        before = replica.info("commandstats")["cmdstat_evalsha"]["calls"]
        decision = await limiter.hit_window(tenant, 1_000, 3600)
        assert decision.remaining < 999, "what the first server had counted is still counted"
        assert replica.info("commandstats")["cmdstat_evalsha"]["calls"] > before


@pytest.mark.either_database
def test_a_sentinel_url_is_taken_apart() -> None:
    url = parse_redis_url(
        "rediss+sentinel://app:p%40ss@a.example,[::1]:26380/limits/3?sentinel_password=s%2B1"
    )
    assert url.sentinels == (("a.example", 26379), ("::1", 26380))
    assert (url.service, url.sentinel_username, url.sentinel_password) == ("limits", None, "s+1")
    assert (url.server, url.is_tls) == ("rediss://app:p%40ss@limits/3", True)


@pytest.mark.either_database
@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:s3cret",
        "redis",
        "redis+sentinel://:s3cret@host:26379",
        "redis+sentinel://:s3cret@host:x/service",
        "redis+sentinel://:s3cret@host:99999/service",
        "redis+sentinel://:s3cret@/service/0",
        "redis+sentinel://:s3cret@host/service/first",
    ],
)
def test_a_url_that_nothing_can_be_done_with_is_refused_without_quoting_it(url: str) -> None:
    with pytest.raises(BadSetting, match="RETINUE_REDIS_URL must") as refused:
        load_settings({"RETINUE_REDIS_URL": url})
    assert "s3cret" not in str(refused.value)
