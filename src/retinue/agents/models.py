from enum import StrEnum
from typing import Annotated, Any

import msgspec

from retinue.kit.clock import Instant
from retinue.kit.db.models import Added, Ref, TenantRecord, table
from retinue.knowledge.models import KnowledgeBase
from retinue.tools.models import Tool


class AgentStatus(StrEnum):
    draft = "draft"
    published = "published"
    archived = "archived"


class WebSearch(msgspec.Struct, frozen=True, kw_only=True):
    """How an agent searches the web."""

    enabled: bool = False
    search_engine: str = "duckduckgo"
    max_results: int = 5
    safe_search: bool = True
    credential_id: str | None = None
    credential_destination: str = ""
    base_url: str | None = None
    allowed_domains: tuple[str, ...] = ()
    blocked_domains: tuple[str, ...] = ()


class LogSettings(msgspec.Struct, frozen=True, kw_only=True):
    """What the log of an agent keeps, and for how many days; 0 is for ever."""

    log_messages: bool = True
    log_tool_calls: bool = True
    log_token_usage: bool = True
    retention_days: int = 30


@table(
    "agents",
    prefix="agt",
    indexes=[
        ("tenant_id", "parent_id", "created_at"),
        ("tenant_id", "status"),
        ("tenant_id", "knowledge_base_id"),
    ],
    configures=True,
)
class Agent(TenantRecord, kw_only=True):
    """A model, a prompt, and what it may use.

    `parent_id` is set for a direct sub-agent, which lives with its parent and is listed nowhere else.
    `tool_count` and `sub_agent_count` count what is attached, whether enabled or not: a turn of an agent
    that has neither asks for neither. The knowledge base is made with the first document.
    """

    name: str
    description: str = ""
    primary_model: str
    fallback_models: list[str]
    system_prompt: str
    temperature: float = 0.7
    max_tokens: int = 2048
    status: AgentStatus = AgentStatus.draft
    web_search: WebSearch
    log_settings: LogSettings
    knowledge_base_id: Annotated[str, Ref(KnowledgeBase)] | None = None
    tool_count: int = 0
    sub_agent_count: int = 0
    parent_id: str | None = None
    version: int = 1
    created_by: str
    published_at: Instant | None = None


@table("agent_versions", prefix="agv", unique=[("tenant_id", "agent_id", "version")])
class AgentVersion(TenantRecord, kw_only=True):
    """The whole agent as it was after a change: its own fields, its tools and its sub-agents."""

    agent_id: Annotated[str, Ref(Agent, cascade=True)]
    version: int
    snapshot: dict[str, Any]
    summary: str = ""
    is_published: bool = False
    created_by: str


@table(
    "agent_tools",
    prefix="agtl",
    unique=[("tenant_id", "agent_id", "tool_id")],
    indexes=[("tenant_id", "tool_id")],
)
class AgentTool(TenantRecord, kw_only=True):
    """A tool an agent may use, and what is different about it there.

    `override_destination` is where someone entitled lets the tool's secrets go by this override; empty
    where the override moves nothing, or where whoever saved it could not say so. `requires_approval` asks for
    approval here; where the tool asks for it itself, it does so here as well.
    """

    agent_id: Annotated[str, Ref(Agent, cascade=True)]
    tool_id: Annotated[str, Ref(Tool, cascade=True)]
    is_enabled: bool = True
    display_order: int = 0
    config_override: dict[str, Any] | None = None
    override_destination: str = ""
    attached_by: str = ""
    requires_approval: Annotated[bool, Added("false")] = False


class RelationshipType(StrEnum):
    template = "template"
    direct = "direct"


@table(
    "sub_agents",
    prefix="sag",
    unique=[("tenant_id", "parent_id", "child_id")],
    indexes=[("tenant_id", "child_id")],
)
class SubAgent(TenantRecord, kw_only=True):
    """An agent that another one may hand tasks to."""

    parent_id: Annotated[str, Ref(Agent, cascade=True)]
    child_id: Annotated[str, Ref(Agent, cascade=True)]
    relationship_type: RelationshipType
    is_enabled: bool = True
    delegation_prompt: str = ""
