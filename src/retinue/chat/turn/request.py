"""The request for one turn, independent of the channel it came in on."""

from collections.abc import Callable

import msgspec

from retinue.adapters.llm import ModelMessage, ReasoningEffort
from retinue.agents.models import Agent
from retinue.agents.pinned import PinnedConfiguration
from retinue.chat.engine.attached import Attachment
from retinue.chat.engine.structured_output import OutputOverride
from retinue.chat.models import ChatChannel
from retinue.kit.context import Context
from retinue.kit.json_types import JsonObject


class Placement(msgspec.Struct, frozen=True):
    """The position of the message that a question follows, and of the one that it repeats, if any."""

    parent_position: int
    repeats_position: int | None = None


class TurnRequest(msgspec.Struct, frozen=True, kw_only=True):
    """One message to one agent.

    Without `conversation_id` and `session_id` a new conversation begins; `forces_new_conversation` begins
    one even if the session has an earlier conversation. `history` replaces the stored messages, for
    callers that keep the conversation themselves. `token_budget` is what the caller may still spend.
    `max_tokens`, `temperature`, `stop` and `reasoning_effort` override the agent's own values for this
    turn. `on_turn_end` runs in the transaction that stores the end of the turn and receives the tokens
    used. `job_id` names the background job that answers, if any. `depth` counts the agents that delegated
    the turn. `warnings` are codes that the reply begins with. `pinned` is the configuration of `agent` if
    it is not the one in use. `output` is the schema for the reply if it is not the agent's. `attachments`
    are files sent with the message. With `placement`, the message does not follow the newest one.
    Functions of `asks_before` that write wait for an approval: an earlier version of the turn ran them.
    """

    agent: Agent
    message: str
    channel: ChatChannel
    conversation_id: str | None = None
    session_id: str | None = None
    forces_new_conversation: bool = False
    embed_key_id: str | None = None
    visitor_id: str | None = None
    context: JsonObject | None = None
    history: tuple[ModelMessage, ...] | None = None
    token_budget: int | None = None
    max_tokens: int | None = None
    temperature: float | None = None
    stop: tuple[str, ...] = ()
    on_turn_end: Callable[[Context, int], None] | None = None
    job_id: str | None = None
    depth: int = 0
    warnings: tuple[str, ...] = ()
    pinned: PinnedConfiguration | None = None
    output: OutputOverride | None = None
    reasoning_effort: ReasoningEffort | None = None
    attachments: tuple[Attachment, ...] = ()
    placement: Placement | None = None
    asks_before: tuple[str, ...] = ()

    @property
    def output_schema(self) -> JsonObject | None:
        return self.agent.output_schema if self.output is None else self.output.schema

    @property
    def session_key(self) -> str | None:
        if self.session_id is None or self.forces_new_conversation:
            return None
        return session_key(self.embed_key_id, self.visitor_id, self.session_id)


def session_key(embed_key_id: str | None, visitor_id: str | None, session_id: str) -> str:
    """Return the key of a session: sessions are separate for each embed key and identified visitor."""
    return msgspec.json.encode((embed_key_id, visitor_id, session_id)).decode()
