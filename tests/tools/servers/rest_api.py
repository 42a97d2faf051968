"""A scripted REST API on loopback: it repeats what it was sent, fails as told and issues OAuth 2 tokens."""

import asyncio
import base64
import contextlib
import secrets
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

CLIENT_ID = "crm-client"
CLIENT_SECRET = "crm/Secret+with=signs&4711"


@dataclass
class Seen:
    """One request as it arrived."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes


@dataclass
class RestApi:
    """`answers` are given first, one for each request to /scripted: a status, headers, and a body."""

    url: str = ""
    seen: list[Seen] = field(default_factory=list)
    answers: list[tuple[int, dict[str, str], bytes]] = field(default_factory=list)
    tokens_issued: int = 0
    token_lifetime_s: int | None = 3600
    valid_tokens: set[str] = field(default_factory=set)
    release: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def last(self) -> Seen:
        return self.seen[-1]

    def revoke_tokens(self) -> None:
        self.valid_tokens.clear()

    async def answer(self, request: web.Request) -> web.StreamResponse:
        body = await request.read()
        self.seen.append(Seen(request.method, request.raw_path, dict(request.headers), body))
        area = request.path.strip("/").partition("/")[0]
        match area:
            case "scripted":
                status, headers, content = self.answers.pop(0) if self.answers else (200, {}, b"")
                return web.Response(status=status, headers=headers, body=content)
            case "broken":
                return await self._broken(request)
            case "token":
                return self._token(request, await request.post())
            case "secured":
                return self._secured(request)
            case "hanging":
                await self.release.wait()
                return web.Response()
            case _:
                return web.json_response(self._echo(request, body))

    def _echo(self, request: web.Request, body: bytes) -> dict[str, Any]:
        return {
            "method": request.method,
            "target": request.raw_path,
            "headers": {name.lower(): value for name, value in request.headers.items()},
            "body": body.decode(errors="replace"),
        }

    async def _broken(self, request: web.Request) -> web.StreamResponse:
        """The connection ends without an answer while there is something left in `answers`."""
        if not self.answers:
            return web.json_response({"ok": True})
        self.answers.pop(0)
        assert request.transport is not None
        request.transport.abort()
        return web.Response()

    def _token(self, request: web.Request, form: Any) -> web.Response:
        sent = request.headers.get("Authorization", "")
        basic = base64.b64decode(sent.removeprefix("Basic ")).decode() if sent.startswith("Basic ") else ""
        in_form = f"{form.get('client_id')}:{form.get('client_secret')}"
        known = {f"{CLIENT_ID}:{CLIENT_SECRET}", f"{CLIENT_ID}:{_form_encoded(CLIENT_SECRET)}"}
        if form.get("grant_type") != "client_credentials":
            return web.json_response({"error": "unsupported_grant_type"}, status=400)
        if (basic or in_form) not in known:
            return web.json_response({"error": "invalid_client", "sent": in_form}, status=401)
        self.tokens_issued += 1
        token = f"token-{self.tokens_issued}-{secrets.token_hex(12)}"
        self.valid_tokens.add(token)
        given: dict[str, Any] = {
            "access_token": token,
            "token_type": "Bearer",
            "scope": form.get("scope", ""),
        }
        if self.token_lifetime_s is not None:
            given["expires_in"] = self.token_lifetime_s
        return web.json_response(given)

    def _secured(self, request: web.Request) -> web.Response:
        token = request.headers.get("Authorization", "").removeprefix("Bearer ")
        if token not in self.valid_tokens:
            return web.json_response({"error": "invalid_token", "given": token}, status=401)
        return web.json_response({"ok": True, "given": token})


def _form_encoded(text: str) -> str:
    from urllib.parse import quote_plus

    return quote_plus(text)


@contextlib.asynccontextmanager
async def rest_api(address: str = "127.0.0.1") -> AsyncIterator[RestApi]:
    api = RestApi()
    server = web.Server(api.answer)
    runner = web.ServerRunner(server, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, address, 0)
    await site.start()
    port = runner.addresses[0][1]
    api.url = f"http://{address}:{port}"
    try:
        yield api
    finally:
        api.release.set()
        await runner.cleanup()


def scripted_config(remote: RestApi, method: str = "GET", **more: Any) -> dict[str, Any]:
    """An endpoint that answers what the test wrote down."""
    return {"base_url": remote.url, "endpoints": {"only": {"method": method, "path": "/scripted"}}, **more}
