"""`retinue admin reset-password` beside a running server and without one, and the version."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest

from retinue import __version__
from retinue.kit.build_commit import build_commit
from tests.e2e.commands import Ran, run_command
from tests.e2e.load import call
from tests.e2e.processes import ADMIN_PASSWORD, ServerProcess

pytestmark = pytest.mark.either_database

EMAIL, NEW_PASSWORD = "admin@example.com", "Another-Staple-3"
RESET = ("admin", "reset-password")
PAGE = "/reset-password"


def check_printed(printed: Ran, address: str) -> None:
    """The link alone is the output, and what to do with it is said beside it."""
    assert printed.code == 0, printed
    assert printed.output.startswith(f"{address}{PAGE}?token=")
    assert printed.output.count("\n") == 1
    assert "within one hour" in printed.errors
    assert "RETINUE_BASE_URL" not in printed.errors


async def test_a_printed_link_chooses_a_new_password_once(tmp_path: Path, database_url: str) -> None:
    server = ServerProcess(tmp_path, database_url)
    await server.start()
    address = f"http://127.0.0.1:{server.port}"
    login = {"email": EMAIL, "password": ADMIN_PASSWORD}
    _, before = await call(server.port, "POST", "/auth/login", body=login)
    first = await run_command(server, *RESET, EMAIL, "--base-url", address)
    ran = await run_command(server, *RESET, EMAIL.upper(), RETINUE_BASE_URL=f"{address}/")
    for printed in (first, ran):
        check_printed(printed, address)
    old, token = (one.output.strip().partition("=")[2] for one in (first, ran))
    chosen = {"token": token, "new_password": NEW_PASSWORD}
    status, _ = await call(server.port, "POST", "/auth/reset-password", body={**chosen, "token": old})
    assert status == 422, "a newer link makes an older one void"
    status, _ = await call(server.port, "POST", "/auth/reset-password", body=chosen)
    assert status == 200
    status, _ = await call(server.port, "POST", "/auth/reset-password", body=chosen)
    assert status == 422, "it works once"
    status, _ = await call(server.port, "GET", "/auth/me", token=before["access_token"])
    assert status == 401, "every session has ended"
    status, _ = await call(server.port, "POST", "/auth/login", body={**login, "password": NEW_PASSWORD})
    assert status == 200
    assert await server.stop() == 0
    audited = await run_command(server, "audit", "verify")
    assert audited.code == 0, audited


@pytest.mark.campaign
async def test_without_a_server_the_link_says_which_address_it_assumes(tmp_path: Path) -> None:
    server = ServerProcess(tmp_path)
    assert (await run_command(server, "admin", "create", EMAIL, "--password", NEW_PASSWORD)).code == 0
    ran = await run_command(server, *RESET, EMAIL)
    assert ran.code == 0, ran
    assert ran.output.startswith(f"http://127.0.0.1:8080{PAGE}?token=")
    assert "--base-url" in ran.errors
    unknown, bad = await asyncio.gather(
        run_command(server, *RESET, "nobody@example.com"),
        run_command(server, *RESET, EMAIL, "--base-url", "not an address"),
    )
    assert (unknown.code, unknown.output) == (1, "")
    assert unknown.errors.startswith("retinue: No account has the address nobody@example.com.")
    assert (bad.code, bad.output) == (2, "")


async def test_the_version_is_an_option_and_a_command(tmp_path: Path) -> None:
    server = ServerProcess(tmp_path)
    with_commit = f"{__version__} ({build_commit()})\n"
    for arguments, printed in (
        (("version",), f"{__version__}\n"),
        (("--version",), with_commit),
        (("--version", "serve"), with_commit),
    ):
        ran = await run_command(server, *arguments)
        assert (ran.code, ran.output, ran.errors) == (0, printed, "")


@pytest.mark.parametrize(
    "command", [("admin", "reset-password", "ada@example.com"), ("vault", "status"), ("audit", "verify")]
)
def test_a_command_in_a_folder_without_an_instance_makes_none(
    tmp_path: Path, command: tuple[str, ...]
) -> None:
    made = subprocess.run(
        [sys.executable, "-m", "retinue.cli", *command],
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        check=False,
    )
    assert made.returncode == 1
    assert f"there is no instance in {tmp_path / 'data'}" in made.stderr
    assert list(tmp_path.iterdir()) == []
