"""A visitor who fills in a form by talking."""

from typing import Any, Self

import msgspec

from tests.client import Api, Response
from tests.factories.forms import address


class Talk:
    def __init__(self, api: Api, form: dict[str, Any], started: dict[str, Any]) -> None:
        self.api = api
        self.form = form
        self.started = started
        self.id: str = started["id"]
        self.last: dict[str, Any] = started

    @classmethod
    async def begin(cls, api: Api, form: dict[str, Any], **body: Any) -> Self:
        answer = await api.post(address(form, "conversations"), body)
        assert answer.status == 201, answer
        return cls(api, form, answer.json()["data"])

    def path(self, *rest: str) -> str:
        return address(self.form, "conversations", self.id, *rest)

    async def post(self, content: str = "", **more: Any) -> Response:
        return await self.api.post(self.path("messages"), {"content": content, **more})

    async def say(self, content: str = "", **more: Any) -> dict[str, Any]:
        answer = await self.post(content, **more)
        assert answer.status == 200, answer
        self.last = answer.json()["data"]
        return self.last

    async def stream(self, content: str = "", **more: Any) -> list[tuple[str, int, dict[str, Any]]]:
        answer = await self.api.post(self.path("messages", "stream"), {"content": content, **more})
        assert answer.status == 200, answer
        return events_in(answer.body.decode())

    async def look(self) -> dict[str, Any]:
        answer = await self.api.get(self.path())
        assert answer.status == 200, answer
        return answer.json()["data"]

    async def history(self) -> list[dict[str, Any]]:
        answer = await self.api.get(self.path("messages"))
        assert answer.status == 200, answer
        return answer.json()["data"]

    @property
    def asked(self) -> str | None:
        return self.last["input"]["field_id"] if self.last["input"] else None

    @property
    def captured(self) -> dict[str, Any]:
        return {one["field_id"]: one["value"] for one in self.last["captured"]}

    @property
    def errors(self) -> dict[str, str]:
        return {one["field_id"]: one["message"] for one in self.last["errors"]}

    @property
    def said(self) -> str:
        return self.last["assistant_message"]["content"]


def events_in(text: str) -> list[tuple[str, int, dict[str, Any]]]:
    """Name, number and data of each event."""
    found = []
    for frame in text.split("\n\n"):
        lines = dict(line.split(": ", 1) for line in frame.splitlines() if line[:1] != ":")
        if lines:
            found.append((lines["event"], int(lines["id"]), msgspec.json.decode(lines["data"])))
    return found
