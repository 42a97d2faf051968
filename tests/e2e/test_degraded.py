"""An instance without room on its disk, or without its Redis, says so and goes on with the rest."""

import asyncio
import ctypes
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.crashing import sign_in
from tests.e2e.load import call
from tests.e2e.processes import ServerProcess
from tests.redis_server import RedisServer, own_server

PATIENCE_S = 60
DISK_BYTES = 64 * 1024 * 1024
_MS_NONE, _MNT_DETACH = 0, 2


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system that can be filled."""
    libc = ctypes.CDLL(None, use_errno=True)
    folder = tmp_path / "small"
    folder.mkdir()
    options = f"size={DISK_BYTES}".encode()
    if libc.mount(b"tmpfs", bytes(folder), b"tmpfs", _MS_NONE, options) != 0:
        pytest.skip(f"this user may not mount a file system: {os.strerror(ctypes.get_errno())}")
    try:
        yield folder
    finally:
        libc.umount2(bytes(folder), _MNT_DETACH)


async def until_health_is(server: ServerProcess, expected: str) -> Any:
    async with asyncio.timeout(PATIENCE_S):
        while True:
            status, health = await call(server.port, "GET", "/health")
            assert status == 200, health
            if health["status"] == expected:
                return health
            await asyncio.sleep(0.1)


@pytest.mark.either_database
async def test_a_full_disk_is_named_until_there_is_room(small_disk: Path) -> None:
    async with ServerProcess(small_disk) as server:
        await server.start()
        token = await sign_in(server.port)
        assert "degraded" not in await until_health_is(server, "ok")
        filling = small_disk / "filling"
        with filling.open("wb") as file:
            while True:
                try:
                    os.write(file.fileno(), bytes(4096))
                except OSError:
                    break
        assert "disk" in (await until_health_is(server, "degraded"))["degraded"]
        assert (await call(server.port, "GET", "/health/ready"))[0] == 200
        assert (await call(server.port, "GET", "/api/v1/tenant", token=token))[0] == 200
        filling.unlink()
        await until_health_is(server, "ok")


@own_server
@pytest.mark.either_database
async def test_a_redis_that_is_gone_is_named_until_it_is_back(tmp_path: Path, database_url: str) -> None:
    redis = RedisServer()
    redis.start()
    try:
        async with ServerProcess(tmp_path, database_url, RETINUE_REDIS_URL=redis.url) as server:
            await server.start()
            await until_health_is(server, "ok")
            redis.kill()
            assert (await until_health_is(server, "degraded"))["degraded"] == ["redis"]
            assert (await call(server.port, "GET", "/health/ready"))[0] == 200
            redis.start()
            await until_health_is(server, "ok")
    finally:
        redis.kill()
