"""An ASGI client for tests: the whole pipeline, no sockets."""

import asyncio
import re
from typing import Any, Self
from urllib.parse import quote, unquote, urlencode

import msgspec

HOST = "127.0.0.1:8080"
# Streams that go on for as long as someone listens: a plain request of one hangs up after its first event.
ENDLESS = re.compile(
    r"/api/v1/notifications/stream|/api/v1/event-log/stream|/api/v1/workflows/[^/]+/executions/[^/]+/stream"
)


class Response:
    def __init__(self, status: int, headers: list[tuple[bytes, bytes]], body: bytes) -> None:
        self.status = status
        self.raw_headers = headers
        self.headers = {name.decode(): value.decode("latin-1") for name, value in headers}
        self.body = body

    def json(self) -> Any:
        return msgspec.json.decode(self.body)

    @property
    def code(self) -> str:
        """The code of the error envelope."""
        return self.json()["error"]["code"]

    @property
    def details(self) -> Any:
        return self.json()["error"].get("details")

    def __repr__(self) -> str:
        return f"<{self.status} {self.body[:500]!r}>"


class Api:
    """Calls an application as one person: `api.post("/users/invite", json={…})`."""

    def __init__(self, app: Any, *, token: str = "", ip: str = "203.0.113.7") -> None:
        self.app = app
        self.token = token
        self.ip = ip
        self.user: Any = None

    def signed_in(self, token: str) -> Self:
        return type(self)(self.app, token=token, ip=self.ip)

    def at(self, ip: str) -> Self:
        """Return the same person at another address."""
        return type(self)(self.app, token=self.token, ip=ip)

    async def request(
        self,
        method: str,
        path: str,
        *,
        json: Any = None,
        content: bytes | None = None,
        headers: dict[str, str] | None = None,
        query: dict[str, Any] | None = None,
        files: dict[str, tuple[str, bytes, str]] | None = None,
        fields: dict[str, str] | None = None,
    ) -> Response:
        sent = {"host": HOST, **{name.lower(): value for name, value in (headers or {}).items()}}
        if self.token and "authorization" not in sent:
            sent["authorization"] = f"Bearer {self.token}"
        body = content or b""
        if json is not None:
            body = msgspec.json.encode(json)
            sent.setdefault("content-type", "application/json")
        if files is not None:
            body = multipart(files, fields or {})
            sent.setdefault("content-type", "multipart/form-data; boundary=XXtestXX")
        if body:
            sent.setdefault("content-length", str(len(body)))
        return await self._exchange(method, path, query, sent, body)

    async def _exchange(
        self, method: str, path: str, query: dict[str, Any] | None, headers: dict[str, str], body: bytes
    ) -> Response:
        bare, _, inline_query = path.partition("?")
        scope = {
            "type": "http",
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": unquote(bare),
            "raw_path": quote(bare, safe="/%:@!$&'()*+,;=~").encode(),
            "query_string": (urlencode(query) if query else inline_query).encode(),
            "headers": [(name.encode(), value.encode("latin-1")) for name, value in headers.items()],
            "client": (self.ip, 40000),
            "server": ("127.0.0.1", 8080),
        }
        pending = [{"type": "http.request", "body": body, "more_body": False}]
        status, got, received = 0, [], []
        has_enough = asyncio.Event()

        async def receive() -> Any:
            if pending:
                return pending.pop()
            await has_enough.wait()
            return {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            nonlocal status, got
            if message["type"] == "http.response.start":
                status, got = message["status"], message["headers"]
            else:
                received.append(message.get("body", b""))
                if received[-1] and ENDLESS.fullmatch(bare):
                    has_enough.set()

        await self.app(scope, receive, send)
        return Response(status, got, b"".join(received))

    async def get(self, path: str, **more: Any) -> Response:
        return await self.request("GET", path, **more)

    async def post(self, path: str, json: Any = None, **more: Any) -> Response:
        return await self.request("POST", path, json=json, **more)

    async def put(self, path: str, json: Any = None, **more: Any) -> Response:
        return await self.request("PUT", path, json=json, **more)

    async def patch(self, path: str, json: Any = None, **more: Any) -> Response:
        return await self.request("PATCH", path, json=json, **more)

    async def delete(self, path: str, json: Any = None, **more: Any) -> Response:
        return await self.request("DELETE", path, json=json, **more)


def multipart(files: dict[str, tuple[str, bytes, str]], fields: dict[str, str]) -> bytes:
    parts = []
    for name, value in fields.items():
        parts.append(
            f'--XXtestXX\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode()
        )
    for name, (filename, data, mime_type) in files.items():
        head = (
            f'--XXtestXX\r\nContent-Disposition: form-data; name="{name}"; filename="{filename}"\r\n'
            f"Content-Type: {mime_type}\r\n\r\n"
        )
        parts.append(head.encode() + data + b"\r\n")
    return b"".join(parts) + b"--XXtestXX--\r\n"
