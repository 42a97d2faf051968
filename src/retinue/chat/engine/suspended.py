"""The state of a suspended turn: its pending calls, and the decisions that resume it."""

from collections.abc import Iterator
from typing import Literal

import msgspec

from retinue.adapters.llm import ModelMessage, ToolCall
from retinue.chat.engine.parts import CallRound, ReplyDetails
from retinue.kit.json_types import JsonObject


class PendingCall(msgspec.Struct, frozen=True, kw_only=True):
    """A call that runs once it is approved."""

    call: ToolCall
    tool_id: str
    approval_id: str
    requested_at: float = 0.0


class SuspendedAgent(msgspec.Struct, frozen=True, kw_only=True):
    """The state of one suspended agent: its model's conversation and its pending calls.

    Stored in the database: a new field needs a default. `tail` ends each request of the turn; `mark` is that
    of its fence. `seed` is that of its task.
    """

    conversation: tuple[ModelMessage, ...]
    pending: tuple[PendingCall, ...]
    round_number: int
    delegated: tuple["Delegated", ...] = ()
    rounds: tuple[CallRound, ...] = ()
    tail: str = ""
    mark: str = ""
    seed: str = ""

    def pending_approvals(self, agent_id: str) -> Iterator[tuple[str, PendingCall]]:
        """Yield every pending call with the agent that makes it; `agent_id` is this agent."""
        for pending in self.pending:
            yield agent_id, pending
        for delegated in self.delegated:
            yield from delegated.pending_approvals(delegated.agent_id)


class Delegated(SuspendedAgent, frozen=True, kw_only=True):
    """A suspended sub-agent, and the call of its parent that it answers.

    `text` and `details` are its reply so far; `details` lists only pending tool calls, because the parent was
    told of the others.
    """

    call: ToolCall
    agent_id: str
    text: str
    details: ReplyDetails


class SuspendedTurn(SuspendedAgent, frozen=True, kw_only=True):
    """The suspended agent of the turn, with the rest of the budget that it shares with its sub-agents."""

    tokens_left: int
    calls_left: int
    seen: dict[str, int]
    is_spent: bool = False
    trace_parent: str = ""
    images_left: int | None = None
    image_bytes_left: int = 0


class CallDecision(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome of an approval; `edited_input` holds the arguments that an approver changed.

    With `is_late` nobody decided in time, and `decision` is what `on_timeout` made of it.
    """

    decision: Literal["approved", "rejected", "timeout", "cancelled"]
    is_late: bool = False
    comment: str | None = None
    edited_input: JsonObject | None = None


class Resumption(msgspec.Struct, frozen=True, kw_only=True):
    """The data that resumes a suspended agent: its state, the decisions, and its reply so far."""

    standing: SuspendedAgent
    decisions: dict[str, CallDecision]
    text: str
    details: ReplyDetails
