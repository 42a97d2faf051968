"""Announcement of new work to other processes."""

import asyncio

from retinue.kit.context.instance import Instance
from retinue.kit.db.engine import Database

WORK = "jobs.work"
"""The topic under which processes of one machine announce work to each other on SQLite."""


class Announcer:
    """Announces in the background, one announcement at a time for any number of commits."""

    def __init__(self, instance: Instance) -> None:
        self._database: Database = instance.database
        self._peers = instance.peers
        self._task: asyncio.Task[None] | None = None
        self._is_wanted = False

    def __call__(self) -> None:
        if self._database.dialect == "sqlite":
            # A commit is its own announcement, but who polls for it may take a while.
            self._peers.publish(WORK)
            return
        self._is_wanted = True
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._announce())

    async def _announce(self) -> None:
        try:
            while self._is_wanted:
                self._is_wanted = False
                await self._database.announce()
        finally:
            self._task = None

    async def settle(self) -> None:
        if self._task is not None:
            await asyncio.wait([self._task])


def announce_work(instance: Instance) -> None:
    """Announce committed work; for a process without a worker of its own."""
    instance.work_arrived = Announcer(instance)
