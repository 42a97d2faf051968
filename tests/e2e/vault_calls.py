"""Requests that show the state of a server's vault."""

import os
from typing import Any

from tests.e2e.load import call
from tests.e2e.processes import ADMIN_PASSWORD, ServerProcess


async def sign_in(server: ServerProcess) -> str:
    body = {"email": "admin@example.com", "password": ADMIN_PASSWORD}
    status, answer = await call(server.port, "POST", "/auth/login", body=body)
    assert status == 200, answer
    return str(answer["access_token"])


async def vault_state(server: ServerProcess) -> str:
    status, health = await call(server.port, "GET", "/health")
    assert (status, health["status"]) == (200, "ok" if health["vault"] == "open" else "sealed")
    return str(health["vault"])


async def invite(server: ServerProcess, token: str, **headers: str) -> tuple[int, Any]:
    body = {"email": f"guest{os.urandom(4).hex()}@example.com", "role": "viewer"}
    return await call(server.port, "POST", "/users/invite", token=token, body=body, headers=headers)
