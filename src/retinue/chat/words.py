"""What a turn is made of: the words that the engine, the records and the answers share."""

from collections.abc import Iterator
from enum import StrEnum
from typing import Any

import msgspec


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
    """A passage or a page that the answer may lean on; `index` is how the model was told to cite it."""

    document_name: str
    chunk_preview: str
    relevance_score: float
    document_id: str | None = None
    chunk_id: str | None = None
    page: int | None = None
    url: str | None = None
    index: int = 0

    def plain(self) -> "Source":
        """For visitors, who have no business with the ids of documents."""
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
    input: dict[str, Any]
    output: Any = None
    status: CallStatus
    error: CallError | None = None
    execution_id: str | None = None
    execution_time_ms: int = 0
    sub_agent_id: str | None = None
    approval_id: str | None = None


class ReplyDetails(msgspec.Struct, frozen=True, kw_only=True):
    """How a reply came about; `error` is what cut it off."""

    model: str
    finish_reason: FinishReason
    usage: TokenUsage
    sources: tuple[Source, ...] = ()
    tool_calls: tuple[CalledTool, ...] = ()
    warnings: tuple[str, ...] = ()
    agent_version: int = 0
    correlation_id: str = ""
    error: CallError | None = None

    def questions(self) -> Iterator[CalledTool]:
        """The calls that people are asked about; a sub-agent's keep the call that it answers waiting too."""
        for call in self.tool_calls:
            if call.status is CallStatus.awaiting_approval and call.approval_id is not None:
                yield call


class Said(msgspec.Struct, frozen=True, gc=False):
    """A piece of the reply's text."""

    text: str


class ToolBegan(msgspec.Struct, frozen=True):
    """`is_inner`: a sub-agent uses it, not the agent itself."""

    id: str
    tool: str
    input: dict[str, Any]
    is_inner: bool = False


class ToolDone(msgspec.Struct, frozen=True):
    call: CalledTool
    is_inner: bool = False


class Answered(msgspec.Struct, frozen=True, kw_only=True):
    """The end of a turn, and always its last part."""

    text: str
    details: ReplyDetails


Part = Said | ToolBegan | ToolDone | Answered
