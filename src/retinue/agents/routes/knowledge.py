from retinue.agents import knowledge
from retinue.agents.knowledge import (
    DocumentList,
    DocumentOut,
    DocumentUpdate,
    KnowledgeQuery,
    PassageOut,
    TrainingStarted,
)
from retinue.agents.loaders import AgentById
from retinue.kit.context import Context
from retinue.kit.errors import FileTooLarge, UnsupportedFileType
from retinue.kit.http.routing import Routes, Upload
from retinue.kit.http.uploads import FormData
from retinue.kit.lists import Page
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
async def train_agent(ctx: Context, agent: AgentById, form: FormData) -> TrainingStarted:
    """PDF, TXT, DOCX, MD and CSV; indexing goes on after the answer, and the agent's status tells how."""
    return await knowledge.train(ctx, agent, form)


@routes.get("/documents", requires="agents:read")
async def list_agent_documents(ctx: Context, agent: AgentById, query: DocumentList) -> Page[DocumentOut]:
    return await knowledge.list_documents(ctx, agent, query)


@routes.get("/documents/{document_id}", requires="agents:read", errors=(DocumentNotFound,))
async def get_agent_document(ctx: Context, agent: AgentById, document_id: str) -> DocumentOut:
    return knowledge.shown(await knowledge.fetch_document(ctx, agent, document_id))


@routes.patch("/documents/{document_id}", requires="agents:write", errors=(DocumentNotFound,))
async def update_agent_document(
    ctx: Context, agent: AgentById, document_id: str, body: DocumentUpdate
) -> DocumentOut:
    return await knowledge.update_document(ctx, agent, document_id, body)


@routes.delete("/documents/{document_id}", requires="agents:write", status=204, errors=(DocumentNotFound,))
async def delete_agent_document(ctx: Context, agent: AgentById, document_id: str) -> None:
    """With this answer it is not found any more; no turn that begins from here on quotes it."""
    await knowledge.delete_document(ctx, agent, document_id)


@routes.post(
    "/documents/{document_id}/reindex", requires="agents:write", status=202, errors=(DocumentNotFound,)
)
async def reindex_agent_document(ctx: Context, agent: AgentById, document_id: str) -> DocumentOut:
    """Reads the file again; until that is done, the document is found as it was."""
    return await knowledge.reindex_document(ctx, agent, document_id)


@routes.post("/knowledge/search", requires="agents:read", wrap=True, calls_out=True, idempotent=False)
async def search_agent_knowledge(ctx: Context, agent: AgentById, body: KnowledgeQuery) -> list[PassageOut]:
    """The passages a turn of the agent would be given for this question, the best first."""
    return await knowledge.search(ctx, agent, body)
