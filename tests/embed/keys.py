"""Keys made through the real route, and a caller who holds one."""

from typing import Any

from tests.chat.speaking import Heard, events_of
from tests.client import Api, Response

PATH = "/api/v1/embed/api-keys"


async def make_key(api: Api, agent: dict[str, Any], **more: Any) -> dict[str, Any]:
    answer = await api.post(PATH, {"agent_id": agent["id"], "name": "Website", **more})
    assert answer.status == 201, answer
    return answer.json()


async def list_keys(api: Api, **query: Any) -> list[dict[str, Any]]:
    answer = await api.get(PATH, query=query or None)
    assert answer.status == 200, answer
    return answer.json()["data"]


class Holder:
    """A page or program with a key; it sends the key as a bearer token unless told otherwise."""

    def __init__(self, api: Api, agent: dict[str, Any], key: dict[str, Any]) -> None:
        self.api = api
        self.agent = agent
        self.key = key

    @property
    def text(self) -> str:
        return self.key["api_key"]

    @property
    def path(self) -> str:
        return f"/api/v1/public/agents/{self.agent['id']}/chat"

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.text}"}

    async def say(
        self, message: str = "Hello", *, origin: str | None = None, session_id: str = "s-1", **more: Any
    ) -> Response:
        headers = {**self.headers, **({"Origin": origin} if origin is not None else {})}
        body = {"session_id": session_id, "message": message, **more}
        return await self.api.post(self.path, body, headers=headers)

    async def hear(self, message: str = "Hello", **more: Any) -> list[Heard]:
        answer = await self.say(message, stream=True, **more)
        assert answer.status == 200, answer
        return events_of(answer.body)

    async def snippet(self, **headers: str) -> Response:
        return await self.api.get(
            f"/api/v1/public/agents/{self.agent['id']}/embed", headers={**self.headers, **headers}
        )
