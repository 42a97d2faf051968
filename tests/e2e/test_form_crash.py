"""Kill -9 around the commits of uploads and submissions.

What was answered is there, once, with its file, its row and its event; what was not leaves no bytes behind.
"""

import asyncio
import contextlib
import os
import random
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from retinue.adapters.blobs import Blobs
from retinue.files.jobs import expire_files, sweep_orphans
from retinue.files.models import File
from retinue.forms.models import FormUpload, Submission
from retinue.forms.uploading import forget_uploads
from retinue.kit.clock import HeldClock
from retinue.kit.context import Context
from retinue.kit.events.models import EventEntry
from retinue.kit.jobs.declare import NoPayload
from retinue.kit.jobs.runner import Runner
from tests.client import multipart
from tests.e2e.chatting import opened
from tests.e2e.crashing import sign_in
from tests.e2e.load import Unreachable, call
from tests.e2e.processes import ServerProcess

PLACES = ("after_commit", "before_commit", "form_submission_before_store")
KILLS = int(os.environ.get("RETINUE_TEST_KILLS", "3"))
IN_PARTS = {"Content-Type": "multipart/form-data; boundary=XXtestXX"}
DAYS_S = 2 * 24 * 3600
SEED = int(os.environ.get("RETINUE_TEST_SEED", "1"))


class Visitors:
    """Upload a paper and submit it, one after the other, each submission under a key until it is taken."""

    def __init__(self, server: ServerProcess, slug: str) -> None:
        self.acked: dict[str, str] = {}
        self.refused: list[Any] = []
        self._server = server
        self._path = f"/api/v1/public/forms/{slug}"
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
        turn, paper = 0, ""
        while not self._is_over:
            name = f"visitor-{number}-{turn}"
            try:
                # An upload that was not answered is made again, and the first one is nobody's.
                paper = paper or await self._upload(name)
                if paper and await self._submit(name, paper):
                    turn, paper = turn + 1, ""
            except (*Unreachable, TimeoutError):
                pass
            await asyncio.sleep(0.02)

    async def _upload(self, name: str) -> str:
        form = multipart({"file": (f"{name}.txt", name.encode(), "text/plain")}, {"field_id": "paper"})
        answer = await self._ask("/upload", {201}, headers=IN_PARTS, form=form)
        return str(answer["file_id"]) if answer else ""

    async def _submit(self, name: str, paper: str) -> bool:
        body = {"data": {"name": name, "paper": paper}}
        answer = await self._ask("/submit", {201}, headers={"Idempotency-Key": name}, body=body)
        if answer:
            self.acked[name] = answer["submission_id"]
        return bool(answer)

    async def _ask(self, path: str, good: set[int], **request: Any) -> dict[str, Any]:
        """What was answered; nothing while somebody else is at it, or the server comes and goes."""
        whole = call(self._server.port, "POST", self._path + path, **request)
        status, answer = await asyncio.wait_for(whole, 10)
        if status in good:
            return dict(answer["data"])
        if status not in {409, 503}:
            self.refused.append((status, answer))
        return {}


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
            "fields": [
                {"id": "name", "type": "text", "required": True},
                {"id": "paper", "type": "file", "required": True},
            ],
            "settings": {"limits": {"submit": 100_000, "upload": 100_000, "total": 100_000}},
            "data_table_config": {"table_id": table["id"], "auto_save": True},
        },
    )
    await post(f"/api/v1/forms/{form['id']}/publish")
    return form["slug"], table["id"]


async def forget_what_nobody_took(ctx: Context) -> None:
    """What the jobs of two days later do."""
    for job in (expire_files, forget_uploads, sweep_orphans):
        await job.run(ctx.apart(), NoPayload())
    await Runner(ctx.instance).drain()


async def papers_of(ctx: Context) -> dict[str, str]:
    """What each stored file says, by its id; found by its bytes, whether a row names it or not."""
    blobs = ctx.adapter(Blobs)
    found = {}
    async for key in blobs.stored_before(ctx.clock.time()):
        found[key.partition("/")[2]] = b"".join([piece async for piece in await blobs.open(key)]).decode()
    return found


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
        async with opened(server, HeldClock(time.time() + DAYS_S)) as ctx:
            await forget_what_nobody_took(ctx)
            papers = await papers_of(ctx)
        async with opened(server) as ctx:
            system = ctx.system("the checker looks at everything")
            submissions = await system.all(Submission)
            kept = {one.id: one.data["name"] for one in submissions}
            events = await system.all(EventEntry, type="form.submission.created")
            files = {one.id for one in await system.all(File)}
            taken = {one.id: one.submission_id for one in await system.all(FormUpload)}
    assert visitors.refused == []
    assert len(visitors.acked) > kills, "there was load"
    assert {id: kept.get(id) for id in visitors.acked.values()} == {
        id: name for name, id in visitors.acked.items()
    }
    assert max(Counter(kept.values()).values()) == 1, "nothing was stored twice under one key"
    assert Counter(one.subject_id for one in events) == dict.fromkeys(kept, 1)
    assert sorted(row["name"] for row in listed["data"]) == sorted(kept.values())
    assert papers == {one.data["paper"]: one.data["name"] for one in submissions}, "no byte more or less"
    assert files == papers.keys()
    assert taken == {one.data["paper"]: one.id for one in submissions}
