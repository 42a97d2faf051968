from enum import StrEnum
from typing import Annotated

import msgspec

from retinue.agents.settings import AgentSettings
from retinue.kit.clock import Instant
from retinue.kit.db.models import Ref, ServerDefault, TenantRecord, table
from retinue.kit.json_types import JsonObject
from retinue.knowledge.models import KnowledgeBase
from retinue.tools.models import Tool


class AgentStatus(StrEnum):
    draft = "draft"
    published = "published"
    archived = "archived"


class WebSearch(msgspec.Struct, frozen=True, kw_only=True):
    """Web search settings of an agent."""

    enabled: bool = False
    search_engine: str = "duckduckgo"
    max_results: int = 5
    safe_search: bool = True
    read_pages: bool = True
    credential_id: str | None = None
    credential_destination: str = ""
    base_url: str | None = None
    allowed_domains: tuple[str, ...] = ()
    blocked_domains: tuple[str, ...] = ()


class LogSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Log settings of an agent: its content, and for how many days it is kept; 0 is forever."""

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
    is_configuration=True,
)
class Agent(AgentSettings, kw_only=True):
    """A model, a prompt, and the tools, knowledge and sub-agents it may use.

    `parent_id` is set for a direct sub-agent, which belongs to its parent and is listed nowhere else.
    `tool_count` and `sub_agent_count` include disabled ones; a turn skips the query for a count of 0. The
    knowledge base is created with the first document.
    """

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


@table("agent_versions", prefix="agv", unique=[("tenant_id", "agent_id", "version")], is_configuration=True)
class AgentVersion(TenantRecord, kw_only=True):
    """A snapshot of the whole agent after a change: its fields, tools and sub-agents."""

    agent_id: Annotated[str, Ref(Agent, cascade=True)]
    version: int
    snapshot: JsonObject
    summary: str = ""
    is_published: bool = False
    created_by: str


@table("agent_drafts", prefix="agd", unique=[("tenant_id", "agent_id")])
class AgentDraft(TenantRecord, kw_only=True):
    """Changes of an agent that are not in use yet, as the whole agent they would make.

    `based_on` is the version of the agent that the draft started from.
    """

    agent_id: Annotated[str, Ref(Agent, cascade=True)]
    based_on: int
    snapshot: JsonObject
    created_by: str
    updated_by: str


@table(
    "agent_tools",
    prefix="agtl",
    unique=[("tenant_id", "agent_id", "tool_id")],
    indexes=[("tenant_id", "tool_id")],
    is_configuration=True,
)
class AgentTool(TenantRecord, kw_only=True):
    """A tool that an agent may use, with the agent's own settings for it.

    ADR 8: `override_destination` is where an authorized user lets the tool's secrets go with this override;
    empty if the override does not move them, or if its author was not authorized. `requires_approval` adds to
    the tool's own setting. `always_offered` functions are offered beside the tool search.
    """

    agent_id: Annotated[str, Ref(Agent, cascade=True)]
    tool_id: Annotated[str, Ref(Tool, cascade=True)]
    is_enabled: bool = True
    display_order: int = 0
    config_override: JsonObject | None = None
    override_destination: str = ""
    attached_by: str = ""
    requires_approval: Annotated[bool, ServerDefault("false")] = False
    always_offered: Annotated[bool, ServerDefault("false")] = False


class RelationshipType(StrEnum):
    template = "template"
    direct = "direct"


@table(
    "sub_agents",
    prefix="sag",
    unique=[("tenant_id", "parent_id", "child_id")],
    indexes=[("tenant_id", "child_id")],
    is_configuration=True,
)
class SubAgent(TenantRecord, kw_only=True):
    """An agent that another one may delegate tasks to.

    Relations with the same `display_order` are in the order in which they were made.
    """

    parent_id: Annotated[str, Ref(Agent, cascade=True)]
    child_id: Annotated[str, Ref(Agent, cascade=True)]
    relationship_type: RelationshipType
    is_enabled: bool = True
    delegation_prompt: str = ""
    display_order: Annotated[int, ServerDefault("0")] = 0
