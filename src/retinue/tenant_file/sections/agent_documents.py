"""The documents of agents, by name and SHA-256. The content is not in the file: it is uploaded before."""

import msgspec

from retinue.agents import knowledge
from retinue.agents.knowledge import DocumentUpdate
from retinue.agents.models import Agent
from retinue.files.models import File
from retinue.kit.context import Context
from retinue.kit.errors import Invalid
from retinue.knowledge import service
from retinue.knowledge.models import Document
from retinue.tenant_file.integration_parts import AgentDocumentPart
from retinue.tenant_file.planner import PlannedChange
from retinue.tenant_file.references import ReferenceIndex
from retinue.tenant_file.sections import agents
from retinue.tenant_file.sections.base import FileSection


class AgentDocument(msgspec.Struct, frozen=True):
    """A document with the agent it belongs to and the SHA-256 of its file."""

    document: Document
    agent: Agent
    sha256: str

    @property
    def id(self) -> str:
        return self.document.id


async def _load(ctx: Context) -> list[AgentDocument]:
    by_base = {agent.knowledge_base_id: agent for agent in await agents.load(ctx) if agent.knowledge_base_id}
    files = {file.id: file for file in await ctx.db.all(File, purpose=service.FILE_PURPOSE)}
    return [
        AgentDocument(document, by_base[document.base_id], files[document.file_id].sha256)
        for document in await ctx.db.all(Document, order_by=("created_at", "id"))
        if document.base_id in by_base and document.file_id in files
    ]


def _name(names: ReferenceIndex, stored: AgentDocument) -> str:
    return f"{names.key_of(stored.agent.id)}/{stored.document.name}"


async def _export(_ctx: Context, names: ReferenceIndex, stored: AgentDocument) -> AgentDocumentPart:
    return AgentDocumentPart(
        agent=names.to_references(stored.agent.id),
        name=stored.document.name,
        sha256=stored.sha256,
        metadata=stored.document.metadata,
        enabled=stored.document.is_enabled,
    )


async def _create(ctx: Context, names: ReferenceIndex, change: PlannedChange) -> AgentDocument:
    part: AgentDocumentPart = change.part
    agent = names.find(part.agent, "agent")
    if not isinstance(agent, Agent):
        raise Invalid({"agent": "must be a reference such as @agents/Support"})
    file = await _find_file(ctx, part)
    (document,) = await knowledge.add_stored_files(ctx, agent, [file])
    await knowledge.update_document(ctx, await _reload(ctx, agent), document.id, _values(part))
    return AgentDocument(document, agent, file.sha256)


async def _find_file(ctx: Context, part: AgentDocumentPart) -> File:
    """Return an uploaded file with this name and content that no document uses yet."""
    ctx.principal.require("files:read")
    purpose = service.FILE_PURPOSE
    found = await ctx.db.all(
        File, purpose=purpose, sha256=part.sha256.lower(), filename=part.name, order_by=("created_at", "id")
    )
    for file in found:
        if await ctx.db.find(Document, file_id=file.id) is None:
            return file
    raise Invalid(
        {"sha256": f"no unused file has this name and content; upload it with the purpose {purpose} first"}
    )


def _values(part: AgentDocumentPart) -> DocumentUpdate:
    return DocumentUpdate(metadata=part.metadata, enabled=part.enabled)


async def _reload(ctx: Context, agent: Agent) -> Agent:
    return await ctx.db.get(Agent, agent.id) or agent


async def _update(ctx: Context, names: ReferenceIndex, change: PlannedChange, stored: AgentDocument) -> None:
    part: AgentDocumentPart = change.part
    is_same = stored.sha256 == part.sha256.lower() and stored.document.name == part.name
    if is_same and names.to_ids(part.agent, "agent") == stored.agent.id:
        await knowledge.update_document(
            ctx, await _reload(ctx, stored.agent), stored.document.id, _values(part)
        )
        return
    created = await _create(ctx, names, change)
    await service.delete(ctx, stored.document)
    names.add("agent_documents", change.name, created)


async def _delete(ctx: Context, stored: AgentDocument) -> None:
    await service.delete(ctx, stored.document)


SECTION = FileSection(
    name="agent_documents",
    write_key="agents:write",
    load=_load,
    natural_name=_name,
    export=_export,
    create=_create,
    update=_update,
    delete=_delete,
)
