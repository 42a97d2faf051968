"""A turn that waits for people: what it was, and how it goes on from there."""

from typing import Any, Literal

import msgspec

from retinue.adapters.llm import Message, ToolCall
from retinue.chat.words import ReplyDetails


class PendingCall(msgspec.Struct, frozen=True, kw_only=True):
    """A call that is made once someone has agreed to it."""

    call: ToolCall
    tool_id: str
    approval_id: str


class Paused(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that the model was told, what it asked for, and what is left of the turn's budget."""

    conversation: tuple[Message, ...]
    mark: str
    pending: tuple[PendingCall, ...]
    round_number: int
    tokens_left: int
    calls_left: int
    seen: dict[str, int]


class Decided(msgspec.Struct, frozen=True, kw_only=True):
    """What came of a question; `edited_input` are the arguments that an approver changed."""

    decision: Literal["approved", "rejected", "timeout", "cancelled"]
    comment: str | None = None
    edited_input: dict[str, Any] | None = None


class Resumption(msgspec.Struct, frozen=True, kw_only=True):
    """A paused turn with all its answers, and the part of the reply that there is already."""

    paused: Paused
    decisions: dict[str, Decided]
    text: str
    details: ReplyDetails
