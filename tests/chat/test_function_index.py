"""Vectors of functions are made by a job, never by the turn that searches them."""

import pytest

from retinue.app import Service
from retinue.chat.engine.function_vectors import FunctionVector
from retinue.chat.engine.tool_search import FunctionIndexes
from retinue.kit.clock import ManualClock
from tests.adapters.llm_as_openai import BAG_OF_WORDS
from tests.adapters.llm_server import ProviderServer, refusing
from tests.chat.many_tools import Json, attach_tools, endpoints, search_functions
from tests.client import Api
from tests.conftest import ServiceMaker
from tests.factories.agents import attach_tool, change_agent, make_agent
from tests.factories.knowledge import EMBEDDING_MODEL
from tests.factories.people import People
from tests.factories.providers import add_key_for
from tests.factories.tools import make_tool
from tests.services import instances_of
from tests.tools.servers.rest_api import RestApi


@pytest.fixture
async def service(make_service: ServiceMaker) -> Service:
    return await make_service(embedding_model=EMBEDDING_MODEL)


@pytest.fixture
async def agent(admin: Api, provider: ProviderServer) -> Json:
    await add_key_for(admin, provider, models=["test-model", BAG_OF_WORDS])
    return await make_agent(admin, primary_model="openai_compatible/test-model", status="published")


def embedded_counts(provider: ProviderServer) -> list[int]:
    """Return the number of texts in each call of the embedding model."""
    return [len(one.json["input"]) for one in provider.requests if one.path.endswith("/embeddings")]


def start_anew(service: Service) -> None:
    """Forget what the processes have in memory."""
    for instance in instances_of(service):
        instance.states[FunctionIndexes] = FunctionIndexes()


async def count_vectors(people: People, admin: Api) -> int:
    async with people.context((await people.default_tenant()).id) as ctx:
        return await ctx.db.count(FunctionVector)


async def test_a_turn_embeds_only_its_question(
    service: Service, people: People, admin: Api, agent: Json, provider: ProviderServer, remote: RestApi
) -> None:
    await attach_tools(admin, agent, remote)
    assert await search_functions(admin, agent, provider, "create refund")
    assert embedded_counts(provider) == []
    await service.runner.drain()
    assert sum(embedded_counts(provider)) == 200
    assert await count_vectors(people, admin) == 200
    provider.requests.clear()
    start_anew(service)
    for _ in range(2):
        assert "shop__create_refund" in await search_functions(admin, agent, provider, "create refund")
    assert embedded_counts(provider) == [1, 1]


async def test_only_what_is_new_is_embedded_after_a_change(
    service: Service, admin: Api, agent: Json, provider: ProviderServer, remote: RestApi
) -> None:
    await attach_tools(admin, agent, remote)
    await service.runner.drain()
    provider.requests.clear()
    config = {"base_url": remote.url, "endpoints": endpoints(("letter",))}
    tool = await make_tool(admin, name="Post", description="The post", config=config)
    await attach_tool(admin, agent, tool)
    await service.runner.drain()
    assert embedded_counts(provider) == [5]
    config["endpoints"]["list_letter"]["description"] = "Lists everything that came in an envelope."
    changed = await admin.put(f"/v1/tools/{tool['id']}", {"config": config})
    assert changed.status == 200, changed
    await service.runner.drain()
    assert embedded_counts(provider) == [5, 1]
    assert "post__list_letter" in await search_functions(admin, agent, provider, "what came in an envelope")


async def test_an_agent_that_searches_nothing_has_nothing_embedded(
    service: Service, admin: Api, agent: Json, provider: ProviderServer, remote: RestApi
) -> None:
    config = {"base_url": remote.url, "endpoints": endpoints(("letter",))}
    await attach_tool(admin, agent, await make_tool(admin, name="Post", config=config))
    await service.runner.drain()
    assert embedded_counts(provider) == []
    await change_agent(admin, agent, tool_search="always")
    await service.runner.drain()
    assert embedded_counts(provider) == [5]


async def test_a_job_that_failed_is_repeated(
    service: Service,
    people: People,
    admin: Api,
    agent: Json,
    provider: ProviderServer,
    remote: RestApi,
    clock: ManualClock,
) -> None:
    provider.fails(*[refusing(503)] * 100)
    await attach_tools(admin, agent, remote)
    await service.runner.drain()
    assert await count_vectors(people, admin) == 0
    provider.faults.clear()
    clock.advance(7200)
    await service.runner.drain()
    assert await count_vectors(people, admin) == 200


async def test_a_search_without_vectors_asks_for_them(
    service: Service, people: People, admin: Api, agent: Json, provider: ProviderServer, remote: RestApi
) -> None:
    await attach_tools(admin, agent, remote)
    await service.runner.drain()
    async with people.context((await people.default_tenant()).id) as ctx:
        for vector in await ctx.db.all(FunctionVector):
            await ctx.db.delete(vector)
    start_anew(service)
    provider.requests.clear()
    assert "shop__create_refund" in await search_functions(admin, agent, provider, "create refund")
    assert embedded_counts(provider) == []
    await service.runner.drain()
    assert sum(embedded_counts(provider)) == 200
