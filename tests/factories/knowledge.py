"""Agents that are trained through the API, with a model of vectors that a server of the test speaks for."""

from collections.abc import Sequence
from typing import Any

from retinue.app import Service
from tests.adapters.llm_as_openai import BAG_OF_WORDS
from tests.adapters.llm_server import ProviderServer
from tests.client import Api, Response
from tests.factories.agents import make_agent
from tests.factories.providers import add_key_for

EMBEDDING_MODEL = f"openai_compatible/{BAG_OF_WORDS}"

Upload = tuple[str, bytes]


def form(uploads: Sequence[Upload], field: str = "files") -> bytes:
    """Several files in fields of the same name."""
    parts = [
        f'--XXtestXX\r\nContent-Disposition: form-data; name="{field}"; filename="{name}"\r\n'
        f"Content-Type: application/octet-stream\r\n\r\n".encode()
        + content
        + b"\r\n"
        for name, content in uploads
    ]
    return b"".join(parts) + b"--XXtestXX--\r\n"


class School:
    """Trains agents of one person, and runs the jobs that come of it."""

    def __init__(self, service: Service, provider: ProviderServer) -> None:
        self.service = service
        self.provider = provider

    async def admit(self, person: Api, **more: Any) -> dict[str, Any]:
        """An agent in a tenant that has a key for the model of vectors."""
        await add_key_for(person, self.provider)
        return await make_agent(person, **more)

    async def try_to_train(
        self, person: Api, agent: dict[str, Any], *uploads: Upload, field: str = "files", **query: Any
    ) -> Response:
        return await person.post(
            f"/api/v1/agents/{agent['id']}/train",
            query=query,
            content=form(uploads, field),
            headers={"content-type": "multipart/form-data; boundary=XXtestXX"},
        )

    async def train(
        self, person: Api, agent: dict[str, Any], *uploads: Upload, **query: Any
    ) -> dict[str, Any]:
        answer = await self.try_to_train(person, agent, *uploads, **query)
        assert answer.status == 200, answer
        return answer.json()

    async def work(self) -> int:
        """Run the due jobs, and those they enqueue."""
        return await self.service.runner.drain()

    async def teach(self, person: Api, agent: dict[str, Any], *uploads: Upload) -> list[dict[str, Any]]:
        """Train and index; return the documents."""
        started = await self.train(person, agent, *uploads)
        await self.work()
        return [await self.document(person, agent, one["id"]) for one in started["documents"]]

    async def document(self, person: Api, agent: dict[str, Any], id: str) -> dict[str, Any]:
        answer = await person.get(f"/api/v1/agents/{agent['id']}/documents/{id}")
        assert answer.status == 200, answer
        return answer.json()

    async def ask(self, person: Api, agent: dict[str, Any], query: str, **more: Any) -> list[dict[str, Any]]:
        answer = await person.post(f"/api/v1/agents/{agent['id']}/knowledge/search", {"query": query, **more})
        assert answer.status == 200, answer
        return answer.json()["data"]
