"""The settings of an agent, declared once.

The record inherits them; requests, responses, snapshots, exports and the tenant file derive theirs from them.
"""

from enum import StrEnum
from typing import Annotated

import msgspec
from msgspec import Meta

from retinue.adapters.llm import ReasoningEffort
from retinue.kit.db.models import ServerDefault, TenantRecord
from retinue.kit.json_types import JsonObject
from retinue.kit.schema.base import NOT_BLANK, Name

ModelId = Annotated[str, Meta(min_length=1, max_length=200, pattern=r"[^\s\x1c-\x1f\x85\ufeff]"), NOT_BLANK]
FallbackModels = Annotated[list[ModelId], Meta(max_length=5)]
Description = Annotated[str, Meta(max_length=10_000)]
Starter = Annotated[str, Meta(min_length=1, max_length=200, pattern=r"[^\s\x1c-\x1f\x85\ufeff]"), NOT_BLANK]
Starters = Annotated[list[Starter], Meta(max_length=4)]
Prompt = Annotated[str, Meta(max_length=32_000)]
Temperature = Annotated[float, Meta(ge=0, le=1)]
MaxTokens = Annotated[int, Meta(ge=1, le=1_000_000)]
ContextTokens = Annotated[int, Meta(ge=1_000, le=180_000)]


class ToolSearch(StrEnum):
    """Whether an agent searches its functions: `auto` does beyond a number that a model can oversee."""

    auto = "auto"
    always = "always"
    off = "off"


class CacheTtl(StrEnum):
    short = "5m"
    long = "1h"


class AgentTimeouts(msgspec.Struct, frozen=True, kw_only=True):
    """Seconds that the agent's model and its turns may take; None means what the instance says."""

    first_byte_s: Annotated[int, Meta(ge=1, le=3600)] | None = None
    between_chunks_s: Annotated[int, Meta(ge=1, le=3600)] | None = None
    turn_s: Annotated[int, Meta(ge=1, le=3600)] | None = None


class AgentSettings(TenantRecord, kw_only=True):
    """The part of an agent that versions, files and other tenants take over.

    `starters` are questions that the chat page offers. A `temperature` or `max_tokens` of None is not sent to
    the model. `cache_ttl` is how long a provider is asked to keep the prompt in its cache. With
    `output_schema`, replies are JSON objects that match it. A `reasoning_effort` of None is not sent either.
    Histories beyond `max_context_tokens` are compacted, by `compaction_model` if given (ADR 32).
    """

    name: Name
    description: Description = ""
    starters: Annotated[Starters, ServerDefault("'[]'")] = []
    primary_model: ModelId
    fallback_models: FallbackModels = []
    system_prompt: Prompt
    temperature: Temperature | None = 0.7
    max_tokens: MaxTokens | None = 2048
    cache_ttl: Annotated[CacheTtl, ServerDefault("'5m'")] = CacheTtl.short
    timeouts: Annotated[AgentTimeouts, ServerDefault("'{}'")] = AgentTimeouts()
    output_schema: JsonObject | None = None
    reasoning_effort: ReasoningEffort | None = None
    tool_search: Annotated[ToolSearch, ServerDefault("'auto'")] = ToolSearch.auto
    max_context_tokens: ContextTokens | None = None
    compaction_model: ModelId | None = None
