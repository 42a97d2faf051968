"""Agents, what is attached to them and what hangs below them, made through the API."""

from typing import Any

from tests.client import Api, Response


def agent_body(**more: Any) -> dict[str, Any]:
    return {
        "name": "Support",
        "primary_model": "openai/gpt-4o-mini",
        "system_prompt": "You answer questions about the shop.",
        **more,
    }


async def make_agent(api: Api, **more: Any) -> dict[str, Any]:
    answer = await api.post("/api/v1/agents", agent_body(**more))
    assert answer.status == 201, answer
    return answer.json()


async def read_agent(api: Api, agent: dict[str, Any]) -> dict[str, Any]:
    answer = await api.get(f"/api/v1/agents/{agent['id']}")
    assert answer.status == 200, answer
    return answer.json()


async def change_agent(api: Api, agent: dict[str, Any], **changes: Any) -> dict[str, Any]:
    answer = await api.put(f"/api/v1/agents/{agent['id']}", changes)
    assert answer.status == 200, answer
    return answer.json()


async def try_to_attach_tool(api: Api, agent: dict[str, Any], tool: dict[str, Any], **more: Any) -> Response:
    return await api.post(f"/v1/agents/{agent['id']}/tools", {"tool_id": tool["id"], **more})


async def attach_tool(api: Api, agent: dict[str, Any], tool: dict[str, Any], **more: Any) -> dict[str, Any]:
    answer = await try_to_attach_tool(api, agent, tool, **more)
    assert answer.status == 201, answer
    return answer.json()["data"]


async def try_to_attach_agent(
    api: Api, parent: dict[str, Any], child: dict[str, Any], **more: Any
) -> Response:
    path = f"/api/v1/agents/{parent['id']}/sub-agents/attach"
    return await api.post(path, {"agent_id": child["id"], **more})


async def attach_agent(
    api: Api, parent: dict[str, Any], child: dict[str, Any], **more: Any
) -> dict[str, Any]:
    answer = await try_to_attach_agent(api, parent, child, **more)
    assert answer.status == 201, answer
    return answer.json()


async def make_direct_sub_agent(api: Api, parent: dict[str, Any], **more: Any) -> dict[str, Any]:
    body = {**agent_body(name="Translator"), "delegation_prompt": "Translates.", **more}
    answer = await api.post(f"/api/v1/agents/{parent['id']}/sub-agents/direct", body)
    assert answer.status == 201, answer
    return answer.json()


async def versions_of(api: Api, agent: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the versions, newest first."""
    answer = await api.get(f"/api/v1/agents/{agent['id']}/versions", query={"per_page": 100})
    assert answer.status == 200, answer
    return answer.json()["data"]
