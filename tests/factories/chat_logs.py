"""Turns as the log of an agent keeps them."""

from typing import Any

from retinue.agents.models import Agent
from retinue.chat.models import ChatChannel, ChatLog, TurnStatus


def chat_log(agent: Agent, **fields: Any) -> ChatLog:
    """Return the entry of a turn that is not stored yet."""
    defaults: dict[str, Any] = {
        "conversation_id": "conv",
        "message_id": "msg",
        "channel": ChatChannel.console,
        "tool_calls": [],
        "status": TurnStatus.completed,
        "correlation_id": "cor",
    }
    return ChatLog(agent_id=agent.id, **{**defaults, **fields})
