"""Training over HTTP: what is taken, what is refused, and what is answered."""

from typing import Any

import pytest

from retinue.app import Service
from retinue.files.models import File
from retinue.kit.jobs.models import Job
from retinue.knowledge.models import Document, KnowledgeBase
from tests.conftest import ServiceMaker
from tests.factories.agents import read_agent
from tests.factories.knowledge import EMBEDDING_MODEL, form

PUMP = ("pump.txt", b"The pump runs dry.")
MEGABYTE = 1024 * 1024


@pytest.fixture
async def service(make_service: ServiceMaker) -> Service:
    return await make_service(embedding_model=EMBEDDING_MODEL)


async def test_training_answers_before_it_is_done(school: Any, person: Any, agent: Any) -> None:
    started = await school.train(person, agent, PUMP, ("notes.md", b"# Notes\n\nThe tank is empty."))
    assert started["status"] == "training"
    assert started["document_count"] == 2
    assert started["message"] == "Training has started with 2 documents."
    assert started["job_id"].startswith("trn_")
    assert [(one["name"], one["status"]) for one in started["documents"]] == [
        ("pump.txt", "pending"),
        ("notes.md", "pending"),
    ]
    status = (await person.get(f"/api/v1/agents/{agent['id']}/status")).json()
    assert (status["status"], status["training"]["documents_total"]) == ("training", 2)
    await school.work()
    status = (await person.get(f"/api/v1/agents/{agent['id']}/status")).json()
    assert (status["status"], status["training"]["status"]) == ("draft", "completed")
    known = (await read_agent(person, agent))["knowledge_base"]
    assert known == {"enabled": True, "document_count": 2, "chunk_count": 2}
    again = await school.train(person, agent, PUMP)
    assert again["document_count"] == 3


@pytest.mark.parametrize("field", ["files", "files[]", "file"])
async def test_the_field_may_be_called_as_forms_call_it(
    school: Any, person: Any, agent: Any, field: str
) -> None:
    answer = await school.try_to_train(person, agent, PUMP, PUMP, field=field)
    assert (answer.status, answer.json()["document_count"]) == (200, 2)


@pytest.mark.parametrize(
    "name", ["a.pdf", "a.PDF", "a.txt", "a.docx", "a.md", "a.markdown", "a.csv", "dir\\b.csv", "ü 水.md"]
)
async def test_the_ending_of_the_name_decides(school: Any, person: Any, agent: Any, name: str) -> None:
    assert (await school.try_to_train(person, agent, (name, b"x,y"))).status == 200


@pytest.mark.parametrize("name", ["a.exe", "a", "a.pdf.zip", "a.html", ".pdf", "a.doc"])
async def test_other_files_are_refused_and_nothing_is_kept(
    school: Any, person: Any, agent: Any, people: Any, name: str
) -> None:
    answer = await school.try_to_train(person, agent, PUMP, (name, b"x"))
    assert (answer.status, answer.code) == (415, "unsupported_file_type")
    async with people.context(person.user.tenant_id) as ctx:
        assert not await ctx.db.count(File)
        assert not await ctx.db.count(KnowledgeBase)


async def test_a_form_without_a_file_is_refused(school: Any, person: Any, agent: Any) -> None:
    for answer in (
        await school.try_to_train(person, agent),
        await school.try_to_train(person, agent, PUMP, field="picture"),
    ):
        assert (answer.status, answer.code) == (422, "validation_error"), answer
        assert "files" in answer.details or "body" in answer.details
    answer = await person.post(f"/api/v1/agents/{agent['id']}/train", {"files": []})
    assert (answer.status, answer.code) == (415, "unsupported_media_type")


async def test_sizes_are_bounded(school: Any, person: Any, agent: Any) -> None:
    answer = await school.try_to_train(person, agent, ("big.txt", b"x" * (25 * MEGABYTE + 1)))
    assert (answer.status, answer.code) == (413, "file_too_large")
    answer = await school.try_to_train(person, agent, *[PUMP] * 21)
    assert (answer.status, answer.code) == (413, "file_too_large")
    assert (await school.train(person, agent, *[PUMP] * 20))["document_count"] == 20


@pytest.mark.parametrize(("role", "status"), [("agent_developer", 200), ("agent_user", 403), ("viewer", 403)])
async def test_who_may_change_an_agent_may_train_it(
    school: Any, person: Any, agent: Any, people: Any, role: str, status: int
) -> None:
    other = await people.signed_in(role)
    assert (await school.try_to_train(other, agent, PUMP)).status == status


