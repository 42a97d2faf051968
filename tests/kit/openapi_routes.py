"""One route of every kind the document must be able to describe."""

from enum import StrEnum
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from retinue.kit.context import Context
from retinue.kit.errors import Conflict, Forbidden, RetinueError
from retinue.kit.http.replies import Download, EventStream, Reply, WebDocument
from retinue.kit.http.routing import PUBLIC, SIGNED_IN, PathLoader, Routes, Upload
from retinue.kit.http.uploads import FormData
from retinue.kit.lists import ListQuery, Page
from retinue.kit.schema.base import MessageReply, Name, Schema


class AgentNotFound(RetinueError):
    """There is no such agent."""

    status, code = 404, "agent_not_found"


class SlugTaken(Conflict):
    """Another agent has this slug."""

    code = "slug_taken"


class AgentArchived(Conflict):
    """The agent is archived."""

    code = "agent_archived"


class NotYours(Forbidden):
    """Only the owner may do this."""


async def _fetch(ctx: Context, value: str) -> Any:
    return await ctx.db.scalar(value)


AgentById = Annotated[Any, PathLoader("agent_id", _fetch, AgentNotFound)]


class Status(StrEnum):
    draft = "draft"
    active = "active"


class HttpTool(msgspec.Struct, tag="http", kw_only=True):
    """Calls an address."""

    url: Annotated[str, Meta(max_length=2000, description="Where to call.")]
    timeout_s: Annotated[int, Meta(ge=1, le=60)] = 10


class CodeTool(msgspec.Struct, tag="code", kw_only=True):
    source: str


class AgentIn(Schema, kw_only=True):
    """A new agent."""

    name: Name
    slug: Annotated[str, Meta(pattern="^[a-z][a-z0-9-]*$", max_length=60)]
    temperature: Annotated[float, Meta(ge=0, le=2)] = 0.7
    status: Status = Status.draft
    tools: Annotated[list[HttpTool | CodeTool], Meta(max_length=20)] = []
    labels: dict[str, str] = {}


class AgentChange(Schema, kw_only=True):
    name: Name | msgspec.UnsetType = msgspec.UNSET
    note: str | msgspec.UnsetType | None = msgspec.UNSET


class AgentSummary(Schema, kw_only=True):
    id: str
    name: str
    status: Status
    kind: Literal["chat", "task"] = "chat"


class AgentOut(AgentSummary, kw_only=True):
    parent: "AgentOut | None"
    tools: list[HttpTool | CodeTool]
    secret: str | msgspec.UnsetType = msgspec.UNSET


class AgentQuery(ListQuery, kw_only=True):
    status: Status | None = None
    archived: Annotated[bool, Meta(description="Whether to show archived agents too.")] = False
    created_after: Annotated[str, Meta(max_length=40)] | msgspec.UnsetType = msgspec.UNSET


class Started(Schema, kw_only=True):
    job_id: str


agents = Routes("/api/v1/agents", tag="agents")
files = Routes("/api/v1/files", tag="files", wrap=True)
health = Routes("", tag="discovery")


@agents.get("", requires="agents:read")
async def list_agents(ctx: Context, query: AgentQuery) -> Page[AgentSummary]:
    """The agents of the tenant, newest first."""


@agents.post("", requires="agents:write", status=201, errors=(SlugTaken, AgentArchived, NotYours))
async def create_agent(ctx: Context, body: AgentIn) -> AgentOut: ...


@agents.get("/{agent_id}", requires="agents:read")
async def get_agent(ctx: Context, agent: AgentById) -> AgentOut: ...


@agents.patch("/{agent_id}", requires="agents:write")
async def change_agent(ctx: Context, agent: AgentById, body: AgentChange) -> Reply[AgentOut]: ...


@agents.delete("/{agent_id}", requires="agents:delete", status=204)
async def delete_agent(ctx: Context, agent: AgentById) -> None: ...


@agents.post("/{agent_id}/chat", requires="agents:chat", cost="chat", idempotent=False)
async def chat(
    ctx: Context, agent: AgentById, body: MessageReply
) -> MessageReply | Started | EventStream: ...


@agents.put("/{agent_id}/labels/{label}", requires=SIGNED_IN)
async def set_label(ctx: Context, agent: AgentById, label: str, body: dict[str, str]) -> dict[str, Any]: ...


@files.post("", requires="files:write", status=201, upload=Upload(max_file=1000))
async def upload_file(ctx: Context, form: FormData) -> Started: ...


@files.post("/many", requires="files:write", upload=Upload(max_file=1000, max_files=20, fields=("files",)))
async def upload_files(ctx: Context, form: FormData) -> list[Started]: ...


@files.get("/{file_id}/content", requires="files:read", cost="free")
async def download_file(ctx: Context, file_id: str) -> Download: ...


@health.get("/health", requires=PUBLIC, cost="free")
async def get_health(ctx: Context) -> Reply[MessageReply]: ...


@health.get("/page", requires=PUBLIC, cost="free")
async def get_page(ctx: Context) -> WebDocument: ...


ROUTES = (*agents.routes, *files.routes, *health.routes)
