"""Tests of a search in a knowledge base: passages that it finds, and that it must not find."""

from typing import Any

import pytest

from retinue.kit.context import Context
from retinue.knowledge import retrieval, vector_index
from retinue.knowledge.vector_index import IndexCache
from retinue.usage.model_call import FreeCall
from tests.adapters.llm_server import refusing

RETURNS = ("returns.md", b"# Returns\n\nGoods may be sent back within thirty days of delivery.\n")
CODES = ("codes.txt", b"Error E-4417/B means that the pump runs dry.")
FILTERS = ("filters.txt", b"Error E-9921/C means that a filter is blocked.")


async def search_names(school: Any, person: Any, agent: Any, query: str, **more: Any) -> list[str]:
    return [one["document_name"] for one in await school.ask(person, agent, query, **more)]


@pytest.fixture
async def agent(school: Any, person: Any) -> Any:
    made = await school.admit(person)
    documents = await school.teach(person, made, RETURNS, CODES, FILTERS)
    assert [one["status"] for one in documents] == ["indexed"] * 3, documents
    return {**made, "documents": {one["name"]: one for one in documents}}


async def test_a_passage_is_found_with_its_place_and_a_score(school: Any, person: Any, agent: Any) -> None:
    (found, *_) = await school.ask(person, agent, "When may goods be sent back?")
    assert found["document_id"] == agent["documents"]["returns.md"]["id"]
    assert found["document_name"] == "returns.md"
    assert found["heading"] == "Returns"
    assert found["page"] is None
    assert found["chunk_id"].startswith("chk_")
    assert "thirty days" in found["chunk_preview"]
    assert retrieval.MIN_RELEVANCE < found["relevance_score"] <= 1


@pytest.mark.parametrize("query", ["E-4417/B", "e4417b", "what is error 4417?", "4417"])
async def test_a_code_is_found_however_it_is_written(
    school: Any, person: Any, agent: Any, query: str
) -> None:
    assert (await search_names(school, person, agent, query))[0] == "codes.txt"


async def test_what_is_about_something_else_is_not_found(school: Any, person: Any, agent: Any) -> None:
    assert await search_names(school, person, agent, "zebras yodel quietly") == []


async def test_the_best_come_first_and_no_more_than_asked_for(school: Any, person: Any, agent: Any) -> None:
    every = await school.ask(person, agent, "error means pump")
    scores = [one["relevance_score"] for one in every]
    assert scores == sorted(scores, reverse=True)
    assert len(every) >= 2
    assert await school.ask(person, agent, "error means pump", top_k=1) == every[:1]


@pytest.mark.parametrize(
    "query",
    [
        '"',
        "'; DROP TABLE chunks; --",
        "NEAR(a b) OR *",
        "pump) OR (filter",
        "a:b ^ -c",
        "水",
        "😀 \u202e",
    ],
)
async def test_a_query_is_never_a_command(school: Any, person: Any, agent: Any, query: str) -> None:
    answer = await person.post(f"/api/v1/agents/{agent['id']}/knowledge/search", {"query": query})
    assert answer.status == 200, answer
    assert (await search_names(school, person, agent, "E-4417/B"))[0] == "codes.txt"


async def test_a_document_that_is_switched_off_is_not_searched(school: Any, person: Any, agent: Any) -> None:
    path = f"/api/v1/agents/{agent['id']}/documents/{agent['documents']['codes.txt']['id']}"
    assert (await person.patch(path, {"enabled": False})).json()["enabled"] is False
    assert "codes.txt" not in await search_names(school, person, agent, "E-4417/B means the pump runs dry")
    assert (await person.patch(path, {"enabled": True})).status == 200
    assert "codes.txt" in await search_names(school, person, agent, "E-4417/B means the pump runs dry")


async def test_filters_compare_metadata_and_the_document(school: Any, person: Any, agent: Any) -> None:
    documents = agent["documents"]
    for name, metadata in (("codes.txt", {"year": 2024, "draft": True}), ("filters.txt", {"year": 2025})):
        path = f"/api/v1/agents/{agent['id']}/documents/{documents[name]['id']}"
        assert (await person.patch(path, {"metadata": metadata})).status == 200
    query = "error means"
    assert set(await search_names(school, person, agent, query)) >= {"codes.txt", "filters.txt"}
    for filters, names in (
        ({"year": 2025}, ["filters.txt"]),
        ({"year": 2024, "draft": True}, ["codes.txt"]),
        ({"draft": 1}, []),
        ({"year": "2025"}, []),
        ({"document_id": documents["codes.txt"]["id"]}, ["codes.txt"]),
    ):
        assert await search_names(school, person, agent, query, filters=filters) == names, filters


async def test_words_alone_find_what_is_named_while_the_model_is_away(
    school: Any, person: Any, agent: Any, provider: Any
) -> None:
    provider.fails(*[refusing(500)] * 5)
    assert await search_names(school, person, agent, "E-4417/B") == ["codes.txt"]


async def test_a_deleted_document_is_gone_with_the_answer(school: Any, person: Any, agent: Any) -> None:
    assert (await search_names(school, person, agent, "E-4417/B"))[0] == "codes.txt"
    path = f"/api/v1/agents/{agent['id']}/documents/{agent['documents']['codes.txt']['id']}"
    assert (await person.delete(path)).status == 204
    assert "codes.txt" not in await search_names(school, person, agent, "E-4417/B the pump runs dry")
    await school.work()
    assert "codes.txt" not in await search_names(school, person, agent, "E-4417/B the pump runs dry")


