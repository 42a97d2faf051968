"""From a file to what can be found: each document once, whatever comes in between."""

from typing import Any

import pytest
import sqlalchemy as sa

from retinue.kit import failpoints
from retinue.kit.db.statements import Statement
from retinue.kit.jobs.models import Job
from retinue.knowledge import document_indexer, jobs
from retinue.knowledge.chunks import chunk_number, new_revision
from retinue.knowledge.models import Chunk, ChunkVectors, Document, DocumentStatus, KnowledgeBase, chunk_words
from tests.adapters.llm_server import refusing
from tests.factories.happenings import events

PUMP = ("pump.txt", b"The pump runs dry when the tank is empty.")


def long_text(paragraphs: int) -> tuple[str, bytes]:
    lines = [
        f"## Part {number}\n\nPart {number} has the code XK-{number:04}." for number in range(paragraphs)
    ]
    return "long.md", "\n\n".join(lines).encode()


@pytest.fixture
async def agent(school: Any, person: Any) -> Any:
    return await school.admit(person)


async def count_rows(people: Any) -> dict[str, int]:
    """Return the number of rows of each kind, in every tenant."""
    async with people.context() as ctx:
        system = ctx.system("test")
        words = await system.scalar(Statement(sa.select(sa.func.count()).select_from(chunk_words)))
        vectors = sum(row.count for row in await system.all(ChunkVectors))
        return {"chunks": await system.count(Chunk), "words": words, "vectors": vectors}


async def status(person: Any, agent: Any) -> dict[str, Any]:
    answer = await person.get(f"/api/v1/agents/{agent['id']}/status")
    assert answer.status == 200, answer
    return answer.json()["training"]


async def test_a_document_becomes_chunks_words_and_vectors(
    school: Any, person: Any, agent: Any, people: Any
) -> None:
    (document,) = await school.teach(person, agent, long_text(150))
    assert document["status"] == "indexed"
    assert document["indexed_at"]
    count = document["chunk_count"]
    assert count == document["chunks_done"] == document["chunks_total"] == 150
    assert await count_rows(people) == {"chunks": count, "words": count, "vectors": count}
    assert (await school.ask(person, agent, "XK-0149"))[0]["chunk_preview"].startswith("Part 149 ")


@pytest.mark.parametrize(
    ("upload", "code"),
    [
        (("empty.txt", b"  \n "), "empty_document"),
        (("broken.pdf", b"%PDF-1.7 nothing of the kind"), "parse_error"),
        (("broken.docx", b"PK\x03\x04 broken"), "parse_error"),
    ],
)
async def test_a_document_that_cannot_be_read_says_why(
    school: Any, person: Any, agent: Any, people: Any, upload: Any, code: str
) -> None:
    (document,) = await school.teach(person, agent, upload)
    assert document["status"] == "failed"
    assert document["error"]["code"] == code
    assert document["error"]["message"]
    (failed,) = await events(people, "system.training.failed")
    assert failed.data["agent_id"] == agent["id"]
    assert failed.data["error"] == document["error"]
    assert await count_rows(people) == {"chunks": 0, "words": 0, "vectors": 0}


async def test_a_model_that_refuses_is_told_once_and_the_document_can_be_tried_again(
    school: Any, person: Any, agent: Any, provider: Any
) -> None:
    provider.fails(refusing(400, {"error": {"message": "no such model"}}))
    (document,) = await school.teach(person, agent, PUMP)
    assert document["status"] == "failed"
    assert document["error"]["code"] == "embedding_error"
    path = f"/api/v1/agents/{agent['id']}/documents/{document['id']}/reindex"
    assert (await person.post(path)).status == 202
    await school.work()
    assert (await school.document(person, agent, document["id"]))["status"] == "indexed"


async def test_a_model_that_is_away_is_waited_for(
    school: Any, person: Any, agent: Any, provider: Any, clock: Any, people: Any
) -> None:
    provider.fails(*[refusing(503)] * 3)
    (document,) = await school.teach(person, agent, PUMP)
    assert (document["status"], document["error"]["code"]) == ("indexing", "embedding_error")
    assert not await events(people, "system.training.completed")
    for _ in range(4):
        clock.advance(1000)
        await school.work()
    person = await people.sign_in(person.user)
    document = await school.document(person, agent, document["id"])
    assert (document["status"], document["error"]) == ("indexed", None)
    assert len(await events(people, "system.training.completed")) == 1


