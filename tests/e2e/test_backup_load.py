"""S2: backups under a load of 200 writes a second; each is restored and compared with what was promised."""

import asyncio
import itertools
import os
import shutil
import sqlite3
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

import asyncpg
import pytest

from tests.databases import SERVER
from tests.e2e.commands import run_command
from tests.e2e.load import Unreachable, call
from tests.e2e.processes import ServerProcess, drop_database, make_database
from tests.e2e.vault_calls import sign_in

BACKUPS = int(os.environ.get("RETINUE_TEST_BACKUPS", "20"))
WRITES_PER_SECOND = 200
CLIENTS = 8
FILE_EVERY = 20
BOUNDARY = "XXbackupXX"


@dataclass
class Promised:
    """Acknowledged writes: rows, files, and files whose deletion has begun."""

    rows: set[str] = field(default_factory=set)
    files: set[str] = field(default_factory=set)
    deleted: set[str] = field(default_factory=set)
    refused: int = 0


class Writers:
    """Write rows at a steady rate, now and then a file, and delete every other file again."""

    def __init__(self, server: ServerProcess, token: str, table_id: str) -> None:
        self.promised = Promised()
        self._port, self._token = server.port, token
        self._path = f"/api/v1/data-tables/{table_id}/rows"
        self._numbers = itertools.count(1)
        self._started = time.monotonic()
        self._stop = asyncio.Event()

    async def run(self) -> None:
        async with asyncio.TaskGroup() as clients:
            for _ in range(CLIENTS):
                clients.create_task(self._work())

    def stop(self) -> float:
        """Stop writing; return the mean number of acknowledged writes a second."""
        self._stop.set()
        count = len(self.promised.rows) + len(self.promised.files) + len(self.promised.deleted)
        return count / (time.monotonic() - self._started)

    async def _work(self) -> None:
        while not self._stop.is_set():
            number = next(self._numbers)
            due = self._started + number / WRITES_PER_SECOND
            await asyncio.sleep(max(0.0, due - time.monotonic()))
            try:
                await (self._write_file(number) if number % FILE_EVERY == 0 else self._write_row(number))
            except Unreachable:
                self.promised.refused += 1

    async def _write_row(self, number: int) -> None:
        status, answer = await call(
            self._port, "POST", self._path, token=self._token, body={"title": f"Row {number}"}
        )
        if status == 201:
            self.promised.rows.add(answer["data"]["id"])
        else:
            self.promised.refused += 1

    async def _write_file(self, number: int) -> None:
        head = (
            f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="purpose"\r\n\r\ntool\r\n--{BOUNDARY}\r\n'
        )
        head += 'Content-Disposition: form-data; name="file"; filename="a.py"\r\n\r\n'
        form = f"{head}print({number})\r\n--{BOUNDARY}--\r\n".encode()
        headers = {"Content-Type": f"multipart/form-data; boundary={BOUNDARY}"}
        status, answer = await call(
            self._port, "POST", "/api/v1/files", token=self._token, headers=headers, form=form
        )
        if status != 201:
            self.promised.refused += 1
            return
        file_id = answer["data"]["file_id"]
        self.promised.files.add(file_id)
        if number % (2 * FILE_EVERY) == 0:
            self.promised.deleted.add(file_id)
            await call(self._port, "DELETE", f"/api/v1/files/{file_id}", token=self._token)


async def lift_limits(server: ServerProcess, token: str) -> None:
    """A write costs two of the 12,000 requests that a tenant has in a minute."""
    _, me = await call(server.port, "GET", "/auth/me", token=token)
    limits = {"requests_per_minute": None, "requests_per_hour": None}
    status, answer = await call(
        server.port, "PUT", f"/api/v1/tenants/{me['tenant_id']}", token=token, body={"limits": limits}
    )
    assert status == 200, answer


async def stored_ids(data: Path, database_url: str) -> tuple[set[str], dict[str, str]]:
    """The ids of rows, and the tenant of each file, in a restored database."""
    rows, files = "SELECT id FROM table_rows", "SELECT id, tenant_id FROM files"
    if database_url:
        connection = await asyncpg.connect(database_url)
        found = {row[0] for row in await connection.fetch(rows)}, dict(await connection.fetch(files))
        await connection.close()
        return found
    with sqlite3.connect(data / "retinue.db") as connection:
        return {row[0] for row in connection.execute(rows)}, dict(connection.execute(files))


@pytest.mark.slow
@pytest.mark.every_case
async def test_every_backup_under_load_is_whole(tmp_path: Path, database_url: str) -> None:
    server = ServerProcess(tmp_path, database_url)
    async with server:
        await server.start()
        token = await sign_in(server)
        await lift_limits(server, token)
        body = {"name": "Load", "columns": [{"name": "title", "type": "text"}]}
        status, table = await call(server.port, "POST", "/api/v1/data-tables", token=token, body=body)
        assert status == 201, table
        writers = Writers(server, token, table["data"]["id"])
        writing = asyncio.create_task(writers.run())
        await asyncio.sleep(1)
        for number in range(BACKUPS):
            await back_up_and_compare(server, writers.promised, tmp_path, number)
        rate = writers.stop()
        await writing
    refused = writers.promised.refused
    sys.stdout.write(f"{BACKUPS} backups, {rate:.0f} acknowledged writes a second, {refused} refused\n")
    assert rate > WRITES_PER_SECOND / 4, "too little was written for this to show anything"


async def back_up_and_compare(server: ServerProcess, promised: Promised, tmp_path: Path, number: int) -> None:
    rows, files = set(promised.rows), promised.files - promised.deleted
    file, target = tmp_path / f"{number}.tar", tmp_path / f"restored-{number}"
    made = await run_command(server, "backup", str(file))
    assert made.code == 0, made
    assert "are not in the store" not in made.errors, made
    afterwards = set(promised.rows)
    target.mkdir()
    shutil.copy(Path(server.env["RETINUE_DATA_DIR"]) / "master.key", target)
    database = f"retinue_backup_{os.getpid()}"
    url = await make_database(SERVER, database) if SERVER else ""
    done = await run_command(
        server, "restore", str(file), "--data-dir", str(target), RETINUE_DATABASE_URL=url
    )
    assert done.code == 0, done
    found_rows, found_files = await stored_ids(target, url)
    assert rows <= found_rows, "a row that was acknowledged before the backup began is missing"
    assert len(found_rows - afterwards) <= CLIENTS, "a row from after the backup is in it"
    assert files <= found_files.keys()
    for file_id, tenant_id in found_files.items():
        assert (target / "files" / tenant_id / file_id).is_file(), "a file of the copy has no bytes"
    if SERVER:
        await drop_database(SERVER, database)
    shutil.rmtree(target)
    file.unlink()
