"""Embedded models cost nothing: no budget refuses them, and none of their calls pays for another model."""

from typing import Any

import pytest

from retinue.app import Service
from tests.adapters.llm_server import ProviderServer
from tests.client import Api
from tests.conftest import ServiceMaker
from tests.factories.agents import make_agent
from tests.factories.knowledge import School
from tests.factories.weights import fetch_weights
from tests.usage.spending import add_budget, chat, takes

Json = dict[str, Any]
CHAT = "local/smollm2-135m"


@pytest.fixture
async def service(make_service: ServiceMaker) -> Service:
    return await make_service(models_dir=fetch_weights(), embedding_model="")


@pytest.mark.one_service("other processes see a changed budget within seconds")
@pytest.mark.parametrize("action", ["block", "fallback"])
async def test_an_embedded_model_answers_when_all_budgets_are_spent(
    admin: Api, provider: ProviderServer, service: Service, agent: Json, action: str
) -> None:
    takes(provider, 400, 100)
    assert (await chat(admin, agent)).status == 200
    await add_budget(admin, {"type": "tenant"}, limit_usd=0.001, action=action)
    await add_budget(admin, {"type": "tenant"}, limit_tokens=100, action=action)
    assert (await chat(admin, agent)).status == 429
    asked = len(provider.requests)
    free = await make_agent(admin, name="Free", primary_model=CHAT, status="published")
    answer = await chat(admin, free, "Good morning")
    assert (answer.status, answer.json()["model"]) == (200, CHAT), answer
    # Its documents are embedded and searched by an embedded model as well.
    school = School(service, provider)
    (document,) = await school.teach(admin, free, ("a.txt", b"The office closes at six in the evening."))
    assert document["status"] == "indexed"
    (found,) = await school.ask(admin, free, "When does the office close?")
    assert found["document_name"] == "a.txt"
    assert len(provider.requests) == asked
