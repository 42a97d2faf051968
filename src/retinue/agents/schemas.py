from typing import Annotated, Any, Literal

import msgspec
from msgspec import NODEFAULT, UNSET, Meta, UnsetType

from retinue.agents.models import AgentStatus, LogSettings, RelationshipType
from retinue.agents.settings import AgentSettings, Description, Prompt, Temperature
from retinue.kit.json_types import JsonObject
from retinue.kit.lists import ListQuery
from retinue.kit.schema.base import Name, Schema
from retinue.kit.schema.derived import (
    as_declared,
    fields_of,
    in_changes,
    in_records,
    in_requests,
    in_responses,
    in_some_responses,
)
from retinue.tools.models import ToolType

DisplayOrder = Annotated[int, Meta(ge=0, le=2**31 - 1)]
Id = Annotated[str, Meta(min_length=1, max_length=200)]


@fields_of(AgentSettings, in_requests, description=None, fallback_models=None)
class AgentFields(Schema, kw_only=True):
    """Configuration of an agent or a direct sub-agent."""


class AgentCreate(AgentFields, kw_only=True):
    status: Literal["draft", "published"] | None = None


@fields_of(AgentFields, in_changes)
class AgentChanges(Schema, kw_only=True):
    """Fields of an agent to change."""


class AgentUpdate(AgentChanges, kw_only=True):
    """Null empties an optional field."""

    status: AgentStatus | UnsetType = UNSET


class AgentSummary(Schema, kw_only=True):
    """An agent as shown in lists."""

    id: str
    name: str
    description: str
    primary_model: str
    status: AgentStatus
    temperature: float | None
    created_at: str
    updated_at: str


@fields_of(AgentSettings, in_responses)
class AgentConfiguration(AgentSummary, kw_only=True):
    """An agent with its settings."""


class AgentOut(AgentConfiguration, kw_only=True):
    version: int
    created_by: str
    published_at: str | None


class ToolOfAgent(Schema, kw_only=True):
    id: str
    name: str
    tool_type: ToolType
    is_enabled: bool


class KnowledgeOfAgent(Schema, kw_only=True):
    enabled: bool
    document_count: int
    chunk_count: int


class SubAgentOfAgent(Schema, kw_only=True):
    id: str
    name: str
    relationship_type: RelationshipType


class AgentDetail(AgentOut, kw_only=True):
    tools: list[ToolOfAgent]
    knowledge_base: KnowledgeOfAgent
    sub_agents: list[SubAgentOfAgent]


StatsPeriod = Literal["24h", "7d", "30d", "90d"]


class AgentRowStats(Schema, kw_only=True):
    """Figures of an agent in a period. Times are those of completed chats; null if there were none."""

    period: StatsPeriod
    chats: int = 0
    failed_chats: int = 0
    tokens: int = 0
    cached_tokens: int = 0
    estimated_cost_usd: float = 0.0
    p95_response_time_ms: int | None = None
    p95_first_token_ms: int | None = None
    likes: int = 0
    dislikes: int = 0
    series: list[int] = []


class AgentListed(AgentSummary, kw_only=True):
    stats: AgentRowStats | UnsetType = UNSET


class AgentList(ListQuery, kw_only=True):
    status: AgentStatus | None = None
    primary_model: Annotated[str, Meta(max_length=200)] | None = None
    include: Literal["stats"] | None = None
    period: StatsPeriod = "7d"


class LogSettingsUpdate(Schema, kw_only=True):
    log_messages: bool | UnsetType = UNSET
    log_tool_calls: bool | UnsetType = UNSET
    log_token_usage: bool | UnsetType = UNSET
    retention_days: Annotated[int, Meta(ge=0, le=3650)] | UnsetType = UNSET


class AgentTemplate(Schema, kw_only=True):
    id: str
    name: Name
    description: Description
    system_prompt: Prompt
    temperature: Temperature
    web_search: bool
    questions: list[str]
    next_steps: list[str]


@fields_of(AgentSettings, as_declared, temperature=None, max_tokens=None)
class ExportedAgent(Schema, kw_only=True):
    name: Name


class ExportedWebSearch(Schema, kw_only=True):
    enabled: bool = False
    search_engine: Annotated[str, Meta(min_length=1, max_length=64)] = "duckduckgo"
    max_results: Annotated[int, Meta(ge=1, le=20)] = 5
    safe_search: bool = True
    read_pages: bool = True
    allowed_domains: Annotated[list[str], Meta(max_length=100)] = []
    blocked_domains: Annotated[list[str], Meta(max_length=100)] = []


