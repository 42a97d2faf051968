"""The passages of a document, many documents at once, and why a passage was found."""

from typing import Any

import pytest

from retinue.access.models import Role
from retinue.app import Service
from tests.conftest import ServiceMaker
from tests.factories.agents import make_agent
from tests.factories.knowledge import EMBEDDING_MODEL

PUMP = ("pump.txt", b"The pump runs dry.")
TANK = ("tank.txt", b"The tank is empty.")
SHELVES = [(f"{number}.txt", f"Shelf {number} holds paper.".encode()) for number in range(8)]
GUIDE = "# Guide\n\n" + "\n\n".join(
    f"## Part {number}\n\n" + f"Step {number} turns valve {number}. " * 30 for number in range(1, 8)
)


@pytest.fixture
async def service(make_service: ServiceMaker) -> Service:
    return await make_service(embedding_model=EMBEDDING_MODEL)


def chunks(agent: dict[str, Any], document_id: str) -> str:
    return f"/api/v1/agents/{agent['id']}/documents/{document_id}/chunks"


def batch(agent: dict[str, Any]) -> str:
    return f"/api/v1/agents/{agent['id']}/documents/batch"


async def test_the_passages_of_a_document_are_read_page_by_page(school: Any, person: Any, agent: Any) -> None:
    document, other = await school.teach(person, agent, ("guide.md", GUIDE.encode()), PUMP)
    first = (await person.get(chunks(agent, document["id"]), query={"per_page": "3"})).json()
    assert first["pagination"] == {"page": 1, "per_page": 3, "total": 7, "total_pages": 3}
    rest = [
        (await person.get(chunks(agent, document["id"]), query={"per_page": "3", "page": page})).json()[
            "data"
        ]
        for page in ("2", "3")
    ]
    passages = [*first["data"], *rest[0], *rest[1]]
    assert [one["position"] for one in passages] == list(range(1, 8))
    assert [one["heading"] for one in passages] == [f"Guide > Part {number}" for number in range(1, 8)]
    assert passages[3]["text"].startswith("Step 4 turns valve 4.")
    assert set(passages[0]) == {"id", "position", "page", "heading", "text"}
    (single,) = (await person.get(chunks(agent, other["id"]))).json()["data"]
    assert (single["text"], single["page"], single["heading"]) == ("The pump runs dry.", None, None)
    # The same passage has the same id in a search.
    (found, *_) = await school.ask(person, agent, "pump runs dry")
    assert found["chunk_id"] == single["id"]


async def test_passages_are_those_that_are_searched(school: Any, person: Any, agent: Any) -> None:
    started = await school.train(person, agent, PUMP)
    document_id = started["documents"][0]["id"]
    empty = (await person.get(chunks(agent, document_id))).json()
    assert (empty["data"], empty["pagination"]["total"]) == ([], 0)
    await school.work()
    (before,) = (await person.get(chunks(agent, document_id))).json()["data"]
    await person.post(f"/api/v1/agents/{agent['id']}/documents/{document_id}/reindex")
    (meanwhile,) = (await person.get(chunks(agent, document_id))).json()["data"]
    assert meanwhile == before
    await school.work()
    (after,) = (await person.get(chunks(agent, document_id))).json()["data"]
    assert (after["text"], after["id"] != before["id"]) == (before["text"], True)


async def test_passages_of_another_agents_document_are_not_there(
    school: Any, person: Any, agent: Any
) -> None:
    (document,) = await school.teach(person, agent, PUMP)
    other = await make_agent(person, name="Other")
    for path in (chunks(other, document["id"]), chunks(agent, "doc_nothing")):
        answer = await person.get(path)
        assert (answer.status, answer.code) == (404, "document_not_found")


