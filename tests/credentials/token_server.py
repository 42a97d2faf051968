"""An OAuth 2 token endpoint on loopback that rotates refresh tokens and counts who asks."""

import asyncio
import contextlib
import json
import urllib.parse
from collections.abc import AsyncIterator
from typing import Any

from tests.factories.credentials import CANARY
from tests.kit.egress_listener import Listener, listening, reply

CLIENT = {"client_id": "client-1", "client_secret": f"{CANARY}-client-secret"}


class TokenServer:
    """Every refresh token is good once; `closed` holds answers back until it is opened."""

    def __init__(self) -> None:
        self.calls = 0
        self.expires_in: int | None = 3600
        self.refusals: list[bytes] = []
        self.refresh_token = f"{CANARY}-refresh-0"
        self.forms: list[dict[str, str]] = []
        self.is_asked = asyncio.Event()
        self.opened = asyncio.Event()
        self.opened.set()
        self.listener: Listener

    @property
    def url(self) -> str:
        return f"{self.listener.url}/token"

    def secrets(self, **changed: Any) -> dict[str, Any]:
        """Return the secrets of a credential for this server; a value of None leaves a key out."""
        given = {**CLIENT, "refresh_token": self.refresh_token, "token_url": self.url, **changed}
        return {name: value for name, value in given.items() if value is not None}

    def refuse(self, error: str, status: int = 400, description: str = "") -> None:
        content = json.dumps({"error": error, "error_description": description}).encode()
        self.refusals.append(reply(content, status, Connection="close"))

    async def __call__(self, writer: asyncio.StreamWriter) -> None:
        form = dict(urllib.parse.parse_qsl(self.listener.bodies[-1].decode()))
        self.calls += 1
        self.forms.append(form)
        self.is_asked.set()
        answer = self._answer(form)
        await self.opened.wait()
        writer.write(answer)
        await writer.drain()

    def _answer(self, form: dict[str, str]) -> bytes:
        if self.refusals:
            return self.refusals.pop(0)
        token: dict[str, Any] = {"access_token": f"{CANARY}-access-{self.calls}", "token_type": "Bearer"}
        if form["grant_type"] == "refresh_token":
            if form["refresh_token"] != self.refresh_token:
                return reply(b'{"error": "invalid_grant"}', 400, Connection="close")
            token["refresh_token"] = self.refresh_token = f"{CANARY}-refresh-{self.calls}"
        if self.expires_in is not None:
            token["expires_in"] = self.expires_in
        return reply(json.dumps(token).encode(), Connection="close")


@contextlib.asynccontextmanager
async def token_server() -> AsyncIterator[TokenServer]:
    server = TokenServer()
    async with listening(server) as server.listener:
        yield server
        server.opened.set()
