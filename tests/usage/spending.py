"""Spending something, and asking what was spent."""

from typing import Any

from retinue.app import Service
from retinue.usage.request_counts import RequestCounts
from tests.adapters.llm_server import ProviderServer
from tests.client import Api, Response
from tests.services import instances_of

USAGE = "/api/v1/usage"
BUDGETS = "/api/v1/budgets"


async def chat(api: Api, agent: dict[str, Any], message: str = "Hello", **more: Any) -> Response:
    return await api.post(f"/api/v1/agents/{agent['id']}/chat", {"message": message, **more})


def takes(provider: ProviderServer, prompt: int, completion: int, text: str = "Done.") -> None:
    """Let the provider's next reply count as this many tokens."""
    total = prompt + completion
    usage = {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": total}
    provider.says(text, usage=usage)


async def store_counts(service: Service) -> None:
    """Store the counts, as every process does after a few seconds."""
    for instance in instances_of(service):
        await instance.states[RequestCounts].store()


async def usage(api: Api, **query: Any) -> dict[str, Any]:
    answer = await api.get(USAGE, query=query)
    assert answer.status == 200, answer
    return answer.json()


async def add_budget(api: Api, scope: dict[str, Any], **more: Any) -> dict[str, Any]:
    answer = await api.post(BUDGETS, {"scope": scope, **more})
    assert answer.status == 201, answer
    return answer.json()


async def spent(api: Api) -> dict[str, float]:
    return {one["id"]: one["spent"] for one in (await api.get(BUDGETS)).json()["data"]}