async def test_a_missing_agent_is_not_trained(school: Any, person: Any) -> None:
    answer = await school.try_to_train(person, {"id": "agt_nobody"}, PUMP)
    assert (answer.status, answer.code) == (404, "agent_not_found")


async def test_a_retried_request_trains_once(school: Any, person: Any, agent: Any) -> None:
    headers = {"content-type": "multipart/form-data; boundary=XXtestXX", "idempotency-key": "k-1"}
    answers = [
        await person.post(f"/api/v1/agents/{agent['id']}/train", content=form([PUMP]), headers=headers)
        for _ in range(2)
    ]
    assert [answer.status for answer in answers] == [200, 200], answers
    assert answers[0].json() == answers[1].json()
    known = (await read_agent(person, agent))["knowledge_base"]
    assert known["document_count"] == 1


async def test_a_deleted_agent_takes_its_documents_along(
    school: Any, person: Any, agent: Any, people: Any, service: Service, clock: Any
) -> None:
    await school.teach(person, agent, PUMP, ("more.txt", b"More about the pump."))
    await school.train(person, agent, ("late.txt", b"Not indexed yet."))
    assert (await person.delete(f"/api/v1/agents/{agent['id']}")).status == 204
    async with people.context(person.user.tenant_id) as ctx:
        assert not await ctx.db.count(Document)
        assert not await ctx.db.count(KnowledgeBase)
        assert not await ctx.db.count(File)
    clock.advance(24 * 3600 + 1)
    await school.work()
    async with people.context(person.user.tenant_id) as ctx:
        assert not await ctx.db.all(Job)
    assert not [path for path in (service.settings.data_dir / "files").rglob("*") if path.is_file()]


async def test_a_file_that_is_there_already_is_not_added_twice_on_request(
    school: Any, person: Any, agent: Any
) -> None:
    (first,) = await school.teach(person, agent, PUMP)
    again = await school.train(person, agent, ("copy of pump.txt", PUMP[1]), duplicates="skip")
    present = {"id": first["id"], "name": "pump.txt", "status": "indexed"}
    assert (again["status"], again["document_count"]) == ("unchanged", 1)
    assert again["message"] == "The agent already has documents with this content. Nothing was added."
    assert (again["documents"], again["already_present"]) == ([], [present])


async def test_only_the_new_ones_of_several_files_are_added_on_request(
    school: Any, person: Any, agent: Any, people: Any
) -> None:
    (first,) = await school.teach(person, agent, PUMP)
    mixed = await school.train(
        person, agent, ("new.txt", b"New."), PUMP, ("twice.txt", b"New."), duplicates="skip"
    )
    assert (mixed["status"], mixed["document_count"]) == ("training", 2)
    assert [one["name"] for one in mixed["documents"]] == ["new.txt"]
    assert mixed["already_present"] == [{"id": first["id"], "name": "pump.txt", "status": "indexed"}]
    await school.work()
    async with people.context(person.user.tenant_id) as ctx:
        assert await ctx.db.count(File) == 2, "the bytes of the copies have no row"


async def test_a_file_that_another_agent_has_is_added(school: Any, person: Any, agent: Any) -> None:
    await school.teach(person, agent, PUMP)
    other = await school.admit(person, name="Other")
    assert (await school.train(person, other, PUMP, duplicates="skip"))["document_count"] == 1


async def test_a_file_that_is_there_already_is_added_again_without_the_request(
    school: Any, person: Any, agent: Any
) -> None:
    await school.teach(person, agent, PUMP)
    plain = await school.train(person, agent, PUMP)
    assert (plain["status"], plain["document_count"], "already_present" in plain) == ("training", 2, False)
    assert (await school.try_to_train(person, agent, PUMP, duplicates="never")).status == 422


async def test_a_known_file_whose_indexing_failed_is_indexed_again(
    school: Any, person: Any, agent: Any
) -> None:
    empty = ("empty.txt", b" ")
    (failed,) = await school.teach(person, agent, empty)
    assert failed["status"] == "failed"
    again = await school.train(person, agent, empty, duplicates="skip")
    assert [(one["id"], one["status"]) for one in again["already_present"]] == [(failed["id"], "pending")]
