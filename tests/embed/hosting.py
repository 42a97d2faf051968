"""A hosted page made through the real route, and a visitor of it."""

from typing import Any

from tests.client import Api, Response

OPEN = {"slug": "lamp-desk", "audience": "public", "monthly_token_budget": 50_000}
ORIGIN = "http://127.0.0.1:8080"
SESSION = "a-session-of-one-visitor"


def page_path(agent: dict[str, Any]) -> str:
    return f"/api/v1/agents/{agent['id']}/page"


async def open_page(api: Api, agent: dict[str, Any], **more: Any) -> dict[str, Any]:
    answer = await api.put(page_path(agent), {**OPEN, **more})
    assert answer.status == 200, answer
    return answer.json()


async def look_at(api: Api, slug: str = "lamp-desk") -> dict[str, Any]:
    answer = await api.get(f"/api/v1/public/pages/{slug}")
    assert answer.status == 200, answer
    return answer.json()


class PageVisitor:
    """A browser on a public page; it sends what the page gave it, and the page's origin."""

    def __init__(self, api: Api, agent: dict[str, Any], page_key: str) -> None:
        self.api = api
        self.path = f"/api/v1/public/agents/{agent['id']}"
        self.headers = {"Authorization": f"Bearer {page_key}", "Origin": ORIGIN}

    async def send(self, operation: str, **body: Any) -> Response:
        whole = {"session_id": SESSION, **body}
        return await self.api.post(f"{self.path}/{operation}", whole, headers=self.headers)

    async def speak(self, content: bytes, session_id: str = SESSION) -> Response:
        files = {"audio": ("voice.wav", content, "audio/wav")}
        fields = {"session_id": session_id}
        return await self.api.post(f"{self.path}/audio", files=files, fields=fields, headers=self.headers)


def unfinished_reply(text: bytes) -> bytes:
    """Return an answer of a provider that says something and does not end."""
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
    return head + b'data: {"choices": [{"index": 0, "delta": {"content": "%b"}}]}\n\n' % text
