"""The chat engine: one loop of model, tools, sub-agents, knowledge and web search; no HTTP, no records."""

from retinue.chat.engine.budget import MAX_SECONDS, Budget
from retinue.chat.engine.loop import Task, Turn
from retinue.chat.engine.pausing import Decided, Paused, PendingCall, Resumption

__all__ = ["MAX_SECONDS", "Budget", "Decided", "Paused", "PendingCall", "Resumption", "Task", "Turn"]
