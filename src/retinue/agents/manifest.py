from retinue.agents.attachments import detach_tool
from retinue.agents.events import (
    AgentCreated,
    AgentDeleted,
    AgentDraftDiscarded,
    AgentDraftSaved,
    AgentPublished,
    AgentUpdated,
)
from retinue.agents.models import Agent, AgentDraft, AgentTool, AgentVersion, SubAgent
from retinue.agents.provider_keys import find_agents_on_last_key, keep_model
from retinue.agents.queries import find_agents_with_tool
from retinue.agents.routes import ROUTES
from retinue.agents.web_search import detach_credential, find_users_of_credential
from retinue.kit.context.manifest import Manifest
from retinue.kit.context.references import Reference
from retinue.kit.context.search_sources import SearchSource

manifest = Manifest(
    name="agents",
    records=(Agent, AgentVersion, AgentDraft, AgentTool, SubAgent),
    routes=ROUTES,
    events=(
        AgentCreated,
        AgentUpdated,
        AgentDeleted,
        AgentPublished,
        AgentDraftSaved,
        AgentDraftDiscarded,
    ),
    references=(
        Reference(to="tool", kind="agents", find=find_agents_with_tool, detach=detach_tool),
        Reference(to="credential", kind="agents", find=find_users_of_credential, detach=detach_credential),
        Reference(to="provider_key", kind="agents", find=find_agents_on_last_key, detach=keep_model),
    ),
    search_sources=(
        SearchSource(
            kind="agent",
            requires="agents:read",
            record=Agent,
            name=Agent.__table__.c.name,
            description=Agent.__table__.c.description,
            only=(Agent.__table__.c.parent_id.is_(None),),
        ),
    ),
)
