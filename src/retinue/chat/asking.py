"""What is asked of an agent, whichever way it came in."""

from collections.abc import Callable
from typing import Any

import msgspec

from retinue.adapters.llm import Message
from retinue.agents.models import Agent
from retinue.chat.models import Channel
from retinue.kit.context import Context


class Ask(msgspec.Struct, frozen=True, kw_only=True):
    """One message to one agent.

    Without `conversation_id` and `session_id` a new conversation begins. `history` is given by callers who
    keep the conversation themselves: it is used instead of the stored messages. `token_budget` is what the
    caller may still spend, and `max_tokens`, `temperature` and `stop` go over the agent's own for this turn.
    `at_end` is called in the transaction that stores the end of the turn, with the tokens it took. `job_id`
    is the job that answers it, where nobody waits. `depth` says how many agents have handed it on.
    """

    agent: Agent
    message: str
    channel: Channel
    conversation_id: str | None = None
    session_id: str | None = None
    embed_key_id: str | None = None
    visitor_id: str | None = None
    context: dict[str, Any] | None = None
    history: tuple[Message, ...] | None = None
    token_budget: int | None = None
    max_tokens: int | None = None
    temperature: float | None = None
    stop: tuple[str, ...] = ()
    at_end: Callable[[Context, int], None] | None = None
    job_id: str | None = None
    depth: int = 0

    @property
    def session_key(self) -> str | None:
        """A session is a visitor's own: another key, or another identified visitor, has another one."""
        if self.session_id is None:
            return None
        return msgspec.json.encode((self.embed_key_id, self.visitor_id, self.session_id)).decode()