async def test_a_model_that_stays_away_is_given_up(
    school: Any, person: Any, agent: Any, provider: Any, clock: Any, people: Any
) -> None:
    provider.fails(*[refusing(503)] * 50)
    (document,) = await school.teach(person, agent, PUMP)
    for _ in range(6):
        clock.advance(1000)
        await school.work()
    person = await people.sign_in(person.user)
    document = await school.document(person, agent, document["id"])
    assert (document["status"], document["error"]["code"]) == ("failed", "embedding_error")


async def test_a_run_that_was_interrupted_goes_on_where_it_was(
    school: Any, person: Any, agent: Any, people: Any, provider: Any, clock: Any
) -> None:
    """The second batch is written and the job dies; what is written is neither lost nor written again."""
    failpoints.arm("after_chunks:2:error")
    try:
        (document,) = await school.teach(person, agent, long_text(200))
    finally:
        failpoints.arm("")
    assert (document["status"], document["chunks_done"]) == ("indexing", 128)
    assert await school.ask(person, agent, "XK-0001") == [], "what is not whole is not found"
    asked = len(provider.requests)
    clock.advance(20)
    await school.work()
    document = await school.document(person, agent, document["id"])
    assert (document["status"], document["chunk_count"]) == ("indexed", 200)
    assert len(provider.requests) - asked == 2, "128 were embedded before"
    assert await count_rows(people) == {"chunks": 200, "words": 200, "vectors": 200}
    assert len(await events(people, "system.training.completed")) == 1


async def test_a_long_document_is_indexed_by_turns(
    school: Any, person: Any, agent: Any, people: Any, monkeypatch: Any
) -> None:
    """Three batches, two to a turn: another document comes in between."""
    monkeypatch.setattr(document_indexer, "BATCHES_PER_RUN", 2)
    order, publish = [], document_indexer._publish

    async def noted(ctx: Any, document: Any) -> None:
        order.append(document.name)
        await publish(ctx, document)

    monkeypatch.setattr(document_indexer, "_publish", noted)
    documents = await school.teach(person, agent, long_text(150), PUMP)
    assert [one["status"] for one in documents] == ["indexed", "indexed"]
    assert order == ["pump.txt", "long.md"]
    assert await count_rows(people) == {"chunks": 151, "words": 151, "vectors": 151}
    assert len(await events(people, "system.training.completed")) == 1


def test_few_documents_are_indexed_at_once(service: Any) -> None:
    limits = service.runner._queue.limits
    assert (limits["knowledge"].at_once, limits["default"].at_once) == (2, 20)


async def test_two_runs_of_one_document_do_not_both_write(
    school: Any, person: Any, agent: Any, people: Any, monkeypatch: Any
) -> None:
    """While one run waits for the model, another one takes the document over and finishes it."""
    (waiting,) = (await school.train(person, agent, long_text(100)))["documents"]
    embed, runs = document_indexer.vectors_of, []

    async def overtaken(ctx: Any, *given: Any, **more: Any) -> Any:
        vectors = await embed(ctx, *given, **more)
        if not runs:
            runs.append("first")
            await document_indexer.index_document(ctx, document_indexer.DocumentToIndex(waiting["id"]))
        return vectors

    monkeypatch.setattr(document_indexer, "vectors_of", overtaken)
    await school.work()
    document = await school.document(person, agent, waiting["id"])
    assert (document["status"], document["chunk_count"]) == ("indexed", 100)
    assert await count_rows(people) == {"chunks": 100, "words": 100, "vectors": 100}
    assert len(await events(people, "system.training.completed")) == 1


async def test_a_document_deleted_while_it_is_indexed_leaves_nothing(
    school: Any, person: Any, agent: Any, people: Any, monkeypatch: Any
) -> None:
    (waiting,) = (await school.train(person, agent, long_text(100)))["documents"]
    embed, calls = document_indexer.vectors_of, []

    async def deleted_meanwhile(ctx: Any, *given: Any, **more: Any) -> Any:
        calls.append(given)
        if len(calls) == 2:
            path = f"/api/v1/agents/{agent['id']}/documents/{waiting['id']}"
            assert (await person.delete(path)).status == 204
        return await embed(ctx, *given, **more)

    monkeypatch.setattr(document_indexer, "vectors_of", deleted_meanwhile)
    await school.work()
    assert len(calls) == 2
    assert await count_rows(people) == {"chunks": 0, "words": 0, "vectors": 0}
    assert (await status(person, agent))["status"] == "idle"


