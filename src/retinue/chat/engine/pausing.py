"""A turn that waits for people: what it was, and how it goes on from there."""

from collections.abc import Iterator
from typing import Any, Literal

import msgspec

from retinue.adapters.llm import Message, ToolCall
from retinue.chat.words import ReplyDetails


class PendingCall(msgspec.Struct, frozen=True, kw_only=True):
    """A call that is made once someone has agreed to it."""

    call: ToolCall
    tool_id: str
    approval_id: str


class Standing(msgspec.Struct, frozen=True, kw_only=True):
    """Where one agent has stopped: everything that its model was told, and which of its calls wait.

    What was stored before there was a field has its default.
    """

    conversation: tuple[Message, ...]
    pending: tuple[PendingCall, ...]
    round_number: int
    delegated: tuple["Delegated", ...] = ()

    def questions(self, agent_id: str) -> Iterator[tuple[str, PendingCall]]:
        """Every call that waits, each with the agent that wants to make it; this one is `agent_id`."""
        for pending in self.pending:
            yield agent_id, pending
        for delegated in self.delegated:
            yield from delegated.questions(delegated.agent_id)


class Delegated(Standing, frozen=True, kw_only=True):
    """A sub-agent that has stopped, and so the call of its parent that it answers.

    `text` and `details` are its reply so far; of its tool calls only those that wait, for its parent was told
    of the others.
    """

    call: ToolCall
    agent_id: str
    text: str
    details: ReplyDetails


class Paused(Standing, frozen=True, kw_only=True):
    """The agent that was asked, and what is left of the turn's budget, which everyone in it shares."""

    mark: str
    tokens_left: int
    calls_left: int
    seen: dict[str, int]
    is_spent: bool = False


class Decided(msgspec.Struct, frozen=True, kw_only=True):
    """What came of a question; `edited_input` are the arguments that an approver changed."""

    decision: Literal["approved", "rejected", "timeout", "cancelled"]
    comment: str | None = None
    edited_input: dict[str, Any] | None = None


class Resumption(msgspec.Struct, frozen=True, kw_only=True):
    """An agent that had stopped, the answers of its turn, and the part of its reply that there is already."""

    standing: Standing
    decisions: dict[str, Decided]
    text: str
    details: ReplyDetails
