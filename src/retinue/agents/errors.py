from retinue.kit.errors import Conflict, NotFound


class AgentNotFound(NotFound):
    """There is no such agent."""

    code = "agent_not_found"


class SubAgentNotFound(NotFound):
    """There is no such sub-agent."""

    code = "sub_agent_not_found"


class VersionNotFound(NotFound):
    """There is no such version."""

    code = "version_not_found"


class DraftNotFound(NotFound):
    """The agent has no draft to publish. Save one first, or publish the agent as it is."""

    code = "draft_not_found"


class AlreadyAttached(Conflict):
    """This is already attached to the agent."""

    code = "already_attached"


class TooManyAttached(Conflict):
    """The agent has reached its limit for attachments. Detach one first."""

    code = "too_many_attached"


class SubAgentCycle(Conflict):
    """An agent cannot be its own sub-agent, directly or through other agents."""

    code = "sub_agent_cycle"


class SubAgentsTooDeep(Conflict):
    """Agents would delegate through too many levels. Shorten the chain of sub-agents."""

    code = "sub_agents_too_deep"


class NotADirectSubAgent(Conflict):
    """This sub-agent is an independent agent. Change it through its own endpoint."""

    code = "not_a_direct_sub_agent"


class NotArchived(Conflict):
    """Only an archived agent can be restored."""

    code = "agent_not_archived"
