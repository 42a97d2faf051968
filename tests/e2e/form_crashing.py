"""Kill the server while people upload and submit, and look at what it left behind."""

import asyncio
import contextlib
import os
import random
import time
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from retinue.adapters.blobs import Blobs
from retinue.files.models import File
from retinue.forms.models import FormUpload, Submission
from retinue.kit.clock import ManualClock
from retinue.kit.context import Context
from retinue.kit.events.models import EventEntry
from retinue.kit.jobs.runner import Runner
from retinue.tables.models import DataTable
from retinue.tables.service import find_rows
from tests.client import multipart
from tests.e2e.chatting import open_database
from tests.e2e.crashing import sign_in
from tests.e2e.load import Unreachable, call
from tests.e2e.processes import ServerProcess

IN_PARTS = {"Content-Type": "multipart/form-data; boundary=XXtestXX"}
DAYS_S = 2 * 24 * 3600


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
        """Wait until this many more submissions were acknowledged."""
        wanted = len(self.acked) + more
        async with asyncio.timeout(60):
            while len(self.acked) < wanted and not self.refused:
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
        answer = await self._ask("/upload", headers=IN_PARTS, form=form)
        return str(answer["file_id"]) if answer else ""

    async def _submit(self, name: str, paper: str) -> bool:
        """Submit; return whether it is over: accepted, or refused for good."""
        body = {"data": {"name": name, "paper": paper}}
        refused_before = len(self.refused)
        answer = await self._ask("/submit", headers={"Idempotency-Key": name}, body=body)
        if answer:
            self.acked[name] = answer["submission_id"]
        return bool(answer) or len(self.refused) > refused_before

    async def _ask(self, path: str, **request: Any) -> dict[str, Any]:
        """Return the answer; empty while the key is in use or the server restarts."""
        whole = call(self._server.port, "POST", self._path + path, **request)
        status, answer = await asyncio.wait_for(whole, 10)
        if status == 201:
            return dict(answer["data"])
        if status not in {409, 503}:
            self.refused.append((status, answer))
        return {}


async def make_form(server: ServerProcess, token: str) -> tuple[str, str]:
    """Create a form whose answers become rows; return its slug and the table."""

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


async def crash(server: ServerProcess, kills: int, places: tuple[str, ...], seed: int) -> None:
    """Each start dies at the next place in turn, after a few times of passing it."""
    chance = random.Random(seed)
    server.kill()
    for number in range(kills):
        place = places[number % len(places)]
        server.env["RETINUE_FAILPOINTS"] = f"{place}:{chance.randint(3, 9)}:kill"
        with contextlib.suppress(AssertionError):
            await server.start()
        assert await server.ended(30), f"nobody came past {place}"
    del server.env["RETINUE_FAILPOINTS"]
    await server.start()


async def crash_under_load(
    server: ServerProcess, kills: int, places: tuple[str, ...], seed: int
) -> "Crashed":
    """Kill it with people at work, and stop it."""
    await server.start()
    slug, table_id = await make_form(server, await sign_in(server.port))
    visitors = Visitors(server, slug)
    await visitors.reach(3)
    await crash(server, kills, places, seed)
    await visitors.reach(3)
    await visitors.finish()
    assert await server.stop() == 0
    return Crashed(server, visitors, table_id)


@contextlib.asynccontextmanager
async def two_days_later(server: ServerProcess) -> AsyncIterator[Context]:
    """Yield a context on the server's data, two days later, when unclaimed files have expired."""
    earlier = time.time() - DAYS_S
    for spooled in _spool(server):
        os.utime(spooled, (earlier, earlier))
    async with open_database(server, ManualClock(time.time() + DAYS_S)) as ctx:
        yield ctx.detached()


async def sweep(server: ServerProcess) -> None:
    """Run every periodic job two days later, and again a day after that, which deletes the bytes."""
    async with two_days_later(server) as ctx:
        await Runner(ctx.instance).drain()
        clock = ctx.instance.clock
        assert isinstance(clock, ManualClock)
        clock.advance(24 * 3600 + 1)
        await Runner(ctx.instance).drain()


