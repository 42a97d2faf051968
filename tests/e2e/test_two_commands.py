"""What a newcomer does first, as processes and over real HTTP, and the other commands beside it."""

import asyncio
import json
import re
from collections.abc import Iterator
from email import message_from_bytes, policy
from pathlib import Path
from typing import Any

import httpx
import pyotp
import pytest

from retinue import __version__
from retinue.kit.db.engine import database_for
from retinue.kit.settings import load
from retinue.migrations.upgrade import head
from tests.contract.routes import ROUTES
from tests.e2e.commands import run_command
from tests.e2e.load import call
from tests.e2e.processes import ROOT, ServerProcess
from tests.e2e.readme import Curl, first_minute
from tests.factories.mails import link_token
from tests.factories.weights import fetched

pytestmark = pytest.mark.either_database

PATIENCE_S = 60


def keys_of(answer: Any) -> Iterator[str]:
    """The names of an answer at any depth."""
    inner = answer.values() if isinstance(answer, dict) else answer if isinstance(answer, list) else ()
    yield from answer if isinstance(answer, dict) else ()
    for value in inner:
        yield from keys_of(value)


class Reader:
    """Types the README's commands one after the other."""

    def __init__(self, server: ServerProcess) -> None:
        self._server = server
        self.token = ""
        self.ids: dict[str, str] = {}

    async def type(self, curl: Curl, **values: str) -> Any:
        body = curl.body_with(**values) if curl.body is not None else None
        token = self.token if curl.with_token else ""
        status, answer = await call(self._server.port, curl.method, curl.path, token=token, body=body)
        assert status in {200, 201}, answer
        assert curl.shown_keys <= set(keys_of(answer)), curl
        return answer

    async def make(self, curl: Curl) -> None:
        """Type a command that makes something, and keep its id for the commands to come."""
        answer = await self.type(curl.about(self.ids))
        id = answer["id"] if "id" in answer else answer["data"]["id"]
        self.ids[id.partition("_")[0]] = id

    async def send(self, curl: Curl, content: bytes) -> Any:
        """Type a command that uploads a file."""
        assert curl.upload is not None
        field, path = curl.upload
        answered = await self._ask(curl, files={field: (Path(path).name, content)})
        answer = answered.json()
        assert curl.shown_keys <= set(keys_of(answer)), curl
        return answer

    async def hear(self, curl: Curl) -> bytes:
        """Type a command that is answered with sound."""
        return (await self._ask(curl, json=curl.body)).content

    async def _ask(self, curl: Curl, **more: Any) -> httpx.Response:
        url = f"http://127.0.0.1:{self._server.port}{curl.about(self.ids).path}"
        async with httpx.AsyncClient(timeout=PATIENCE_S) as client:
            answer = await client.post(url, headers={"Authorization": f"Bearer {self.token}"}, **more)
        assert answer.status_code == 200, answer.text
        return answer

    async def until_trained(self, curl: Curl) -> None:
        async with asyncio.timeout(PATIENCE_S):
            while (await self.type(curl.about(self.ids)))["training"]["status"] == "training":
                await asyncio.sleep(0.1)

    async def mail_to(self, address: str) -> Any:
        """The mail that the server put into its outbox."""
        outbox = Path(self._server.env["RETINUE_DATA_DIR"]) / "outbox"
        async with asyncio.timeout(PATIENCE_S):
            while True:
                for file in outbox.glob("*.eml"):
                    mail = message_from_bytes(file.read_bytes(), policy=policy.default)
                    if mail["To"] == address:
                        return mail
                await asyncio.sleep(0.05)


