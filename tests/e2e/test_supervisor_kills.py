"""Kill -9 of a supervisor: the next start gets the address, while orphans are still running."""

import asyncio
import os
from pathlib import Path

import pytest

from tests.e2e.chatting import StreamClient, serve_talker, set_up
from tests.e2e.speaking import speak_until_allowed
from tests.e2e.supervised import SupervisedServer

KILLS = int(os.environ.get("RETINUE_TEST_SUPERVISOR_KILLS", "3"))


@pytest.mark.either_database
async def test_a_start_after_the_kill_of_a_supervisor_gets_its_address(
    tmp_path: Path, database_url: str
) -> None:
    """At the first kill a reply runs, which its orphaned process ends beside the new server."""
    may_end = asyncio.Event()
    server = SupervisedServer(tmp_path, database_url, RETINUE_SHUTDOWN_GRACE="60")
    async with serve_talker(speak_until_allowed(may_end)) as talker, server:
        await server.start()
        shop = await set_up(server, talker)
        client = await StreamClient(shop, "slowly").open()
        await client.until(b"id: 3\n")
        for _ in range(KILLS):
            orphans = server.workers
            server.kill()
            # `start` fails if the process ends, as one does that cannot listen.
            await server.start()
            may_end.set()
            await server.end_of(*orphans)
            # Until they noticed, the orphans may have answered in place of the new server.
            await server.all_alive()
        assert b'"finish_reason":"stop"' in await client.to_end()
        client.drop(with_reset=False)
        assert await server.stop() == 0
    assert "Address already in use" not in server.log
    assert "Traceback" not in server.log
