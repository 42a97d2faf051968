from retinue.kit.events.declare import Event, event

_EXAMPLE = {"agent_id": "agt_…", "name": "Support", "status": "published", "version": 2, "changes": []}


class AgentEvent(Event, kw_only=True):
    """`changes` are the names of what differs from the version before."""

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
    """An agent changed; `secret_destination` among the changes: a tool's secrets may go elsewhere now."""


@event("agent.deleted", subject="agent_id", audited=True, example=_EXAMPLE)
class AgentDeleted(AgentEvent, kw_only=True):
    """An agent was deleted with its documents, direct sub-agents and embed keys."""


@event("agent.published", subject="agent_id", audited=True, example=_EXAMPLE)
class AgentPublished(AgentEvent, kw_only=True):
    """An agent entered the published state."""
