"""Kill -9 around the commit of a submission: what was answered is there, once, with its row and its event."""

import asyncio
import contextlib
import os
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from retinue.forms.models import Submission
from retinue.kit.events.models import EventEntry
from tests.e2e.chatting import opened
from tests.e2e.crashing import sign_in
from tests.e2e.load import Unreachable, call
from tests.e2e.processes import ServerProcess

PLACES = ("after_commit", "before_commit", "form_submission_before_store")
KILLS = int(os.environ.get("RETINUE_TEST_KILLS", "3"))
SEED = int(os.environ.get("RETINUE_TEST_SEED", "1"))


class Visitors:
    """Submit one answer after the other, each under a key of its own until it is taken."""

    def __init__(self, server: ServerProcess, slug: str) -> None:
        self.acked: dict[str, str] = {}
        self.refused: list[Any] = []
        self._server = server
        self._path = f"/api/v1/public/forms/{slug}/submit"
        self._is_over = False
        self._tasks = [asyncio.create_task(self._work(number)) for number in range(3)]

    async def reach(self, more: int) -> None:
        """Until so many more were answered."""
        wanted = len(self.acked) + more
        async with asyncio.timeout(60):
            while len(self.acked) < wanted:
                await asyncio.sleep(0.02)

    async def finish(self) -> None:
        self._is_over = True
        await asyncio.gather(*self._tasks)

    async def _work(self, number: int) -> None:
        turn = 0
        while not self._is_over:
            name = f"visitor-{number}-{turn}"
            try:
                status, answer = await asyncio.wait_for(
                    call(
                        self._server.port,
                        "POST",
                        self._path,
                        body={"data": {"name": name}},
                        headers={"Idempotency-Key": name},
                    ),
                    10,
                )
            except (*Unreachable, TimeoutError):
                await asyncio.sleep(0.02)
                continue
            if status == 201:
                self.acked[name] = answer["data"]["submission_id"]
                turn += 1
            elif status not in {409, 503}:
                self.refused.append((status, answer))
                turn += 1
            await asyncio.sleep(0.02)


async def crash(server: ServerProcess, kills: int, places: tuple[str, ...] = PLACES) -> None:
    """Each start dies at the next place in turn, after a few times of passing it."""
    chance = random.Random(SEED)
    server.kill()
    for number in range(kills):
        place = places[number % len(places)]
        server.env["RETINUE_FAILPOINTS"] = f"{place}:{chance.randint(3, 9)}:kill"
        with contextlib.suppress(AssertionError):
            await server.start()
        assert server.process is not None
        await asyncio.wait_for(server.process.wait(), 30)
    del server.env["RETINUE_FAILPOINTS"]
    await server.start()


async def make_form(server: ServerProcess, token: str) -> tuple[str, str]:
    """A form whose answers become rows: its slug, and the table."""

    async def post(path: str, body: Any = None) -> Any:
        status, answer = await call(server.port, "POST", path, token=token, body=body or {})
        assert status in {200, 201}, answer
        return answer["data"]

    columns = [{"name": "name", "type": "text", "unique": True}]
    table = await post("/api/v1/data-tables", {"name": "Answers", "columns": columns})
    form = await post(
        "/api/v1/forms",
        {
            "name": "Crash",
            "fields": [{"id": "name", "type": "text", "required": True}],
            "settings": {"limits": {"submit": 100_000, "total": 100_000}},
            "data_table_config": {"table_id": table["id"], "auto_save": True},
        },
    )
    await post(f"/api/v1/forms/{form['id']}/publish")
    return form["slug"], table["id"]


@pytest.mark.parametrize("kills", [1, pytest.param(KILLS, marks=pytest.mark.slow)])
async def test_what_was_answered_is_there_once_with_its_row_and_its_event(
    tmp_path: Path, database_url: str, kills: int
) -> None:
    async with ServerProcess(tmp_path, database_url) as server:
        await server.start()
        token = await sign_in(server.port)
        slug, table_id = await make_form(server, token)
        visitors = Visitors(server, slug)
        await visitors.reach(3)
        await crash(server, kills)
        await visitors.reach(3)
        await visitors.finish()
        path = f"/api/v1/data-tables/{table_id}/rows?per_page=1000"
        _, listed = await call(server.port, "GET", path, token=await sign_in(server.port))
        assert await server.stop() == 0
        async with opened(server) as ctx:
            system = ctx.system("the checker looks at everything")
            kept = {one.id: one.data["name"] for one in await system.all(Submission)}
            events = await system.all(EventEntry, type="form.submission.created")
    assert visitors.refused == []
    assert len(visitors.acked) > kills, "there was load"
    assert {id: kept.get(id) for id in visitors.acked.values()} == {
        id: name for name, id in visitors.acked.items()
    }
    assert max(Counter(kept.values()).values()) == 1, "nothing was stored twice under one key"
    assert Counter(one.subject_id for one in events) == dict.fromkeys(kept, 1)
    assert sorted(row["name"] for row in listed["data"]) == sorted(kept.values())
