from retinue.agents import knowledge
from retinue.agents.knowledge import (
    ChunkOut,
    DocumentBatch,
    DocumentList,
    DocumentOut,
    DocumentUpdate,
    KnowledgeQuery,
    PassageOut,
    TrainingQuery,
    TrainingStarted,
)
from retinue.agents.loaders import AgentById
from retinue.kit.context import Context
from retinue.kit.errors import FileTooLarge, UnsupportedFileType
from retinue.kit.http.batch import BatchAnswer
from retinue.kit.http.replies import Reply
from retinue.kit.http.routing import Routes, Upload
from retinue.kit.http.uploads import FormData
from retinue.kit.lists import Page, PageQuery
from retinue.knowledge.errors import DocumentNotFound

DOCUMENTS = Upload(max_file=25 * 1024 * 1024, max_files=20, fields=("files",))

routes = Routes("/api/v1/agents/{agent_id}", tag="agents")


@routes.post(
    "/train",
    requires="agents:write",
    upload=DOCUMENTS,
    calls_out=True,
    errors=(FileTooLarge, UnsupportedFileType),
)
async def train_agent(
    ctx: Context, agent: AgentById, form: FormData, query: TrainingQuery
) -> TrainingStarted:
    """Upload documents (PDF, TXT, DOCX, MD, CSV) for the agent to answer from.

    Indexing continues in the background; follow it with the status of the agent or of each document. With
    `duplicates=skip`, a file whose content the agent already has is not added again.
    """
    return await knowledge.train(ctx, agent, form, query)


@routes.get("/documents", requires="agents:read")
async def list_agent_documents(ctx: Context, agent: AgentById, query: DocumentList) -> Page[DocumentOut]:
    """List the documents of the agent, newest first unless `sort` says otherwise."""
    return await knowledge.list_documents(ctx, agent, query)


@routes.post("/documents/batch", requires="agents:write", other_status=207)
async def change_many_documents(
    ctx: Context, agent: AgentById, body: DocumentBatch
) -> Reply[BatchAnswer[DocumentOut]]:
    """Enable, disable, reindex or delete up to 100 documents; the request counts as one write.

    The status is 207 if some ids are not documents of the agent; the others are changed nevertheless.
    """
    answer = await knowledge.run_batch(ctx, agent, body)
    return Reply(answer, status=207 if answer.summary.failed else 200)


@routes.get("/documents/{document_id}", requires="agents:read", errors=(DocumentNotFound,))
async def get_agent_document(ctx: Context, agent: AgentById, document_id: str) -> DocumentOut:
    """Return a document with its indexing status, progress and error."""
    return knowledge.render_document(await knowledge.fetch_document(ctx, agent, document_id))


@routes.patch("/documents/{document_id}", requires="agents:write", errors=(DocumentNotFound,))
async def update_agent_document(
    ctx: Context, agent: AgentById, document_id: str, body: DocumentUpdate
) -> DocumentOut:
    """Change the metadata of a document, or exclude it from searches without deleting it."""
    return await knowledge.update_document(ctx, agent, document_id, body)


@routes.delete("/documents/{document_id}", requires="agents:write", status=204, errors=(DocumentNotFound,))
async def delete_agent_document(ctx: Context, agent: AgentById, document_id: str) -> None:
    """Delete the document and its file. Searches and chats that start after the response no longer use it."""
    await knowledge.delete_document(ctx, agent, document_id)


@routes.post(
    "/documents/{document_id}/reindex", requires="agents:write", status=202, errors=(DocumentNotFound,)
)
async def reindex_agent_document(ctx: Context, agent: AgentById, document_id: str) -> DocumentOut:
    """Read and index the file again; searches use the previous content until that is done.

    A document that is already waiting or being indexed is not queued twice.
    """
    return await knowledge.reindex_document(ctx, agent, document_id)


@routes.get("/documents/{document_id}/chunks", requires="agents:read", errors=(DocumentNotFound,))
async def list_document_chunks(
    ctx: Context, agent: AgentById, document_id: str, query: PageQuery
) -> Page[ChunkOut]:
    """List the passages of a document in their order, as searches find them.

    It is empty until the document is indexed; while it is indexed again, it shows the previous passages.
    """
    return await knowledge.list_chunks(ctx, agent, document_id, query)


@routes.post("/knowledge/search", requires="agents:read", wrap=True, calls_out=True, idempotent=False)
async def search_agent_knowledge(
    ctx: Context, agent: AgentById, body: KnowledgeQuery
) -> Reply[list[PassageOut]]:
    """Return the passages of the agent's documents that match the query, best first; empty if none does.

    With `explain`, each passage says why it was found, and passages that are not relevant enough for a turn
    are returned as well. If no budget pays for the embedding of the query, its words find what they can, and
    the header `X-Retinue-Warnings` says `searched_by_words`.
    """
    return await knowledge.search(ctx, agent, body)