async def test_many_documents_change_at_once(school: Any, person: Any, agent: Any) -> None:
    pump, tank = await school.teach(person, agent, PUMP, TANK)
    ids = [pump["id"], tank["id"]]
    answer = await person.post(batch(agent), {"action": "disable", "ids": [*ids, pump["id"]]})
    assert (answer.status, answer.json()["summary"]) == (200, {"total": 2, "succeeded": 2, "failed": 0})
    assert [one["result"]["enabled"] for one in answer.json()["data"]] == [False, False]
    assert await school.ask(person, agent, "pump runs dry") == []
    await person.post(batch(agent), {"action": "enable", "ids": ids})
    assert (await school.ask(person, agent, "pump runs dry"))[0]["document_id"] == pump["id"]
    queued = (await person.post(batch(agent), {"action": "reindex", "ids": ids})).json()["data"]
    assert [(one["status"], one["result"]["status"]) for one in queued] == [(202, "pending")] * 2
    await school.work()
    removed = (await person.post(batch(agent), {"action": "delete", "ids": ids})).json()["data"]
    assert [(one["op"], one["status"], one["result"]) for one in removed] == [("delete", 204, None)] * 2
    listed = (await person.get(f"/api/v1/agents/{agent['id']}/documents")).json()
    assert listed["pagination"]["total"] == 0


async def test_an_unknown_document_fails_alone(school: Any, person: Any, agent: Any) -> None:
    (pump,) = await school.teach(person, agent, PUMP)
    other = await school.admit(person, name="Other")
    (foreign,) = await school.teach(person, other, TANK)
    ids = ["doc_nothing", foreign["id"], pump["id"]]
    answer = await person.post(batch(agent), {"action": "delete", "ids": ids})
    assert (answer.status, answer.json()["summary"]) == (207, {"total": 3, "succeeded": 1, "failed": 2})
    assert [one.get("error", {}).get("code") for one in answer.json()["data"]] == [
        "document_not_found",
        "document_not_found",
        None,
    ]
    assert (await school.document(person, other, foreign["id"]))["status"] == "indexed"


@pytest.mark.parametrize(
    "body",
    [
        {"action": "burn", "ids": ["doc_x"]},
        {"action": "enable", "ids": []},
        {"action": "enable", "ids": [f"doc_{number}" for number in range(101)]},
        {"ids": ["doc_x"]},
    ],
)
async def test_batches_that_make_no_sense_are_refused(person: Any, agent: Any, body: Any) -> None:
    answer = await person.post(batch(agent), body)
    assert (answer.status, answer.code) == (422, "validation_error")


async def test_a_viewer_reads_passages_but_changes_no_documents(
    school: Any, person: Any, agent: Any, people: Any
) -> None:
    (document,) = await school.teach(person, agent, PUMP)
    viewer = await people.signed_in(Role.viewer)
    assert (await viewer.get(chunks(agent, document["id"]))).status == 200
    assert (await viewer.post(batch(agent), {"action": "delete", "ids": [document["id"]]})).status == 403


async def test_a_search_explains_what_it_found(school: Any, person: Any, agent: Any) -> None:
    await school.teach(person, agent, PUMP, *SHELVES)
    explained = await school.ask(person, agent, "Why does the pump run dry?", explain=True, top_k=9)
    best = explained[0]
    assert best["document_name"] == "pump.txt"
    assert best["explanation"]["matched_terms"] == ["pump", "dry"]
    assert best["explanation"]["text"] == "The pump runs dry."
    assert best["explanation"]["is_given"] is True
    assert 0 < best["explanation"]["word_share"] <= 1
    expected = best["explanation"]["similarity"] + 0.4 * best["explanation"]["word_share"]
    assert best["relevance_score"] == pytest.approx(min(1, expected), abs=0.001)


async def test_an_explained_search_marks_exactly_what_a_turn_is_given(
    school: Any, person: Any, agent: Any
) -> None:
    await school.teach(person, agent, PUMP, *SHELVES)
    plain = await school.ask(person, agent, "Why does the pump run dry?")
    assert all("explanation" not in one for one in plain)
    explained = await school.ask(person, agent, "Why does the pump run dry?", explain=True, top_k=9)
    given = [one["chunk_id"] for one in explained if one["explanation"]["is_given"]]
    assert given == [one["chunk_id"] for one in plain]
    shelf = await school.ask(person, agent, "Which shelf holds paper?", explain=True, top_k=9)
    assert sum(one["explanation"]["is_given"] for one in shelf) == 5
    assert len(shelf) > 5
