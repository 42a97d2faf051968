"""The most tokens that a turn can use."""

from retinue.agents.models import Agent
from retinue.chat.engine.budget import MAX_TURN_TOKENS, MAX_UNLIMITED_REPLY_TOKENS, estimate_tokens
from retinue.chat.engine.prompts import MAX_HISTORY_CHARACTERS
from retinue.chat.schemas import MAX_MESSAGE_LENGTH

# Upper bound for the passages quoted from documents.
_MAX_PASSAGE_CHARACTERS = 10_000


def max_turn_tokens(agent: Agent) -> int:
    """Return the most tokens a turn can use; an agent without tools calls its model only once."""
    if agent.tool_count or agent.sub_agent_count or agent.web_search.enabled:
        return MAX_TURN_TOKENS
    prompt = (
        len(agent.system_prompt) + MAX_HISTORY_CHARACTERS + 2 * MAX_MESSAGE_LENGTH + _MAX_PASSAGE_CHARACTERS
    )
    return min(MAX_TURN_TOKENS, estimate_tokens(prompt) + (agent.max_tokens or MAX_UNLIMITED_REPLY_TOKENS))
