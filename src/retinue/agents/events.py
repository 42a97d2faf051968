from retinue.kit.events.declare import Event, event

_EXAMPLE = {"agent_id": "agt_…", "name": "Support", "status": "published", "version": 2, "changes": []}


class AgentEvent(Event, kw_only=True):
    """`changes` names the fields that differ from the previous version."""

    agent_id: str
    name: str
    status: str
    version: int
    changes: list[str]


@event(
    "agent.created",
    subject="agent_id",
    audited=True,
    example={**_EXAMPLE, "status": "draft", "version": 1},
)
class AgentCreated(AgentEvent, kw_only=True):
    """An agent was created."""


@event(
    "agent.updated",
    subject="agent_id",
    audited=True,
    example={**_EXAMPLE, "changes": ["system_prompt"]},
)
class AgentUpdated(AgentEvent, kw_only=True):
    """An agent changed. `secret_destination` in `changes`: a tool's secrets may now go elsewhere."""


@event("agent.deleted", subject="agent_id", audited=True, example=_EXAMPLE)
class AgentDeleted(AgentEvent, kw_only=True):
    """An agent was deleted with its documents, direct sub-agents and embed keys."""


@event("agent.published", subject="agent_id", audited=True, example=_EXAMPLE)
class AgentPublished(AgentEvent, kw_only=True):
    """An agent was published."""


class AgentDraftEvent(Event, kw_only=True):
    """`based_on` is the version of the agent that the draft started from."""

    agent_id: str
    name: str
    based_on: int


_DRAFT_EXAMPLE = {"agent_id": "agt_…", "name": "Support", "based_on": 2}


@event("system.agent_draft.saved", subject="agent_id", audited=True, example=_DRAFT_EXAMPLE)
class AgentDraftSaved(AgentDraftEvent, kw_only=True):
    """The draft of an agent was saved; the agent itself stays as it is."""


@event("system.agent_draft.discarded", subject="agent_id", audited=True, example=_DRAFT_EXAMPLE)
class AgentDraftDiscarded(AgentDraftEvent, kw_only=True):
    """The draft of an agent was discarded without being published."""
