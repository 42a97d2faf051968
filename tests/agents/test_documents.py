"""The documents of an agent: listed, read, changed and deleted, by those who may."""

from typing import Any

import pytest

from retinue.access.models import Role
from retinue.app import Service
from tests.conftest import ServiceMaker
from tests.factories.agents import make_agent
from tests.factories.knowledge import EMBEDDING_MODEL

PUMP = ("pump.txt", b"The pump runs dry.")
NOTES = ("notes.md", b"# Notes\n\nThe tank is empty.")


@pytest.fixture
async def service(make_service: ServiceMaker) -> Service:
    return await make_service(embedding_model=EMBEDDING_MODEL)


def path(agent: dict[str, Any], document_id: str = "") -> str:
    return f"/api/v1/agents/{agent['id']}/documents" + (f"/{document_id}" if document_id else "")


async def test_a_document_is_shown_with_all_that_is_known_of_it(school: Any, person: Any, agent: Any) -> None:
    (document,) = await school.teach(person, agent, NOTES)
    assert document == {
        "id": document["id"],
        "name": "notes.md",
        "status": "indexed",
        "mime_type": "text/markdown",
        "size_bytes": len(NOTES[1]),
        "error": None,
        "chunk_count": 1,
        "chunks_done": 1,
        "chunks_total": 1,
        "metadata": {},
        "enabled": True,
        "created_at": document["created_at"],
        "updated_at": document["updated_at"],
        "indexed_at": document["indexed_at"],
    }
    assert document["id"].startswith("doc_")


async def test_documents_are_listed_searched_and_filtered(school: Any, person: Any, agent: Any) -> None:
    assert (await person.get(path(agent))).json() == {
        "data": [],
        "pagination": {"page": 1, "per_page": 20, "total": 0, "total_pages": 0},
    }
    await school.teach(person, agent, PUMP, NOTES, ("empty.txt", b" "))
    listed = (await person.get(path(agent), query={"sort": "name"})).json()
    assert [one["name"] for one in listed["data"]] == ["empty.txt", "notes.md", "pump.txt"]
    failed = (await person.get(path(agent), query={"status": "failed"})).json()["data"]
    assert [(one["name"], one["error"]["code"]) for one in failed] == [("empty.txt", "empty_document")]
    assert [
        one["name"] for one in (await person.get(path(agent), query={"search": "PUM"})).json()["data"]
    ] == ["pump.txt"]
    assert (await person.get(path(agent), query={"status": "lost"})).status == 422


async def test_another_agents_document_is_not_there(school: Any, person: Any, agent: Any) -> None:
    (document,) = await school.teach(person, agent, PUMP)
    other = await make_agent(person, name="Other")
    for method, where, body in (
        ("GET", path(other, document["id"]), None),
        ("PATCH", path(other, document["id"]), {"enabled": False}),
        ("DELETE", path(other, document["id"]), None),
        ("POST", path(other, document["id"]) + "/reindex", {}),
        ("GET", path(agent, "doc_nothing"), None),
    ):
        answer = await person.request(method, where, json=body)
        assert (answer.status, answer.code) == (404, "document_not_found"), (method, where)
    assert (await school.document(person, agent, document["id"]))["enabled"] is True
    assert await school.ask(person, other, "pump") == []


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"metadata": "x"}, "metadata"),
        ({"metadata": {"a": "x" * 5000}}, "metadata"),
        ({"enabled": "yes"}, "enabled"),
        ({"enabled": None}, "enabled"),
    ],
)
async def test_changes_that_make_no_sense_are_refused(
    school: Any, person: Any, agent: Any, body: Any, field: str
) -> None:
    (document,) = await school.teach(person, agent, PUMP)
    answer = await person.patch(path(agent, document["id"]), body)
    assert (answer.status, answer.code) == (422, "validation_error")
    assert field in answer.details


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "query"),
        ({"query": ""}, "query"),
        ({"query": "x" * 32_001}, "query"),
        ({"query": "x", "top_k": 0}, "top_k"),
        ({"query": "x", "top_k": 51}, "top_k"),
        ({"query": "x", "filters": {"a": [1]}}, "filters"),
        ({"query": "x", "filters": {str(number): 1 for number in range(21)}}, "filters"),
    ],
)
async def test_searches_that_make_no_sense_are_refused(
    person: Any, agent: Any, body: Any, field: str
) -> None:
    answer = await person.post(f"/api/v1/agents/{agent['id']}/knowledge/search", body)
    assert (answer.status, answer.code) == (422, "validation_error"), answer
    assert any(name.startswith(field) for name in answer.details)


async def test_an_agent_that_knows_nothing_finds_nothing(school: Any, person: Any, agent: Any) -> None:
    assert await school.ask(person, agent, "pump") == []


async def test_a_viewer_reads_and_searches_but_changes_nothing(
    school: Any, person: Any, agent: Any, people: Any
) -> None:
    (document,) = await school.teach(person, agent, PUMP)
    viewer = await people.signed_in(Role.viewer)
    assert (await viewer.get(path(agent))).status == 200
    assert (await viewer.get(path(agent, document["id"]))).status == 200
    assert (await school.ask(viewer, agent, "pump runs dry"))[0]["document_name"] == "pump.txt"
    assert (await viewer.patch(path(agent, document["id"]), {"enabled": False})).status == 403
    assert (await viewer.delete(path(agent, document["id"]))).status == 403
    assert (await viewer.post(path(agent, document["id"]) + "/reindex")).status == 403


async def test_metadata_is_replaced_as_a_whole(school: Any, person: Any, agent: Any) -> None:
    (document,) = await school.teach(person, agent, PUMP)
    for metadata in ({"year": 2024, "tags": ["a"]}, {"year": 2025}, {}):
        answer = await person.patch(path(agent, document["id"]), {"metadata": metadata})
        assert (answer.status, answer.json()["metadata"]) == (200, metadata)
    assert (await person.patch(path(agent, document["id"]), {})).json()["enabled"] is True
