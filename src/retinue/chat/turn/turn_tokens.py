"""The most tokens that a turn can use."""

from retinue.adapters.llm.estimates import MAX_UNLIMITED_REPLY_TOKENS
from retinue.agents.models import Agent
from retinue.chat.engine.budget import MAX_TURN_TOKENS
from retinue.chat.engine.context_window import MAX_DEFAULT_CONTEXT_TOKENS


def max_turn_tokens(agent: Agent) -> int:
    """Return the most tokens a turn can use; an agent without tools calls its model only once."""
    if agent.tool_count or agent.sub_agent_count or agent.web_search.enabled:
        return MAX_TURN_TOKENS
    context_tokens = agent.max_context_tokens or MAX_DEFAULT_CONTEXT_TOKENS
    return min(MAX_TURN_TOKENS, context_tokens + (agent.max_tokens or MAX_UNLIMITED_REPLY_TOKENS))
