"""Without an embedding model documents are found by their words; with one, by what is indexed again."""

import dataclasses
from typing import Any

import pytest

from retinue.knowledge import embedding, service
from retinue.knowledge.embedding import NO_MODEL, default_embedding_model
from retinue.knowledge.models import KnowledgeBase
from tests.factories.knowledge import EMBEDDING_MODEL

PUMP = ("pump.txt", b"The pump runs dry when the tank is empty.")
DOOR = ("door.txt", b"The door of the boiler room is locked at night.")


@pytest.fixture
def no_model(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Makes the embedding model unavailable; undoing the patch brings it back."""
    monkeypatch.setattr(service, "default_embedding_model", lambda _settings: NO_MODEL)
    return monkeypatch


@pytest.fixture
async def agent(school: Any, person: Any) -> Any:
    return await school.admit(person)


async def base_of(people: Any) -> KnowledgeBase:
    async with people.context() as ctx:
        (base,) = await ctx.system("test").all(KnowledgeBase)
        return base


async def search_names(school: Any, person: Any, agent: Any, query: str) -> list[tuple[str, bool]]:
    """Return the names of the found documents, and whether vectors were used."""
    rows = await school.ask(person, agent, query, explain=True)
    return [(row["document_name"], row["explanation"]["similarity"] is not None) for row in rows]


async def test_words_find_a_document_that_has_no_vectors(
    school: Any, person: Any, agent: Any, people: Any, provider: Any, no_model: Any
) -> None:
    (document,) = await school.teach(person, agent, PUMP)
    assert document["status"] == "indexed"
    assert not [request for request in provider.requests if "embeddings" in request.path]
    base = await base_of(people)
    assert (base.embedding_model, base.dimensions) == (NO_MODEL, 0)
    assert await search_names(school, person, agent, "When does the pump run dry?") == [("pump.txt", False)]
    assert await search_names(school, person, agent, "Who was Napoleon?") == []


async def test_with_a_model_new_and_reindexed_documents_get_vectors(
    school: Any, person: Any, agent: Any, people: Any, no_model: Any
) -> None:
    (pump,) = await school.teach(person, agent, PUMP)
    no_model.undo()
    await school.train(person, agent, DOOR)
    # The base has a model now, but no vectors until the job has run.
    assert await search_names(school, person, agent, "pump dry tank") == [("pump.txt", False)]
    await school.work()
    base = await base_of(people)
    assert base.embedding_model == EMBEDDING_MODEL
    assert base.dimensions > 0
    assert ("door.txt", True) in await search_names(school, person, agent, "the boiler room door at night")
    assert ("pump.txt", True) in await search_names(school, person, agent, "pump dry tank empty runs")
    path = f"/api/v1/agents/{agent['id']}/documents/{pump['id']}"
    before = await school.ask(person, agent, "pump dry tank empty runs", explain=True)
    assert (await person.post(f"{path}/reindex")).status == 202
    await school.work()
    after = await school.ask(person, agent, "pump dry tank empty runs", explain=True)
    assert after[0]["document_name"] == "pump.txt"
    similarity = [rows[0]["explanation"]["similarity"] for rows in (before, after)]
    assert similarity[1] > similarity[0] == 0


async def test_what_has_no_vectors_is_found_after_the_others_are_gone(
    school: Any, person: Any, agent: Any, no_model: Any
) -> None:
    await school.teach(person, agent, PUMP)
    no_model.undo()
    (door,) = await school.teach(person, agent, DOOR)
    assert (await person.delete(f"/api/v1/agents/{agent['id']}/documents/{door['id']}")).status == 204
    assert await search_names(school, person, agent, "pump dry tank") == [("pump.txt", False)]


async def test_the_default_is_the_embedded_model_if_it_is_installed(
    service: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = service.instance.settings
    assert default_embedding_model(settings) == EMBEDDING_MODEL
    monkeypatch.setattr(embedding, "is_installed", lambda _extra: False)
    assert default_embedding_model(settings) == EMBEDDING_MODEL
    bare = dataclasses.replace(settings, embedding_model="")
    assert default_embedding_model(bare) == NO_MODEL
    monkeypatch.undo()
    assert default_embedding_model(bare) == embedding.EMBEDDED_MODEL
