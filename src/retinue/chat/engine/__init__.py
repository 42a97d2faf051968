"""The chat engine: one loop of model, tools, sub-agents, knowledge and web search; no HTTP, no records."""

from retinue.chat.engine.budget import MAX_TURN_SECONDS, TurnBudget
from retinue.chat.engine.loop import AgentTurn
from retinue.chat.engine.suspended import CallDecision, PendingCall, Resumption, SuspendedTurn
from retinue.chat.engine.task import TurnTask

__all__ = [
    "MAX_TURN_SECONDS",
    "AgentTurn",
    "CallDecision",
    "PendingCall",
    "Resumption",
    "SuspendedTurn",
    "TurnBudget",
    "TurnTask",
]
