"""Calls about the draft of an agent."""

from typing import Any

from tests.client import Api, Response

Json = dict[str, Any]


def path_of(agent: Json, rest: str = "/draft") -> str:
    return f"/api/v1/agents/{agent['id']}{rest}"


async def draft_of(api: Api, agent: Json) -> Json:
    answer = await api.get(path_of(agent))
    assert answer.status == 200, answer
    return answer.json()


async def try_to_save(api: Api, agent: Json, if_match: str = "", **snapshot: Any) -> Response:
    headers = {"if-match": if_match} if if_match else {}
    return await api.put(path_of(agent), {"snapshot": snapshot}, headers=headers)


async def save(api: Api, agent: Json, **snapshot: Any) -> Json:
    answer = await try_to_save(api, agent, **snapshot)
    assert answer.status == 200, answer
    return answer.json()


async def publish(api: Api, agent: Json, **body: Any) -> Json:
    answer = await api.post(path_of(agent, "/publish"), {"from_draft": True, **body})
    assert answer.status == 200, answer
    return answer.json()


async def differences(api: Api, agent: Json, version: str | int = "draft", **query: Any) -> dict[str, Any]:
    answer = await api.get(path_of(agent, f"/versions/{version}/diff"), query=query)
    assert answer.status == 200, answer
    return {one["path"]: (one["from"], one["to"]) for one in answer.json()["data"]}
