"""Requests to models and their replies, independent of any provider."""

import hashlib
from enum import StrEnum
from typing import Literal

import msgspec
from msgspec import Struct

from retinue.kit.json_types import JsonObject

_CACHE_KEY_LENGTH = 32

Role = Literal["system", "user", "assistant", "tool"]
FinishReason = Literal["stop", "length", "tool_calls", "content_filter"]


class TextContent(Struct, frozen=True, tag="text"):
    text: str


class ImageUrl(Struct, frozen=True, tag="image_url"):
    """An image that the provider fetches itself."""

    url: str


class ImageData(Struct, frozen=True, tag="image"):
    """An image sent inline with the message; `file_id` names one whose content is loaded later."""

    mime_type: str
    base64: str
    file_id: str = ""


ContentPart = TextContent | ImageUrl | ImageData


class ToolCall(Struct, frozen=True):
    """A tool call by the model; `error` tells the model why its arguments are unusable."""

    id: str
    name: str
    arguments: JsonObject | None
    raw_arguments: str
    error: str | None = None


class Echo(Struct, frozen=True):
    """Opaque data that a provider requires back with its own message, such as signed reasoning."""

    provider: str
    model: str
    data: JsonObject


class ReasoningEffort(StrEnum):
    """How much a model reasons before it replies, from least to most."""

    none = "none"
    minimal = "minimal"
    low = "low"
    medium = "medium"
    high = "high"
    xhigh = "xhigh"


class ModelMessage(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One message of a conversation; `tool_call_id` and `is_error` apply to the role `tool` only."""

    role: Role
    content: str | tuple[ContentPart, ...] = ""
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str = ""
    is_error: bool = False
    echo: Echo | None = None

    def text(self) -> str:
        """Return the text of the message without its images."""
        if isinstance(self.content, str):
            return self.content
        return "\n".join(part.text for part in self.content if isinstance(part, TextContent))


class ToolSpec(Struct, frozen=True):
    name: str
    description: str
    input_schema: JsonObject


class ForcedTool(Struct, frozen=True):
    """The tool that the model must call."""

    name: str


class ResponseSchema(Struct, frozen=True):
    """The JSON Schema that the reply must match; `attempt` is 2 if a first reply did not."""

    name: str
    schema: JsonObject
    attempt: int = 1

    @property
    def is_any_object(self) -> bool:
        """Whether the schema says no more than that the reply is a JSON object."""
        return self.schema == {"type": "object"}


class PromptCache(Struct, frozen=True, kw_only=True):
    """The hint by which a provider finds the beginning of a conversation in its cache.

    `seed` is the same for all requests of a conversation; the first `history_length` messages are old.
    """

    seed: str
    ttl: Literal["5m", "1h"]
    history_length: int

    @property
    def key(self) -> str:
        """The seed as a provider may see it."""
        return hashlib.sha256(self.seed.encode(errors="surrogatepass")).hexdigest()[:_CACHE_KEY_LENGTH]


class ChatRequest(Struct, frozen=True, kw_only=True):
    """A request for one reply; `response_format` is text, any JSON object, or JSON matching a schema.

    `tail` is text at the end of the last message that later requests do not repeat.
    """

    model: str
    messages: tuple[ModelMessage, ...]
    tail: str = ""
    tools: tuple[ToolSpec, ...] = ()
    tool_choice: Literal["auto", "none", "required"] | ForcedTool = "auto"
    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    stop: tuple[str, ...] = ()
    response_format: Literal["text", "json"] | ResponseSchema = "text"
    cache: PromptCache | None = None
    reasoning_effort: ReasoningEffort | None = None

    def messages_with_tail(self) -> tuple[ModelMessage, ...]:
        if not self.tail:
            return self.messages
        *before, last = self.messages
        if isinstance(last.content, str):
            content: str | tuple[ContentPart, ...] = f"{last.content}\n\n{self.tail}"
        else:
            content = (*last.content, TextContent(self.tail))
        return (*before, msgspec.structs.replace(last, content=content))


class ModelUsage(Struct, frozen=True):
    """Token counts as reported by the provider.

    `prompt_tokens` includes those read from and written to a cache, `cache_write_tokens` those that it keeps
    for an hour, `completion_tokens` those of reasoning.
    """

    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int = 0
    cache_write_tokens: int = 0
    cache_write_1h_tokens: int = 0
    reasoning_tokens: int = 0


class ModelReply(Struct, frozen=True, kw_only=True):
    """A complete reply; `usage` is None if it was not reported, `model` is the model that replied."""

    text: str
    tool_calls: tuple[ToolCall, ...]
    finish_reason: FinishReason
    usage: ModelUsage | None
    model: str
    echo: Echo | None = None

    def message(self) -> ModelMessage:
        """Return the reply as the next message of its conversation."""
        return ModelMessage(role="assistant", content=self.text, tool_calls=self.tool_calls, echo=self.echo)


class TextDelta(Struct, frozen=True, gc=False):
    text: str


class ReplyFinished(Struct, frozen=True):
    """The end of a stream, with the complete reply including the text already streamed."""

    reply: ModelReply


Delta = TextDelta | ToolCall | ReplyFinished


class Embeddings(Struct, frozen=True):
    """One vector per text, in the same order."""

    vectors: list[list[float]]
    usage: ModelUsage | None
    model: str


class Audio(Struct, frozen=True):
    """A recording; providers detect its format by the extension of the file name."""

    content: bytes
    filename: str
    mime_type: str


class Transcription(Struct, frozen=True):
    """The recognized text; language and duration are None if the model does not report them."""

    text: str
    language: str | None
    duration_seconds: float | None


class ModelInfo(Struct, frozen=True):
    """A model that a key can use."""

    id: str
    name: str
    context_window: int | None = None
