"""Chats that are answered in the background."""

from typing import Any

from tests.chat.speaking import path_of
from tests.client import Api


async def accept(api: Api, agent: dict[str, Any], message: str = "Hello", **more: Any) -> dict[str, Any]:
    answer = await api.post(path_of(agent, "/async"), {"message": message, **more})
    assert answer.status == 202, answer
    assert answer.headers["location"] == answer.json()["status_url"]
    return answer.json()


async def job_of(api: Api, agent: dict[str, Any], job: dict[str, Any], **query: Any) -> dict[str, Any]:
    answer = await api.get(path_of(agent, f"/jobs/{job['job_id']}"), query=query)
    assert answer.status == 200, answer
    return answer.json()