@dataclass
class Crashed:
    """The answers of a server that was killed, to compare with its database."""

    server: ServerProcess
    visitors: Visitors
    table_id: str

    async def kinds_of_problems(self) -> set[str]:
        return {problem.partition(":")[0] for problem in await self.problems()}

    async def problems(self) -> list[str]:
        """Return every broken promise in words; none if all were kept and unclaimed files were swept."""
        found = [f"refused: {refusal}" for refusal in self.visitors.refused]
        async with open_database(self.server) as ctx:
            system = ctx.system("the checker looks at everything")
            submissions = {one.id: one for one in await system.all(Submission)}
            found += _lost(self.visitors.acked, submissions)
            found += await _unannounced(ctx, submissions)
            found += await _unfiled(ctx, submissions)
            table = await system.find(DataTable, id=self.table_id)
            assert table is not None
            ctx.bind_tenant(table.tenant_id)
            rows = {row["id"]: row["name"] for row in await find_rows(ctx, table.id, limit=10_000)}
        found += _unsaved(rows, submissions)
        return found + [f"spooled and left: {path.name}" for path in _spool(self.server)]


def _lost(acked: dict[str, str], submissions: dict[str, Submission]) -> list[str]:
    stored = {id: one.data["name"] for id, one in submissions.items()}
    lost = [f"acknowledged but not there: {name}" for name, id in acked.items() if stored.get(id) != name]
    return lost + [
        f"there {count} times: {name}" for name, count in Counter(stored.values()).items() if count > 1
    ]


def _unsaved(rows: dict[str, str], submissions: dict[str, Submission]) -> list[str]:
    expected = {one.data_table_row_id or "": one.data["name"] for one in submissions.values()}
    return [
        f"row {id or None} is {rows.get(id)}, and of the submission {expected.get(id)}"
        for id in rows.keys() | expected.keys()
        if rows.get(id) != expected.get(id)
    ]


async def _unannounced(ctx: Context, submissions: dict[str, Submission]) -> list[str]:
    system = ctx.system("the checker looks at everything")
    told = Counter(one.subject_id for one in await system.all(EventEntry, type="form.submission.created"))
    ids = told.keys() | submissions.keys()
    return [f"{id} has {told[id]} events" for id in ids if told[id] != (1 if id in submissions else 0)]


async def _unfiled(ctx: Context, submissions: dict[str, Submission]) -> list[str]:
    """Return files without a submission, and submissions whose file is not whole."""
    system = ctx.system("the checker looks at everything")
    papers = {one.data["paper"]: one for one in submissions.values()}
    taken = {one.id: one.submission_id for one in await system.all(FormUpload)}
    files = {one.id for one in await system.all(File)}
    said = await _bytes(ctx)
    found = [f"bytes that are nobody's: {id}" for id in said.keys() - papers.keys()]
    found += [f"a file that is nobody's: {id}" for id in files - papers.keys()]
    found += [f"an upload that is nobody's: {id}" for id in taken.keys() - papers.keys()]
    for id, submission in papers.items():
        if id not in files or said.get(id) != submission.data["name"]:
            found.append(f"{submission.data['name']} has the file {said.get(id)}")
        if taken.get(id) != submission.id:
            found.append(f"{submission.data['name']} has a file of {taken.get(id)}")
    return found


async def _bytes(ctx: Context) -> dict[str, str]:
    """Return the content of each stored file by its id, also of files without a row."""
    blobs = ctx.adapter(Blobs)
    found = {}
    async for key in blobs.stored_before(ctx.clock.time() + DAYS_S):
        found[key.partition("/")[2]] = b"".join([piece async for piece in await blobs.open(key)]).decode()
    return found


def _spool(server: ServerProcess) -> list[Path]:
    return [*(Path(server.env["RETINUE_DATA_DIR"]) / "tmp").glob("*")]
