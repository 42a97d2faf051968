"""Tests of cancelled waits for PostgreSQL, also in the moment in which the wait ends."""

import asyncio

import asyncpg
import pytest

from tests.databases import SERVER

pytestmark = pytest.mark.skipif(not SERVER, reason="only PostgreSQL has a pool and notifications")


async def turns(number: int = 5) -> None:
    """Let everything that is ready run."""
    for _ in range(number):
        await asyncio.sleep(0)


async def test_a_watcher_is_stopped_though_something_changes_at_that_moment(service) -> None:
    database = service.instance.database
    await database.wait_for_change(0.001)

    async def watch() -> None:
        while True:
            await database.wait_for_change(60)

    watching = asyncio.create_task(watch())
    await turns()
    database._listener.changed.set()
    watching.cancel()
    await turns(20)
    assert watching.cancelled()


async def test_a_caller_who_leaves_as_a_connection_comes_free_gives_it_back(make_service) -> None:
    database = (await make_service(database_pool=1)).instance.database
    held = await database.begin()
    waiting = asyncio.create_task(database.begin())
    await turns()
    await database.rollback(held)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    async with asyncio.timeout(5):
        await database.rollback(await database.begin())


async def test_a_watcher_who_leaves_while_it_starts_to_listen_closes_its_connection(
    service, monkeypatch: pytest.MonkeyPatch
) -> None:
    listeners: list[asyncpg.Connection] = []
    has_begun = asyncio.Event()

    async def listen_for_ever(connection: asyncpg.Connection, *_: object) -> None:
        listeners.append(connection)
        has_begun.set()
        await asyncio.Event().wait()

    monkeypatch.setattr(asyncpg.Connection, "add_listener", listen_for_ever)
    database = service.instance.database
    await database.close()  # a listener of the service's own would be used instead
    watching = asyncio.create_task(database.wait_for_change(60))
    async with asyncio.timeout(5):
        await has_begun.wait()
    watching.cancel()
    with pytest.raises(asyncio.CancelledError):
        await watching
    assert [listener.is_closed() for listener in listeners] == [True]
