"""Talking to an agent as a client does."""

from typing import Any

import msgspec

from tests.adapters.llm_server import ProviderServer
from tests.client import Api, Response


def path_of(agent: dict[str, Any], rest: str = "") -> str:
    return f"/api/v1/agents/{agent['id']}/chat{rest}"


async def say(api: Api, agent: dict[str, Any], message: str = "Hello", **more: Any) -> Response:
    return await api.post(path_of(agent), {"message": message, **more})


async def reply_to(api: Api, agent: dict[str, Any], message: str = "Hello", **more: Any) -> dict[str, Any]:
    answer = await say(api, agent, message, **more)
    assert answer.status == 200, answer
    return answer.json()


async def ask_for_offers(
    api: Api, agent: dict[str, Any], provider: ProviderServer
) -> dict[str, dict[str, Any]]:
    """Return the functions that a turn offers the model, by name."""
    await reply_to(api, agent)
    return {one["function"]["name"]: one["function"] for one in provider.last.json.get("tools", ())}


class Heard(msgspec.Struct):
    event: str
    id: int
    data: dict[str, Any]


def events_of(body: bytes) -> list[Heard]:
    """The events of a stream, without its heartbeats."""
    heard = []
    for block in body.decode().split("\n\n"):
        lines = dict(line.split(": ", 1) for line in block.split("\n") if line and line[0] != ":")
        if lines:
            number = int(lines["id"]) if "id" in lines else 0
            heard.append(Heard(lines["event"], number, msgspec.json.decode(lines["data"])))
    return heard


async def stream(api: Api, agent: dict[str, Any], message: str = "Hello", **more: Any) -> list[Heard]:
    answer = await api.post(path_of(agent, "/stream"), {"message": message, **more})
    assert answer.status == 200, answer
    return events_of(answer.body)


def text_of(heard: list[Heard]) -> str:
    return "".join(one.data["delta"] for one in heard if one.event == "content_delta")


async def messages_of(api: Api, conversation_id: str) -> list[dict[str, Any]]:
    answer = await api.get(f"/api/v1/conversations/{conversation_id}/messages", query={"per_page": 100})
    assert answer.status == 200, answer
    return answer.json()["data"]


async def logs_of(api: Api, agent: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the logs, newest first."""
    answer = await api.get(f"/api/v1/agents/{agent['id']}/logs")
    assert answer.status == 200, answer
    return answer.json()["data"]


async def go_on(api: Api, agent: dict[str, Any], provider: ProviderServer) -> None:
    """Check that the conversation of the newest turn can be continued."""
    provider.faults.clear()
    provider.replies.clear()
    provider.says("Fine again.")
    conversation_id = (await logs_of(api, agent))[0]["conversation_id"]
    reply = await reply_to(api, agent, "And now?", conversation_id=conversation_id)
    assert reply["message"]["content"] == "Fine again."
    stored = await messages_of(api, conversation_id)
    assert [one["content"] for one in stored][-2:] == ["And now?", "Fine again."]
    assert provider.last.json["messages"][-1]["content"].endswith("And now?")
