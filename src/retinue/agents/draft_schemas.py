"""Request and response shapes of drafts."""

from typing import Annotated

from msgspec import UNSET, Meta, UnsetType

from retinue.agents.attachments import MAX_TOOLS
from retinue.agents.models import RelationshipType
from retinue.agents.schemas import (
    AgentChanges,
    AgentFields,
    AgentOut,
    DisplayOrder,
    Id,
    LogSettingsUpdate,
    Snapshot,
)
from retinue.agents.settings import Prompt
from retinue.agents.sub_agents import MAX_SUB_AGENTS
from retinue.agents.web_search import WebSearchUpdate
from retinue.kit.json_types import JsonObject
from retinue.kit.schema.base import Schema

VersionNumber = Annotated[int, Meta(ge=1, le=2**53)]


class ToolDraft(Schema, kw_only=True):
    """A tool of the draft. The `name` of a snapshot that is sent back has no effect."""

    tool_id: Id
    name: str | None = None
    is_enabled: bool = True
    display_order: DisplayOrder | None = None
    config_override: JsonObject | None = None
    requires_approval: bool = False
    always_offered: bool = False


class SubAgentDraft(Schema, kw_only=True):
    """A sub-agent of the draft.

    A template is named by its `id`. A direct one carries its whole configuration in `agent`; without a known
    `id` it is a new one and gets an id.
    """

    id: Id | None = None
    name: str | None = None
    relationship_type: RelationshipType = RelationshipType.template
    is_enabled: bool = True
    delegation_prompt: Prompt | None = ""
    agent: AgentFields | None = None


class SnapshotChanges(AgentChanges, kw_only=True):
    """Fields of the draft to change.

    The `status` of a snapshot that is sent back has no effect.
    """

    status: str | UnsetType = UNSET
    web_search: WebSearchUpdate | UnsetType = UNSET
    log_settings: LogSettingsUpdate | UnsetType = UNSET
    tools: Annotated[list[ToolDraft], Meta(max_length=MAX_TOOLS)] | UnsetType = UNSET
    sub_agents: Annotated[list[SubAgentDraft], Meta(max_length=MAX_SUB_AGENTS)] | UnsetType = UNSET


class DraftUpdate(Schema, kw_only=True):
    snapshot: SnapshotChanges
    based_on: VersionNumber | None = None


class DraftOut(Schema, kw_only=True):
    """Without a stored draft, `snapshot` is the agent as it is now."""

    agent_id: str
    based_on: int
    is_stored: bool
    is_changed: bool
    snapshot: Snapshot
    updated_at: str | None
    updated_by: str | None


class Publication(Schema, kw_only=True):
    """How to publish; without a body the agent is published as it is."""

    from_draft: bool = False
    note: Annotated[str, Meta(max_length=1_000)] | None = None
    force: bool = False


class PublishedAgent(AgentOut, kw_only=True):
    """`warnings` is present if a draft was published."""

    warnings: list[str] | UnsetType = UNSET
