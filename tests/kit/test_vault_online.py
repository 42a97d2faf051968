"""V3: rotating the key under a hundred writes a second, and killing the rotation again and again."""

import asyncio
import random

import pytest

from retinue.adapters.mail.mail_queue import OutgoingMail
from retinue.kit.clock import SystemClock
from retinue.kit.crypto import Sealed
from retinue.kit.vault.key_refresh import KeyRefresher
from retinue.kit.vault.status import read_status
from tests.kit.killed_process import rotations

SEED = 20261115
ROWS_BEFORE = 450


@pytest.fixture
def clock():
    return SystemClock()


class Writers:
    """Insert, change, delete and read sealed records without a pause, and know what must be in them."""

    def __init__(self, people, tenant_id):
        self._people = people
        self._tenant_id = tenant_id
        self._random = random.Random(SEED)
        self._written = 0
        self._tasks = []
        self.expected = {}
        self.writes = 0

    async def prepare(self, count):
        async with self._people.context(self._tenant_id) as ctx:
            mails = [OutgoingMail(content=Sealed.of(self._text())) for _ in range(count)]
            texts = [mail.content.open(ctx.instance.ring).decode() for mail in mails]
            await ctx.db.insert_many(mails)
        self.expected.update({mail.id: text for mail, text in zip(mails, texts, strict=True)})

    def _text(self):
        self._written += 1
        return f"canary {self._written} " + "x" * self._random.randrange(2000)

    def start(self):
        self._tasks = [asyncio.create_task(self._write(number)) for number in range(2)]

    async def stop(self):
        tasks, self._tasks = self._tasks, []
        for task in tasks:
            task.cancel()
        for ended in await asyncio.gather(*tasks, return_exceptions=True):
            if not isinstance(ended, asyncio.CancelledError):
                raise ended

    async def _write(self, number):
        """Each writer has records of its own, so that what is expected does not depend on who comes first."""
        own = [id for position, id in enumerate(self.expected) if position % 2 == number]
        pending = None
        try:
            while True:
                pending = asyncio.create_task(self._once(own))
                await asyncio.shield(pending)
                await asyncio.sleep(0.01)
        finally:
            if pending is not None:
                await asyncio.wait([pending])

    async def _once(self, own):
        text, choice = self._text(), self._random.random()
        id = self._random.choice(own)
        async with self._people.context(self._tenant_id) as ctx:
            if choice < 0.4:
                mail = await ctx.db.insert(OutgoingMail(content=Sealed.of(text)))
                id = mail.id
                own.append(id)
            else:
                mail = await ctx.db.get(OutgoingMail, id)
                assert mail.content.text(ctx.instance.ring) == self.expected[id]
                if choice < 0.9:
                    await ctx.db.update(mail, content=Sealed.of(text))
                else:
                    await ctx.db.delete(mail)
                    own.remove(id)
        if choice < 0.9:
            self.expected[id] = text
        else:
            del self.expected[id]
        self.writes += 1

    async def check(self):
        """Every record there must be is there, opens, and says what was written last."""
        async with self._people.context(self._tenant_id) as ctx:
            stored = {
                mail.id: mail.content.text(ctx.instance.ring) for mail in await ctx.db.all(OutgoingMail)
            }
        assert stored == self.expected


@pytest.fixture(scope="module")
async def elsewhere():
    """Rotates in another process."""
    async with rotations() as made:
        yield made


@pytest.fixture
async def writers(service, people):
    await service.refresher.stop()
    refresher = KeyRefresher(service.instance, period_s=0.1)
    await refresher.start()
    made = Writers(people, (await people.default_tenant()).id)
    await made.prepare(ROWS_BEFORE)
    yield made
    await made.stop()
    await refresher.stop()


async def finish(service, writers, elsewhere):
    """A last rotation that nobody kills, and then nothing is left of any version before it."""
    ended = await elsewhere.run(service, "key")
    await writers.stop()
    assert ended.is_done
    assert ended.rotation.unreadable == []
    status = await read_status(service.instance)
    assert [row.version for row in status.versions] == [ended.rotation.version]
    assert (status.versions[0].secrets, status.lost) == (len(writers.expected) + 2, 0)
    await service.refresher.check()
    await writers.check()


@pytest.mark.campaign
async def test_a_rotation_killed_at_every_stage_under_writes_loses_nothing(service, writers, elsewhere):
    writers.start()
    for point in (
        "rotate_prepared:1",
        "rotate_activated:1",
        "rotate_before_commit:2",
        "rotate_after_commit:2",
        "rotate_before_retire:1",
    ):
        assert (await elsewhere.run(service, "key", failpoints=f"{point}:kill")).is_killed
    await finish(service, writers, elsewhere)
    assert writers.writes > 200


@pytest.mark.slow
async def test_twenty_kills_at_random_moments_under_writes_lose_nothing(service, writers, elsewhere):
    chance = random.Random(SEED)
    writers.start()
    kills = 0
    while kills < 20:
        ended = await elsewhere.run(service, "key", kill_after_s=chance.uniform(0.1, 2.5))
        kills += ended.is_killed
    await finish(service, writers, elsewhere)
    assert writers.writes > 1000
