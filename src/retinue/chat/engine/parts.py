"""The parts of a turn, shared by the engine, the stored records and the responses."""

from collections.abc import Iterator
from enum import StrEnum
from typing import Any

import msgspec

from retinue.kit.json_types import JsonObject


class FinishReason(StrEnum):
    stop = "stop"
    length = "length"
    tool_limit = "tool_limit"
    awaiting_approval = "awaiting_approval"
    cancelled = "cancelled"
    no_speech = "no_speech"
    content_filter = "content_filter"


class TokenUsage(msgspec.Struct, frozen=True, kw_only=True):
    prompt_tokens: int = 0
    completion_tokens: int = 0
    total_tokens: int = 0

    def plus(self, prompt_tokens: int, completion_tokens: int) -> "TokenUsage":
        prompt = self.prompt_tokens + prompt_tokens
        completion = self.completion_tokens + completion_tokens
        return TokenUsage(
            prompt_tokens=prompt, completion_tokens=completion, total_tokens=prompt + completion
        )


class Source(msgspec.Struct, frozen=True, kw_only=True):
    """A passage or web page the reply may rely on; the model cites it by its `index`."""

    document_name: str
    chunk_preview: str
    relevance_score: float
    document_id: str | None = None
    chunk_id: str | None = None
    page: int | None = None
    url: str | None = None
    index: int = 0

    def plain(self) -> "Source":
        """Return the source without document ids, for visitors."""
        return msgspec.structs.replace(self, document_id=None, chunk_id=None)


class CallStatus(StrEnum):
    completed = "completed"
    failed = "failed"
    timeout = "timeout"
    awaiting_approval = "awaiting_approval"
    denied = "denied"


class CallError(msgspec.Struct, frozen=True):
    code: str
    message: str


class CalledTool(msgspec.Struct, frozen=True, kw_only=True):
    """One use of a tool, a sub-agent or the web search in a turn."""

    id: str
    tool_id: str | None
    tool: str
    input: JsonObject
    output: Any = None
    status: CallStatus
    error: CallError | None = None
    execution_id: str | None = None
    execution_time_ms: int = 0
    sub_agent_id: str | None = None
    approval_id: str | None = None


class ReplyDetails(msgspec.Struct, frozen=True, kw_only=True):
    """Details of a reply; `error` is set if it was cut off."""

    model: str
    finish_reason: FinishReason
    usage: TokenUsage
    sources: tuple[Source, ...] = ()
    tool_calls: tuple[CalledTool, ...] = ()
    warnings: tuple[str, ...] = ()
    agent_version: int = 0
    correlation_id: str = ""
    error: CallError | None = None

    def pending_approvals(self) -> Iterator[CalledTool]:
        """Yield the calls that wait for their own approval, not those that wait for a sub-agent."""
        for call in self.tool_calls:
            if call.status is CallStatus.awaiting_approval and call.approval_id is not None:
                yield call


class ReplyText(msgspec.Struct, frozen=True, gc=False):
    """A piece of the reply's text."""

    text: str


class ToolCallStarted(msgspec.Struct, frozen=True):
    """A tool call that has begun; `is_from_sub_agent` if a sub-agent makes it."""

    id: str
    tool: str
    input: JsonObject
    is_from_sub_agent: bool = False


class ToolCallFinished(msgspec.Struct, frozen=True):
    call: CalledTool
    is_from_sub_agent: bool = False


class CallRound(msgspec.Struct, frozen=True, array_like=True):
    """A round of calls in a turn: the length of the reply when the model asked for them, and their ids."""

    text_length: int
    call_ids: tuple[str, ...]


class TurnFinished(msgspec.Struct, frozen=True, kw_only=True):
    """The end of a turn, and always its last part."""

    text: str
    details: ReplyDetails
    rounds: tuple[CallRound, ...] = ()


TurnPart = ReplyText | ToolCallStarted | ToolCallFinished | TurnFinished
