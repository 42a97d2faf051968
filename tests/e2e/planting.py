"""Secrets of every kind, planted in a running server through its API, and every way to make them leak."""

import base64
import json
from collections.abc import Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from tests.e2e.load import call

ROUNDS = 9


@asynccontextmanager
async def echoing_api() -> Any:
    """An API that says back all it was told, in every form, with the status its path asks for."""

    async def echo(request: web.Request) -> web.Response:
        told = {"headers": dict(request.headers), "url": str(request.url), "body": await request.text()}
        text = json.dumps(told)
        forms = {"told": told, "base64": base64.b64encode(text.encode()).decode(), "hex": text.encode().hex()}
        authorization = request.headers.get("Authorization", "")
        status = int(request.match_info["status"])
        error = {"error": {"message": f"Incorrect key: {authorization} {text}", "code": "invalid_api_key"}}
        return web.json_response(
            {**forms, **error}, status=status, headers={"Retry-After": authorization[:80]}
        )

    app = web.Application()
    app.router.add_route("*", "/{status:[0-9]{3}}{rest:.*}", echo)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    port = site._server.sockets[0].getsockname()[1]  # type: ignore[union-attr]
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        await runner.cleanup()


@dataclass
class Planter:
    """Calls the server as its administrator, and keeps every answer and every secret it was given."""

    port: int
    token: str
    api: str
    secrets: list[str] = field(default_factory=list)
    answers: list[bytes] = field(default_factory=list)

    def secret(self) -> str:
        made = f'CANARY-{len(self.secrets):04d}/"ü+{len(self.secrets) * 7919 % 9973:04d}-end'
        self.secrets.append(made)
        return made

    async def call(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        status, answer = await call(self.port, method, path, token=self.token, body=body)
        self.answers.append(json.dumps(answer, ensure_ascii=False).encode())
        return status, answer

    async def create(self, path: str, body: Any) -> str:
        status, answer = await self.call("POST", path, body)
        assert status == 201, answer
        return (answer.get("data") or answer)["id"]

    def credentials(self) -> Iterator[dict[str, Any]]:
        """Every type; those that can be tested over HTTP are sent to the API that repeats them."""
        closed = {"host": "127.0.0.1", "port": 1, "username": "ada"}
        url = {"test_url": f"{self.api}/401"}
        yield {"type": "api_key", "secrets": {"api_key": self.secret()}, "metadata": url}
        yield {"type": "bearer_token", "secrets": {"token": self.secret()}, "metadata": url}
        basic = {"username": "ada", "password": self.secret()}
        yield {"type": "basic_auth", "secrets": basic, "metadata": url}
        yield {"type": "database", "secrets": {**closed, "database": "d", "password": self.secret()}}
        yield {
            "type": "ssh",
            "secrets": {**closed, "private_key": self.secret(), "passphrase": self.secret()},
        }
        yield {"type": "smtp", "secrets": {**closed, "password": self.secret(), "encryption": "none"}}
        yield {"type": "custom", "secrets": {"a": self.secret(), "deep": {"b": [self.secret()]}}}
        oauth = {name: self.secret() for name in ("client_secret", "access_token", "refresh_token")}
        yield {"type": "oauth2", "secrets": {**oauth, "client_id": "c", "token_url": f"{self.api}/400/token"}}

    def authentications(self) -> Iterator[dict[str, Any]]:
        key = {"api_key_header": "X-Key", "api_key_value": self.secret()}
        yield {"auth_type": "api_key", "auth_config": key}
        in_query = {"api_key_header": "key", "api_key_value": self.secret(), "api_key_location": "query"}
        yield {"auth_type": "api_key", "auth_config": in_query}
        yield {"auth_type": "bearer", "auth_config": {"token": self.secret()}}
        yield {"auth_type": "basic", "auth_config": {"username": "ada", "password": self.secret()}}
        custom = {"headers": {"X-One": "plain"}, "query": {"two": self.secret()}}
        yield {"auth_type": "custom", "auth_config": custom}
        client = {"client_id": "c", "client_secret": self.secret(), "token_url": f"{self.api}/400/token"}
        yield {"auth_type": "oauth2", "auth_config": client}

    async def plant_credentials(self) -> None:
        for number in range(ROUNDS):
            for body in self.credentials():
                id = await self.create("/v1/credentials", {"name": f"{body['type']} {number}", **body})
                await self.call("GET", f"/v1/credentials/{id}")
                await self.call("PUT", f"/v1/credentials/{id}", {"description": "changed"})
                await self.call("POST", f"/v1/credentials/{id}/test")
                key = next(
                    name for name in reversed(body["secrets"]) if isinstance(body["secrets"][name], str)
                )
                replaced = {"secrets": {key: body["secrets"][key]}}
                await self.call("PUT", f"/v1/credentials/{id}/secrets", replaced)
                await self.call("GET", f"/v1/credentials/{id}/audit")
                if body["type"] in {"api_key", "bearer_token", "basic_auth"}:
                    tool = {"auth_type": "custom", "auth_config": {"credential_id": id}}
                    await self.run_tool(tool, f"by credential {id}")
        # Wrong in every way: what is refused is not repeated either.
        for body in self.credentials():
            first = next(iter(body["secrets"]))
            await self.call("POST", "/v1/credentials", {**body, "name": ""})
            await self.call("POST", "/v1/credentials", {**body, "type": self.secret()})
            await self.call(
                "POST", "/v1/credentials", {"name": "x", **body, "secrets": {first: [self.secret()]}}
            )
        for path in ("/v1/credentials", "/v1/credentials/audit", "/v1/credentials?search=CANARY"):
            await self.call("GET", path)

    async def plant_tools(self) -> None:
        for number in range(ROUNDS):
            for position, body in enumerate(self.authentications()):
                await self.run_tool(body, f"tool {number} {position}")

    async def run_tool(self, authentication: dict[str, Any], name: str) -> None:
        endpoints = {
            f"answer{status}": {"method": "GET", "path": f"/{status}/x"} for status in (200, 401, 500)
        }
        tool = {
            "name": name,
            "category": "custom",
            "tool_type": "rest_api",
            "config": {"base_url": self.api, "endpoints": endpoints},
            **authentication,
        }
        id = await self.create("/v1/tools", tool)
        for endpoint in endpoints:
            status, answer = await self.call(
                "POST", f"/v1/tools/{id}/execute", {"input": {"endpoint": endpoint}}
            )
            assert status == 200, answer
        for path in (f"/v1/tools/{id}", f"/v1/tools/{id}/executions", f"/v1/tools/{id}/stats"):
            await self.call("GET", path)

    async def plant_provider_keys(self) -> None:
        for number in range(ROUNDS * 3):
            provider = ("openai", "anthropic", "openai_compatible")[number % 3]
            body = {"provider": provider, "name": f"key {number}", "api_key": self.secret()}
            id = await self.create(
                "/api/v1/api-keys", {**body, "base_url": f"{self.api}/{401 + number % 2}/v1"}
            )
            await self.call("POST", f"/api/v1/api-keys/{id}/test")
            await self.call("GET", f"/api/v1/api-keys/{id}")
        await self.call("GET", "/api/v1/models")
