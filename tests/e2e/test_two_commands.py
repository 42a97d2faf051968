"""The commands beside `retinue serve`, as processes; what a newcomer types is in `test_pages`."""

import asyncio
import json
import re
from pathlib import Path

import pytest

from retinue import __version__
from retinue.kit.db.databases import database_for
from retinue.kit.setting_loader import load_settings
from retinue.migrations.upgrade import head
from tests.contract.routes import ROUTES
from tests.e2e.commands import run_command
from tests.e2e.load import call
from tests.e2e.processes import ServerProcess

pytestmark = pytest.mark.either_database


async def test_a_variable_nobody_knows_gets_a_warning_with_the_nearest_name(tmp_path: Path) -> None:
    ran = await run_command(ServerProcess(tmp_path), "migrate", RETINUE_DATABSE_URL="x")
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
    settings, _ = load_settings(server.env)
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
