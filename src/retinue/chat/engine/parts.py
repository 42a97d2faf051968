"""The parts of a turn, shared by the engine, the stored records and the responses."""

from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import Any

import msgspec

from retinue.adapters.llm import ModelUsage
from retinue.kit.ignored_fields import IGNORED_FIELD_PREFIX
from retinue.kit.json_types import JsonObject
from retinue.tools.models import ToolImage

UNPRICED_WARNING = "unpriced_model"
UNPAID_WARNING = "budget_exceeded"
DEMO_WARNING = "demo_model"
TRUNCATED_WARNING_PREFIX = "attachment_truncated:"


class FinishReason(StrEnum):
    stop = "stop"
    length = "length"
    tool_limit = "tool_limit"
    awaiting_approval = "awaiting_approval"
    cancelled = "cancelled"
    no_speech = "no_speech"
    content_filter = "content_filter"


class TokenUsage(msgspec.Struct, frozen=True, kw_only=True):
    """Tokens of model calls; the last three are parts of the prompt and of the completion tokens."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    total_tokens: int = 0
    cached_tokens: int = 0
    cache_write_tokens: int = 0
    reasoning_tokens: int = 0

    @classmethod
    def of(cls, usage: ModelUsage) -> "TokenUsage":
        return cls(
            prompt_tokens=usage.prompt_tokens,
            completion_tokens=usage.completion_tokens,
            total_tokens=usage.prompt_tokens + usage.completion_tokens,
            cached_tokens=usage.cached_tokens,
            cache_write_tokens=usage.cache_write_tokens,
            reasoning_tokens=usage.reasoning_tokens,
        )

    def plus(self, other: "TokenUsage") -> "TokenUsage":
        return TokenUsage(
            prompt_tokens=self.prompt_tokens + other.prompt_tokens,
            completion_tokens=self.completion_tokens + other.completion_tokens,
            total_tokens=self.total_tokens + other.total_tokens,
            cached_tokens=self.cached_tokens + other.cached_tokens,
            cache_write_tokens=self.cache_write_tokens + other.cache_write_tokens,
            reasoning_tokens=self.reasoning_tokens + other.reasoning_tokens,
        )


class ModelSpending(msgspec.Struct, frozen=True, kw_only=True):
    """Tokens and cost of one model's calls in a turn; the cost is null if a price is unknown."""

    model: str
    calls: int
    prompt_tokens: int
    completion_tokens: int
    total_tokens: int
    cached_tokens: int
    cache_write_tokens: int
    reasoning_tokens: int
    estimated_cost_usd: float | None


def known_cost_usd(spendings: Iterable[ModelSpending]) -> float:
    """Return what the models with a known price cost."""
    return round(sum(spent.estimated_cost_usd or 0.0 for spent in spendings), 9)


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
    """One use of a tool, a sub-agent or the web search in a turn.

    With `found_by_search`, the model called the function by `call_tool`. `images` are those of the
    result.
    """

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
    found_by_search: bool = False
    images: tuple[ToolImage, ...] = ()


class Compaction(msgspec.Struct, frozen=True, kw_only=True):
    """The part that a turn left out of a history that had become too long.

    Tier 1 leaves out results of calls, 2 attachments; 3 is a summary. `up_to_message_id` is the last message
    of which anything was left out; null if the caller keeps the conversation.
    """

    tiers: tuple[int, ...]
    up_to_message_id: str | None
    tokens_before: int
    tokens_after: int


class ReplyDetails(msgspec.Struct, frozen=True, kw_only=True):
    """Details of a reply; `error` is set if it was cut off.

    The cost is null if a price is unknown, and for replies of releases that did not keep it. `output` is the
    value of a structured reply. `compaction` is set if the history had become too long. `context_tokens` is
    what the last request to the model and its answer took.
    """

    model: str
    finish_reason: FinishReason
    usage: TokenUsage
    sources: tuple[Source, ...] = ()
    tool_calls: tuple[CalledTool, ...] = ()
    warnings: tuple[str, ...] = ()
    agent_version: int = 0
    correlation_id: str = ""
    error: CallError | None = None
    usage_by_model: tuple[ModelSpending, ...] = ()
    estimated_cost_usd: float | None = None
    trace_id: str | None = None
    output: JsonObject | None = None
    compaction: Compaction | None = None
    context_tokens: int = 0

    def plain_warnings(self) -> tuple[str, ...]:
        """Return the warnings for visitors, who are told nothing of models and prices."""
        plain = (DEMO_WARNING, IGNORED_FIELD_PREFIX, TRUNCATED_WARNING_PREFIX)
        return tuple(warning for warning in self.warnings if warning.startswith(plain))

    def pending_approvals(self) -> Iterator[CalledTool]:
        """Yield the calls that wait for their own approval, not those that wait for a sub-agent."""
        for call in self.tool_calls:
            if call.status is CallStatus.awaiting_approval and call.approval_id is not None:
                yield call


class ReplyText(msgspec.Struct, frozen=True, gc=False):
    """A piece of the reply's text."""

    text: str


class TextWithdrawn(msgspec.Struct, frozen=True):
    """The text passed on so far, which is not part of the reply after all."""

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


TurnPart = ReplyText | TextWithdrawn | ToolCallStarted | ToolCallFinished | TurnFinished
