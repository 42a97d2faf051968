"""Sources of a reply: a visitor sees those that it cites, and none where the owner hides them."""

from typing import Any

import pytest

from retinue.app import Service
from tests.adapters.llm_server import KEY, ProviderServer
from tests.client import Api
from tests.embed.keys import Holder
from tests.factories.knowledge import EMBEDDING_MODEL, School

SESSION = "5f2b8c0e9d7a4136b8e2c4d6f8a0b1c3"


@pytest.fixture
async def service(make_service: Any) -> Service:
    return await make_service(embedding_model=EMBEDDING_MODEL)


async def sources_of_reply(
    holder: Holder, provider: ProviderServer, reply: str
) -> list[list[dict[str, Any]]]:
    """The sources of the same reply: as a whole, as a stream, and read back."""
    provider.says(reply)
    whole = (await holder.say("How much is the tea?", session_id=SESSION)).json()
    provider.says(reply)
    heard = await holder.hear("How much is the tea?", session_id=SESSION)
    path = holder.path.removesuffix("/chat") + "/transcript"
    read = await holder.api.post(path, {"session_id": SESSION}, headers=holder.headers)
    return [whole["sources"], heard[-1].data["sources"], read.json()["messages"][-1]["sources"]]


async def test_a_visitor_sees_only_what_the_reply_cites_unless_its_owner_hides_it(
    service: Service, admin: Api, agent: dict[str, Any], holder: Holder, provider: ProviderServer
) -> None:
    vectors = {"provider": "openai_compatible", "name": "Vectors", "api_key": KEY}
    models = [EMBEDDING_MODEL.partition("/")[2]]
    await admin.post("/api/v1/api-keys", {**vectors, "base_url": f"{provider.url}/v1", "models": models})
    school = School(service, provider)
    prices = [(f"prices-{year}.txt", f"The tea costs {year} cents.".encode()) for year in (11, 12)]
    await school.teach(admin, agent, *prices)
    for sources in await sources_of_reply(holder, provider, "It depends [2]."):
        assert [one["index"] for one in sources] == [2]
        assert sources[0]["chunk_preview"].startswith("The tea costs")
    assert await sources_of_reply(holder, provider, "I do not know.") == [[], [], []]
    await admin.put(f"/api/v1/agents/{agent['id']}/widget", {"show_sources": False})
    assert await sources_of_reply(holder, provider, "It depends [1, 2].") == [[], [], []]
