"""A server that strangers can reach says so at its start when they can join or read its metrics."""

from pathlib import Path

import pytest

from tests.e2e.load import call
from tests.e2e.processes import ServerProcess

PUBLIC = {"RETINUE_BASE_URL": "https://retinue.example.com"}
SOMEBODY = {"email": "new@example.com", "password": "Battery-Staple-2", "first_name": "N", "last_name": "P"}


@pytest.mark.parametrize(
    ("env", "is_warned", "status"),
    [
        pytest.param({}, False, 200, marks=pytest.mark.campaign),
        ({**PUBLIC, "RETINUE_SIGNUP": "open", "RETINUE_METRICS": "on"}, True, 403),
        pytest.param(PUBLIC, False, 403, marks=pytest.mark.campaign),
    ],
    ids=["development", "open to everybody", "default"],
)
async def test_open_registration_is_warned_about(
    tmp_path: Path, env: dict[str, str], is_warned: bool, status: int
) -> None:
    server = ServerProcess(tmp_path, RETINUE_LOG_LEVEL="info", **env)
    await server.start()
    assert (await call(server.port, "POST", "/auth/register", body=SOMEBODY))[0] == 201
    body = {"email": SOMEBODY["email"], "password": SOMEBODY["password"]}
    _, tokens = await call(server.port, "POST", "/auth/login", body=body)
    answered, _ = await call(server.port, "GET", "/api/v1/agents", token=tokens["access_token"])
    assert answered == status
    assert await server.stop() == 0
    log = (tmp_path / "server.log").read_text()
    assert ("RETINUE_SIGNUP=open" in log) is is_warned
    assert log.count("egress_to_") == 1, "one line says what they may reach"
    assert ("instance_reachable_by_others" in log) is bool(env)
    assert ("RETINUE_METRICS_TOKEN" in log) is is_warned, "metrics need no token unless one is set"
