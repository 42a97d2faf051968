"""Tests that files in the data dir are private to the server's user, with any umask."""

import asyncio
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.commands import run_command
from tests.e2e.load import call
from tests.e2e.processes import ADMIN_PASSWORD, ServerProcess
from tests.sampling import sample_cases

PATIENCE_S = 60
_BOUNDARY = "between-the-parts"
_MULTIPART = {"Content-Type": f"multipart/form-data; boundary={_BOUNDARY}"}


@contextmanager
def umask(mask: int) -> Iterator[None]:
    before = os.umask(mask)
    try:
        yield
    finally:
        os.umask(before)


def multipart(**fields: str) -> bytes:
    parts = [f'--{_BOUNDARY}\r\nContent-Disposition: form-data; name="{name}"' for name in fields]
    parts = [
        f"{part}; filename=a.txt\r\nContent-Type: text/plain" if name == "file" else part
        for part, name in zip(parts, fields, strict=True)
    ]
    return "".join(
        f"{part}\r\n\r\n{value}\r\n" for part, value in zip(parts, fields.values(), strict=True)
    ).encode() + (f"--{_BOUNDARY}--\r\n".encode())


class User:
    """Somebody who uses the server for all that leaves files behind."""

    def __init__(self, server: ServerProcess) -> None:
        self._server = server
        self._token = ""

    async def post(self, path: str, body: Any = None, *, form: bytes = b"", expected: int = 201) -> Any:
        headers = _MULTIPART if form else {}
        status, answer = await call(
            self._server.port, "POST", path, token=self._token, body=body, headers=headers, form=form
        )
        assert status == expected, answer
        return answer

    async def sign_in(self) -> None:
        login = {"email": "admin@example.com", "password": ADMIN_PASSWORD}
        self._token = (await self.post("/auth/login", login, expected=200))["access_token"]

    async def use_everything(self) -> None:
        await self.post("/users/invite", {"email": "ada@example.org", "role": "viewer"})
        await self.post("/api/v1/files", form=multipart(file="hello", purpose="knowledge"))
        fields = [{"id": "paper", "type": "file", "label": "Paper"}]
        form = (await self.post("/api/v1/forms", {"name": "Papers", "fields": fields}))["data"]
        await self.post(f"/api/v1/forms/{form['id']}/publish", expected=200)
        await self.post(
            f"/api/v1/public/forms/{form['slug']}/upload", form=multipart(file="x", field_id="paper")
        )
        script = {"file": "print(1)", "purpose": "tool"}
        uploaded = (await self.post("/api/v1/files", form=multipart(**script)))["data"]["file_id"]
        config = {"runtime": "python", "entrypoint": uploaded}
        script_tool = await self._make_tool("numbers", config)
        await self.post(f"/v1/tools/{script_tool}/execute", {"input": {}}, expected=200)
        await self._until_packed(await self._make_tool("packed", {**config, "packages": ["nobody-has-it"]}))

    async def _make_tool(self, name: str, config: dict[str, Any]) -> str:
        body = {"name": name, "description": name, "category": "custom", "auth_type": "none"}
        made = await self.post("/v1/tools", {**body, "tool_type": "script", "config": config})
        return str(made["data"]["id"])

    async def _until_packed(self, tool_id: str) -> None:
        """Wait until the packages are resolved; their folders exist also if that failed."""
        async with asyncio.timeout(PATIENCE_S):
            while True:
                _, answer = await call(self._server.port, "GET", f"/v1/tools/{tool_id}", token=self._token)
                if answer["data"]["packages_status"] != "resolving":
                    return
                await asyncio.sleep(0.1)

    async def until_written(self, folder: str) -> None:
        """Jobs write after the answer."""
        async with asyncio.timeout(PATIENCE_S):
            while not (Path(self._server.env["RETINUE_DATA_DIR"]) / folder).is_dir():
                await asyncio.sleep(0.05)


def modes(folder: Path) -> dict[str, str]:
    """Return the paths that others than the owner may use, with their modes."""
    found = {}
    for path in (folder, *folder.rglob("*")):
        mode = stat.S_IMODE(path.lstat().st_mode)
        if mode & 0o077 or (path.is_file() and mode & 0o100):
            found[str(path.relative_to(folder))] = oct(mode)
    return found


@pytest.mark.parametrize("mask", sample_cases([0o022, 0o000], keep=[0o000]))
async def test_nobody_else_reads_the_data_dir(tmp_path: Path, mask: int) -> None:
    # Nothing is to be installed: nobody listens there.
    registry = {"PIP_INDEX_URL": "http://127.0.0.1:9/", "PIP_RETRIES": "0"}
    server = ServerProcess(tmp_path, RETINUE_MODELS_DIR=str(tmp_path / "models"), **registry)
    data = Path(server.env["RETINUE_DATA_DIR"])
    with umask(mask):
        await server.start()
    user = User(server)
    await user.sign_in()
    await user.use_everything()
    for folder in ("outbox", "files", "tmp", "packages"):
        await user.until_written(folder)
    names = {path.name for path in data.iterdir()}
    assert {"retinue.db", "retinue.db-wal", "retinue.db-shm", "master.key"} <= names
    assert modes(data) == {}
    with umask(mask):
        ran = await run_command(server, "audit", "verify")
    assert ran.code == 0, ran
    assert modes(data) == {}
    assert await server.stop() == 0


@pytest.mark.campaign
@pytest.mark.parametrize(
    "command", [("migrate",), ("admin", "create", "ada@example.com", "--password", "Analytical-1843")]
)
async def test_a_command_that_comes_first_makes_private_files_too(
    tmp_path: Path, command: tuple[str, ...]
) -> None:
    server = ServerProcess(tmp_path)
    with umask(0o000):
        ran = await run_command(server, *command)
    assert ran.code == 0, ran
    assert modes(Path(server.env["RETINUE_DATA_DIR"])) == {}


@pytest.mark.campaign
async def test_a_database_of_an_older_version_is_closed_to_others(tmp_path: Path) -> None:
    server = ServerProcess(tmp_path)
    assert (await run_command(server, "migrate")).code == 0
    database = Path(server.env["RETINUE_DATA_DIR"]) / "retinue.db"
    database.chmod(0o664)
    assert (await run_command(server, "migrate")).code == 0
    assert stat.S_IMODE(database.stat().st_mode) == 0o660, "what the group may do is the operator's choice"