@pytest.mark.slow
async def test_the_first_minute_is_as_the_readme_says(tmp_path: Path, database_url: str) -> None:
    server = ServerProcess(tmp_path, database_url, RETINUE_MODELS_DIR=str(fetched()))
    del server.env["RETINUE_ADMIN_PASSWORD"]
    await server.start()
    address = f"http://127.0.0.1:{server.port}"
    assert f"Retinue is ready at {address} (reference: {address}/docs)\n" in server.log
    (email,) = re.findall(r"^First administrator: (\S+)$", server.log, re.MULTILINE)
    (password,) = re.findall(r"^Password \(shown once\): (\S+)$", server.log, re.MULTILINE)

    log_in, create, chat, train, look, ask, speak, listen, *tools_and_people = first_minute()
    make, run, keep, use, run_again, audit, invite, register, set_up, enable = tools_and_people
    assert log_in.body["email"] == email
    reader = Reader(server)
    reader.token = (await reader.type(log_in, password=password))["access_token"]
    await reader.make(create)
    assert "Paris" in (await reader.type(chat.about(reader.ids)))["message"]["content"]
    await reader.send(train, (ROOT / train.upload[1]).read_bytes())
    await reader.until_trained(look)
    answer = await reader.type(ask.about(reader.ids))
    assert "45 days" in answer["message"]["content"]
    assert (answer["sources"][0]["document_name"], answer["sources"][0]["page"]) == ("handbook.pdf", 2)
    heard = await reader.send(listen, await reader.hear(speak))
    assert heard["transcription"]["text"] == speak.body["text"]
    assert "9:30" in heard["message"]["content"]

    await reader.make(make)
    done = (await reader.type(run.about(reader.ids)))["data"]
    assert (done["status"], done["output"]) == ("completed", {"total": 30})
    await reader.make(keep)
    await reader.make(use)
    await reader.type(run_again.about(reader.ids))
    (used, *_) = (await reader.type(audit.about(reader.ids)))["data"]
    assert (used["action"], used["credential_name"]) == ("used", keep.body["name"])
    invited = (await reader.type(invite))["email"]
    token = link_token(await reader.mail_to(invited))
    assert (await reader.type(register, invite_token=token))["role"] == invite.body["role"]
    assert (await reader.type(log_in, email=invited, password=register.body["password"]))["access_token"]

    device = pyotp.TOTP((await reader.type(set_up))["secret"])
    await reader.type(enable, code=device.now())
    pending = await reader.type(log_in, password=password)
    assert pending["mfa_required"] is True
    body = {"mfa_token": pending["mfa_token"], "code": device.now()}
    status, tokens = await call(server.port, "POST", "/auth/mfa/verify", body=body)
    assert status == 200, tokens
    status, me = await call(server.port, "GET", "/auth/me", token=tokens["access_token"])
    assert (status, me["email"], me["mfa_enabled"]) == (200, email, True)

    assert await server.stop() == 0
    await server.start()
    assert server.log.count("Password (shown once)") == 1
    assert await server.stop() == 0


async def test_a_variable_nobody_knows_gets_a_warning_with_the_nearest_name(tmp_path: Path) -> None:
    ran = await run_command(ServerProcess(tmp_path), "vault", "status", RETINUE_DATABSE_URL="x")
    assert "retinue: unknown setting RETINUE_DATABSE_URL; did you mean RETINUE_DATABASE_URL?\n" in ran.errors
    assert ran.code == 0


async def test_the_commands_that_need_no_server(tmp_path: Path, database_url: str) -> None:
    server = ServerProcess(tmp_path, database_url)
    version, openapi, migrated = await asyncio.gather(
        run_command(server, "version"), run_command(server, "openapi"), run_command(server, "migrate")
    )
    again = await run_command(server, "migrate")
    assert {ran.code for ran in (version, openapi, migrated, again)} == {0}
    assert version.output.strip() == __version__
    assert set(json.loads(openapi.output)["paths"]) == {route.path for route in ROUTES}
    assert migrated.output == f"migrated to revision {head()}\n"
    assert again.output == f"already at revision {head()}\n"


@pytest.mark.slow
async def test_an_administrator_made_beside_a_running_server_can_sign_in(
    tmp_path: Path, database_url: str
) -> None:
    server = ServerProcess(tmp_path, database_url)
    await server.start()
    credentials = {"email": "second@example.com", "password": "Battery-Staple-2"}
    arguments = ("admin", "create", credentials["email"], "--password", credentials["password"])
    ran = await run_command(server, *arguments)
    assert (ran.code, ran.output) == (0, "created super administrator second@example.com\n")
    status, answer = await call(server.port, "POST", "/auth/login", body=credentials)
    assert (status, answer["user"]["role"]) == (200, "super_admin")
    refused = await asyncio.gather(
        run_command(server, *arguments),
        run_command(server, "admin", "create", "third@example.com", "--password", "x"),
        run_command(server, "admin", "create", "no address", "--password", credentials["password"]),
    )
    for ran in refused:
        assert (ran.code, ran.output, ran.errors.count("\n")) == (1, "", 1), ran
        assert ran.errors.startswith("retinue: ")
    assert await server.stop() == 0


async def change(server: ServerProcess, sql: str) -> None:
    settings, _ = load(server.env)
    database = database_for(settings)
    await database.open()
    connection = await database.begin()
    assert await connection.execute(sql, []) == 1
    await database.commit(connection)
    await database.close()


@pytest.mark.slow
async def test_a_row_of_the_audit_trail_that_was_changed_is_named(tmp_path: Path, database_url: str) -> None:
    server = ServerProcess(tmp_path, database_url)
    made = await run_command(
        server, "admin", "create", "second@example.com", "--password", "Battery-Staple-2"
    )
    assert made.code == 0, made
    intact = await run_command(server, "audit", "verify")
    assert intact.code == 0, intact
    assert re.fullmatch(r"ten_\w+ intact, [1-9]\d* rows\n", intact.output)
    await change(server, "UPDATE audit_log SET subject_id = 'usr_somebody_else' WHERE sequence = 1")
    broken = await run_command(server, "audit", "verify")
    assert broken.code == 1
    assert re.match(r"ten_\w+ broken at row 1 aud_\w+: ", broken.output)
    assert "Traceback" not in broken.errors
