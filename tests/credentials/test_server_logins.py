"""Credentials for servers are tried at real ones: PostgreSQL, MariaDB, SSH and SMTP."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from retinue.credentials import connection_test
from tests.adapters.foreign_databases import (
    ADMIN,
    PASSWORD,
    Foreign,
    running_mariadb,
    running_postgresql,
)
from tests.adapters.ssh_server import Sshd, running_sshd
from tests.factories.credentials import CANARY, create, run_failing_test, run_test

pytestmark = pytest.mark.either_database

SMTP_SERVER = Path(__file__).parents[1] / "adapters" / "smtp_server.py"
MAIL_PASSWORD = f"{CANARY}-mail"


@pytest.fixture(scope="module")
def postgresql() -> Iterator[Foreign]:
    with running_postgresql() as server:
        yield server


@pytest.fixture(scope="module")
def mysql() -> Iterator[Foreign]:
    with running_mariadb() as server:
        yield server


@pytest.fixture(scope="module")
def sshd(tmp_path_factory) -> Iterator[Sshd]:
    with running_sshd(tmp_path_factory.mktemp("sshd")) as server:
        yield server


@pytest.fixture
def smtp_port(tmp_path) -> Iterator[int]:
    """A real mail server that knows one login, and repeats every other when it refuses it."""
    command = [sys.executable, str(SMTP_SERVER), str(tmp_path), "--login", f"robot:{MAIL_PASSWORD}"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        yield int(process.stdout.readline())
        process.kill()


@pytest.fixture
def foreign(request: pytest.FixtureRequest, db_type: str) -> Foreign:
    return request.getfixturevalue(db_type)


def login(foreign: Foreign, **changed: object) -> dict[str, object]:
    database = {"postgresql": "postgres", "mysql": "shop"}[foreign.db_type]
    reached = {"host": "127.0.0.1", "port": foreign.port, "database": database}
    return {**reached, "username": ADMIN, "password": PASSWORD, **changed}


@pytest.mark.parametrize("db_type", ["postgresql", "mysql"])
async def test_a_database_is_connected_to_and_asked(owner, foreign, db_type) -> None:
    for ssl_mode in ("disable", "prefer", "require"):
        secrets = login(foreign, ssl_mode=ssl_mode)
        made = await create(owner, "database", secrets=secrets, metadata={"db_type": db_type})
        result = await run_test(owner, made)
        assert (result["success"], result["checked"]) == (True, "connection"), result


@pytest.mark.parametrize("db_type", ["postgresql", "mysql"])
@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"password": f"{CANARY}-wrong"}, "auth_error"),
        ({"username": "nobody", "password": f"{CANARY}-wrong"}, "auth_error"),
        ({"ssl_mode": "verify-full"}, "network_error"),
    ],
)
async def test_what_a_database_refuses_is_told_without_the_password(
    owner, foreign, db_type, change, code
) -> None:
    secrets = login(foreign, **change)
    made = await create(owner, "database", secrets=secrets, metadata={"db_type": db_type})
    assert await run_failing_test(owner, made) == ("connection", code)


async def test_the_wrong_kind_of_database_is_noticed(owner, postgresql, mysql, monkeypatch) -> None:
    """Two servers that wait for the other to speak would do so for as long as a test may take."""
    monkeypatch.setattr(connection_test, "_ATTEMPT_TIMEOUT_SECONDS", 0.3)
    for foreign, other in ((postgresql, "mysql"), (mysql, "postgresql")):
        made = await create(owner, "database", secrets=login(foreign), metadata={"db_type": other})
        result = await run_test(owner, made)
        assert result["success"] is False


def ssh_login(sshd: Sshd, **changed: str) -> dict[str, object]:
    key = sshd.key.export_private_key("openssh").decode()
    return {"host": "127.0.0.1", "port": sshd.port, "username": sshd.username, "private_key": key, **changed}


async def test_a_login_by_ssh_is_tried_and_tells_the_servers_key(owner, sshd) -> None:
    made = await create(owner, "ssh", secrets=ssh_login(sshd))
    before = sshd.said().count("Accepted publickey")
    result = await run_test(owner, made)
    assert (result["success"], result["checked"]) == (True, "connection"), result
    assert sshd.said().count("Accepted publickey") == before + 1
    (seen,) = (print for print in sshd.fingerprints.values() if print in result["message"])
    made = await create(owner, "ssh", secrets=ssh_login(sshd, host_key_fingerprint=seen))
    assert (await run_test(owner, made))["message"] == "The server accepts the login."


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"private_key": None}, "not_configured"),
        ({"private_key": f"{CANARY} is no key"}, "not_configured"),
        ({"private_key": None, "password": f"{CANARY}-wrong"}, "auth_error"),
        ({"host_key_fingerprint": "SHA256:" + "A" * 43}, "auth_error"),
    ],
)
async def test_a_login_by_ssh_that_cannot_work_says_why(owner, sshd, change, code) -> None:
    made = await create(owner, "ssh", secrets=ssh_login(sshd, **change))
    assert await run_failing_test(owner, made) == ("connection", code)


async def test_a_login_at_a_mail_server_is_tried(owner, smtp_port) -> None:
    secrets = {"host": "127.0.0.1", "port": smtp_port, "encryption": "none"}
    known = {**secrets, "username": "robot", "password": MAIL_PASSWORD}
    result = await run_test(owner, await create(owner, "smtp", secrets=known))
    assert (result["success"], result["message"]) == (True, "The mail server accepts the login.")
    result = await run_test(owner, await create(owner, "smtp", secrets=secrets))
    assert (result["success"], result["message"]) == (True, "The mail server answers.")
    wrong = await create(owner, "smtp", secrets={**known, "password": f"{CANARY}-wrong"})
    assert await run_failing_test(owner, wrong) == ("connection", "auth_error")
    encrypted = await create(owner, "smtp", secrets={**known, "encryption": "starttls"})
    assert await run_failing_test(owner, encrypted) == ("connection", "network_error")