async def test_reindexing_replaces_the_chunks_and_finds_the_old_ones_until_then(
    school: Any, person: Any, agent: Any, people: Any, provider: Any
) -> None:
    (document,) = await school.teach(person, agent, long_text(70))
    path = f"/api/v1/agents/{agent['id']}/documents/{document['id']}/reindex"
    answer = await person.post(path)
    assert (answer.status, answer.json()["status"]) == (202, "pending")
    assert (await person.post(path)).status == 202, "asking twice is asking once"
    (before, *_) = await school.ask(person, agent, "XK-0042")
    await school.work()
    (after, *_) = await school.ask(person, agent, "XK-0042")
    assert after["chunk_preview"] == before["chunk_preview"]
    assert after["chunk_id"] != before["chunk_id"]
    assert await count_rows(people) == {"chunks": 70, "words": 70, "vectors": 70}
    assert len(await events(people, "system.training.completed")) == 2


async def test_files_that_come_during_a_run_belong_to_it(
    school: Any, person: Any, agent: Any, people: Any
) -> None:
    assert (await status(person, agent))["status"] == "idle"
    first = await school.train(person, agent, PUMP, ("empty.txt", b" "))
    second = await school.train(person, agent, ("more.txt", b"More about the pump."))
    assert first["job_id"] == second["job_id"]
    training = await status(person, agent)
    assert (training["status"], training["documents_total"]) == ("training", 3)
    await school.work()
    training = await status(person, agent)
    counts = [training[name] for name in ("documents_total", "documents_done", "documents_failed")]
    assert (training["status"], counts) == ("partial", [3, 2, 1])
    assert training["finished_at"]
    assert training["error"]["code"] == "empty_document"
    (completed,) = await events(people, "system.training.completed")
    assert (completed.data["status"], completed.data["documents_failed"]) == ("partial", 1)


async def test_each_run_ends_once_and_counts_its_own_documents(
    school: Any, person: Any, agent: Any, people: Any
) -> None:
    first = await school.train(person, agent, PUMP, ("empty.txt", b" "))
    await school.work()
    assert len(await events(people, "system.training.completed")) == 1
    second = await school.train(person, agent, ("again.txt", b"A new run."))
    assert second["job_id"] != first["job_id"]
    await school.work()
    assert (await status(person, agent))["documents_total"] == 1
    assert len(await events(people, "system.training.completed")) == 2


async def test_a_document_whose_job_was_lost_is_taken_up_again(
    school: Any, person: Any, agent: Any, people: Any, clock: Any
) -> None:
    (waiting,) = (await school.train(person, agent, PUMP))["documents"]
    async with people.context() as ctx:
        (lost,) = await ctx.system("test").all(Job, kind="knowledge.index_document")
        await ctx.system("test").delete(lost)
    clock.advance(4000)
    async with people.context() as ctx:
        await jobs.resume_indexing(ctx)
    await school.work()
    person = await people.sign_in(person.user)
    assert (await school.document(person, agent, waiting["id"]))["status"] == "indexed"


async def test_rows_that_no_document_has_are_swept_after_a_day(
    school: Any, person: Any, agent: Any, people: Any, clock: Any
) -> None:
    (kept,) = await school.teach(person, agent, PUMP)
    tenant_id = person.user.tenant_id
    async with people.context(tenant_id) as ctx:
        revision = new_revision()
        first = chunk_number(revision, 0)
        await ctx.db.insert(Chunk(document_id="doc_gone", number=first, text="left behind"))
        await ctx.db.insert(
            ChunkVectors(document_id="doc_gone", first_number=first, count=1, vectors=b"\0" * 1024)
        )
    for hours, left in ((1, 2), (48, 1)):
        clock.advance(hours * 3600)
        async with people.context() as ctx:
            await jobs.sweep_chunks(ctx)
        await school.work()
        assert (await count_rows(people))["chunks"] == left
    person = await people.sign_in(person.user)
    assert (await school.document(person, agent, kept["id"]))["chunk_count"] == 1


async def test_vectors_of_another_size_are_refused(school: Any, person: Any, agent: Any, people: Any) -> None:
    await school.teach(person, agent, PUMP)
    async with people.context(person.user.tenant_id) as ctx:
        (base,) = await ctx.db.all(KnowledgeBase)
        await ctx.db.update(base, dimensions=7)
    (document,) = await school.teach(person, agent, ("other.txt", b"Another text."))
    assert document["error"]["code"] == "embedding_error"
    async with people.context(person.user.tenant_id) as ctx:
        assert await ctx.db.count(Document, status=DocumentStatus.failed) == 1
