"""Tests of the migration to vouched accounts with accounts that exist already."""

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic import command
from alembic.script import ScriptDirectory

from retinue.kit.settings import Settings
from retinue.migrations.upgrade import alembic_config
from tests.contract.migrating import differences, migrate, on_connection
from tests.databases import SERVER
from tests.e2e.processes import drop_database, make_database

pytestmark = pytest.mark.every_case

NOW = "2026-01-01T00:00:00.000Z"
WIDE = "\N{FULLWIDTH LATIN SMALL LETTER A}da"
BEFORE = {
    "usr_1": "ada@example.com",
    "usr_2": f"{WIDE}@example.com",  # collides with the first one
    "usr_3": "zoe\N{COMBINING DIAERESIS}@example.com",
    "usr_4": f"{WIDE}.b@example.com",
}
AFTER = {**BEFORE, "usr_3": "zo\u00eb@example.com", "usr_4": "ada.b@example.com"}


@pytest.fixture
async def settings(tmp_path: Path, worker_id: str) -> AsyncIterator[Settings]:
    if not SERVER:
        (tmp_path / "data").mkdir()
        yield Settings(data_dir=tmp_path / "data")
        return
    name = f"retinue_vouched_{os.getpid()}_{worker_id}"
    yield Settings(data_dir=tmp_path / "data", database_url=await make_database(SERVER, name))
    await drop_database(SERVER, name)


def _go_to_the_revision_before(connection: sa.Connection) -> None:
    config = alembic_config(connection)
    before = ScriptDirectory.from_config(config).get_revision("0023").down_revision
    command.upgrade(config, before)


def _add_people(connection: sa.Connection) -> None:
    connection.exec_driver_sql(
        "INSERT INTO tenants (id, created_at, updated_at, name, plan, limits, is_default) "
        f"VALUES ('ten_1', '{NOW}', '{NOW}', 'T', 'enterprise', '{{}}', true)"
    )
    for id, email in BEFORE.items():
        connection.execute(
            sa.text(
                "INSERT INTO users (id, created_at, updated_at, tenant_id, email, password_hash, first_name,"
                " last_name, role, status, email_verified, mfa_enabled, timezone, language) VALUES"
                " (:id, :now, :now, 'ten_1', :email, 'x', '', '', 'agent_user', 'active', false, false,"
                " 'UTC', 'en')"
            ),
            {"id": id, "now": NOW, "email": email},
        )


def _people(connection: sa.Connection) -> dict[str, tuple[str, bool, bool]]:
    rows = connection.exec_driver_sql("SELECT id, email, is_vouched_for, is_pending FROM users")
    return {row[0]: (row[1], bool(row[2]), bool(row[3])) for row in rows}


async def test_accounts_that_exist_are_vouched_for_and_addresses_get_one_form(settings: Settings) -> None:
    await on_connection(settings, _go_to_the_revision_before)
    await on_connection(settings, _add_people)
    assert await migrate(settings)
    found = await on_connection(settings, _people)
    assert found == {id: (email, True, False) for id, email in AFTER.items()}
    assert await differences(settings) == []