class ExportedTool(Schema, kw_only=True):
    """A tool by its slug, by which it is found where the agent is imported."""

    slug: Annotated[str, Meta(min_length=1, max_length=200)]
    name: str = ""
    is_enabled: bool = True
    requires_approval: bool = False
    always_offered: bool = False
    has_config_override: bool = False


class AgentExport(Schema, kw_only=True):
    """An agent as a file, without secrets."""

    format: Literal["retinue.agent/1"]
    agent: ExportedAgent
    web_search: ExportedWebSearch | None = None
    tools: Annotated[list[ExportedTool], Meta(max_length=128)] = []
    sub_agents: Annotated[list[str], Meta(max_length=50)] = []


class AgentImported(Schema, kw_only=True):
    agent: AgentOut
    warnings: list[str]


# Every snapshot has the fields without a default; those that were added later need one.
@fields_of(
    AgentSettings,
    in_records,
    description=NODEFAULT,
    fallback_models=NODEFAULT,
    temperature=NODEFAULT,
    max_tokens=NODEFAULT,
)
class DirectAgent(Schema, kw_only=True):
    """Configuration of a direct sub-agent."""

    name: str


class ToolSnapshot(Schema, kw_only=True):
    tool_id: str
    name: str
    is_enabled: bool
    display_order: int
    config_override: JsonObject | None
    requires_approval: bool = False
    always_offered: bool = False


class SubAgentSnapshot(Schema, kw_only=True):
    """`agent` is the full configuration of a direct sub-agent; null for a template."""

    id: str
    name: str
    relationship_type: RelationshipType
    is_enabled: bool
    delegation_prompt: str
    agent: DirectAgent | None = None


class Snapshot(DirectAgent, kw_only=True):
    """The whole agent at one version, without what only holds for the user who saved it."""

    status: AgentStatus
    web_search: JsonObject
    log_settings: LogSettings
    tools: list[ToolSnapshot]
    sub_agents: list[SubAgentSnapshot]


class VersionSummary(Schema, kw_only=True):
    version: int
    created_at: str
    created_by: str
    summary: str
    published: bool


class VersionOut(VersionSummary, kw_only=True):
    snapshot: Snapshot


class DiffQuery(msgspec.Struct, kw_only=True):
    against: Annotated[int, Meta(ge=1, le=2**53)] | Literal["draft"] | None = None


class Difference(Schema, kw_only=True):
    path: str
    from_: Any = msgspec.field(name="from")
    to: Any


class AgentRestored(AgentDetail, kw_only=True):
    """`version` is the new version; `warnings` names what could not be restored."""

    restored_version: int
    warnings: list[str]


class Attach(Schema, kw_only=True):
    tool_id: Id
    is_enabled: bool | None = True
    display_order: DisplayOrder | None = None
    config_override: JsonObject | None = None
    requires_approval: bool = False
    always_offered: bool = False


class AttachmentUpdate(Schema, kw_only=True):
    is_enabled: bool | UnsetType = UNSET
    display_order: DisplayOrder | UnsetType = UNSET
    config_override: JsonObject | UnsetType | None = UNSET
    requires_approval: bool | UnsetType = UNSET
    always_offered: bool | UnsetType = UNSET


class Attached(Schema, kw_only=True):
    agent_id: str
    tool_id: str
    is_enabled: bool
    display_order: int
    config_override: JsonObject | None
    requires_approval: bool
    always_offered: bool
    attached_at: str


class AttachmentOut(Schema, kw_only=True):
    tool_id: str
    tool_name: str
    tool_type: ToolType
    category: str
    is_enabled: bool
    display_order: int
    config_override: JsonObject | None
    requires_approval: bool
    always_offered: bool
    attached_at: str


class SubAgentAttach(Schema, kw_only=True):
    agent_id: Id
    delegation_prompt: Prompt | None = ""
    is_enabled: bool | None = True


class SubAgentPatch(Schema, kw_only=True):
    delegation_prompt: Prompt | UnsetType | None = UNSET
    is_enabled: bool | UnsetType = UNSET


class DirectCreate(AgentFields, kw_only=True):
    delegation_prompt: Prompt | None = ""
    is_enabled: bool | None = True


class DirectUpdate(AgentChanges, kw_only=True):
    delegation_prompt: Prompt | UnsetType | None = UNSET
    is_enabled: bool | UnsetType = UNSET


@fields_of(AgentSettings, in_some_responses)
class SubAgentOut(Schema, kw_only=True):
    """The agent's own fields are present for a direct sub-agent, which is shown nowhere else."""

    id: str
    name: str
    relationship_type: RelationshipType
    is_enabled: bool
    delegation_prompt: str