async def test_a_document_deleted_while_it_is_searched_for_is_not_answered_with(
    school: Any, person: Any, agent: Any, monkeypatch: Any
) -> None:
    """The deletion comes between the ranking and the reading of what it chose."""
    path = f"/api/v1/agents/{agent['id']}/documents/{agent['documents']['codes.txt']['id']}"
    ranked, read = [], retrieval._passages

    async def deleted_before_reading(reader: Context, base_id: str, hits: Any, top_k: int) -> Any:
        ranked.extend(hits)
        assert (await person.delete(path)).status == 204
        return await read(reader, base_id, hits, top_k)

    monkeypatch.setattr(retrieval, "_passages", deleted_before_reading)
    assert "codes.txt" not in await search_names(school, person, agent, "E-4417/B the pump runs dry")
    assert ranked


@pytest.mark.one_service("plays the other process itself")
async def test_another_process_finds_what_this_one_has_changed(
    school: Any, person: Any, agent: Any, service: Any
) -> None:
    """Its memory of the base is older than the base, which it notices."""
    elsewhere = IndexCache()
    here = service.instance.adapters
    here[IndexCache] = elsewhere
    assert (await search_names(school, person, agent, "E-4417/B"))[0] == "codes.txt"
    here[IndexCache] = IndexCache()
    path = f"/api/v1/agents/{agent['id']}/documents/{agent['documents']['codes.txt']['id']}"
    assert (await person.delete(path)).status == 204
    await school.teach(person, agent, ("new.txt", b"Error E-5000/D means a leak."))
    here[IndexCache] = elsewhere
    names = await search_names(school, person, agent, "error E-5000/D E-4417/B")
    assert names[0] == "new.txt"
    assert "codes.txt" not in names


@pytest.mark.one_service("counts what one process reads")
async def test_only_new_documents_are_read_again(
    school: Any, person: Any, agent: Any, monkeypatch: Any
) -> None:
    read: list[str] = []
    blocks = vector_index._blocks

    async def counted(reader: Context, part: Any) -> Any:
        read.extend(part.document_ids)
        return await blocks(reader, part)

    monkeypatch.setattr(vector_index, "_blocks", counted)
    await school.ask(person, agent, "pump")
    assert len(read) == 3
    (new,) = await school.teach(person, agent, ("new.txt", b"Error E-5000/D means a leak."))
    await school.ask(person, agent, "pump")
    assert read[3:] == [new["id"]]
    await school.ask(person, agent, "pump")
    assert len(read) == 4


@pytest.mark.one_service("looks into the memory of one process")
async def test_memory_is_bounded(school: Any, people: Any, provider: Any, person: Any, service: Any) -> None:
    service.instance.states[IndexCache] = cache = IndexCache(most_bytes=1)
    first, second = await school.admit(person), await school.admit(person, name="Other")
    for agent in (first, second):
        await school.teach(person, agent, CODES)
        assert await search_names(school, person, agent, "E-4417/B") == ["codes.txt"]
    assert len(cache._indexes) == 1
    assert not cache._locks
    assert await search_names(school, person, first, "E-4417/B") == ["codes.txt"]


async def test_nothing_is_searched_inside_a_transaction(people: Any, person: Any) -> None:
    async with people.context(person.user.tenant_id) as ctx:
        await ctx.unit_of_work.begin()
        with pytest.raises(RuntimeError):
            await retrieval.search(ctx, "kb_x", "anything", hold=FreeCall())
        await ctx.rollback()


@pytest.mark.one_service("counts what one process reads")
async def test_many_and_large_documents_are_read_in_parts(school: Any, person: Any, monkeypatch: Any) -> None:
    """Every passage is read once, however the documents are grouped."""
    monkeypatch.setattr(vector_index, "_CHUNKS_AT_ONCE", 64)
    monkeypatch.setattr(vector_index, "_DOCUMENTS_AT_ONCE", 3)
    parts, blocks = [], vector_index._blocks

    async def counted(reader: Context, part: Any) -> Any:
        parts.append(part)
        return await blocks(reader, part)

    monkeypatch.setattr(vector_index, "_blocks", counted)
    made = await school.admit(person)
    large = "\n\n".join(f"## Part {number}\n\nThe code is LG-{number:04}." for number in range(150))
    small = [(f"small-{number}.txt", f"The code is SM-{number:04}.".encode()) for number in range(7)]
    await school.teach(person, made, ("large.md", large.encode()), *small)
    for number in (0, 63, 64, 149):
        (found, *_) = await school.ask(person, made, f"LG-{number:04}", top_k=1)
        assert f"LG-{number:04}" in found["chunk_preview"]
    for number in range(7):
        (found, *_) = await school.ask(person, made, f"SM-{number:04}", top_k=1)
        assert found["document_name"] == f"small-{number}.txt"
    assert sorted(len(part.document_ids) for part in parts) == [1, 1, 1, 1, 3, 3]


@pytest.mark.parametrize("large", [1, 10_000])
async def test_a_large_base_is_searched_in_a_thread_with_the_same_result(
    school: Any, person: Any, agent: Any, monkeypatch: Any, large: int
) -> None:
    for module in (vector_index, retrieval):
        monkeypatch.setattr(module, "THREADED_MIN_CHUNKS", large)
    assert (await search_names(school, person, agent, "E-4417/B"))[0] == "codes.txt"
