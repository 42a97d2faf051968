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


class AlreadyAttached(Conflict):
    """It is attached to this agent already."""

    code = "already_attached"


class TooManyAttached(Conflict):
    """This agent has as many attached as it can have."""

    code = "too_many_attached"


class SubAgentCycle(Conflict):
    """An agent cannot be its own sub-agent, not even through others."""

    code = "sub_agent_cycle"


class SubAgentsTooDeep(Conflict):
    """Agents would delegate to one another through too many levels."""

    code = "sub_agents_too_deep"


class NotADirectSubAgent(Conflict):
    """This sub-agent is an agent of its own; change it there."""

    code = "not_a_direct_sub_agent"


class NotArchived(Conflict):
    """Only an archived agent can be restored."""

    code = "agent_not_archived"
