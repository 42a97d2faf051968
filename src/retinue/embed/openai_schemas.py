"""Schemas of OpenAI's chat completions, as far as agents support them."""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType

from retinue.adapters.llm import ReasoningEffort
from retinue.chat.engine.parts import TokenUsage
from retinue.kit.json_types import JsonObject
from retinue.kit.schema.base import Schema

Tokens = Annotated[int, Meta(ge=1, le=1_000_000)]
Stop = Annotated[str, Meta(min_length=1, max_length=100)]
Stops = Annotated[list[Stop], Meta(max_length=4)]


class ContentPart(Schema, kw_only=True):
    """Agents accept only text; parts of any other type are refused."""

    type: str
    text: str | None = None


class CompletionMessage(Schema, kw_only=True):
    """Messages of `system` and `developer` are passed to the agent as information, below its own prompt."""

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: str | list[ContentPart] | None = None


class StreamOptions(Schema, kw_only=True):
    include_usage: bool = False


class JsonSchemaFormat(Schema, kw_only=True):
    name: str | None = None
    schema: JsonObject | None = None
    strict: bool | None = None


class ResponseFormat(Schema, kw_only=True):
    type: Literal["text", "json_object", "json_schema"] = "text"
    json_schema: JsonSchemaFormat | None = None


class CallerFunction(Schema, kw_only=True):
    """A function of the caller."""

    name: Annotated[str, Meta(min_length=1, max_length=64)]
    description: str | None = None
    parameters: JsonObject | None = None
    strict: bool | None = None


class CallerTool(Schema, kw_only=True):
    type: str = "function"
    function: CallerFunction | None = None


class FunctionName(Schema, kw_only=True):
    name: str


class FunctionChoice(Schema, kw_only=True):
    type: str = "function"
    function: FunctionName | None = None


class CompletionAsk(Schema, kw_only=True):
    """`model` is the id of an agent, or its name if it is unique."""

    model: Annotated[str, Meta(min_length=1, max_length=200)]
    messages: Annotated[list[CompletionMessage], Meta(min_length=1, max_length=1_000)]
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    temperature: Annotated[float, Meta(ge=0, le=1)] | None = None
    max_tokens: Tokens | None = None
    max_completion_tokens: Tokens | None = None
    stop: Stop | Stops | None = None
    n: Annotated[int, Meta(ge=1, le=1)] | None = None
    tools: list[CallerTool] | None = None
    tool_choice: str | FunctionChoice | None = None
    functions: list[CallerFunction] | None = None
    function_call: str | FunctionName | None = None
    response_format: ResponseFormat | None = None
    reasoning_effort: ReasoningEffort | None = None


OpenAiFinishReason = Literal["stop", "length", "content_filter"]


class CalledFunction(Schema, kw_only=True):
    name: str
    arguments: str


class CompletionToolCall(Schema, kw_only=True):
    """The call of a function of the caller, which the caller makes."""

    index: int | UnsetType = UNSET
    id: str
    type: Literal["function"] = "function"
    function: CalledFunction


class CompletionReply(Schema, kw_only=True):
    role: Literal["assistant"] = "assistant"
    content: str | None
    refusal: None = None
    tool_calls: list[CompletionToolCall] | UnsetType = UNSET
    function_call: CalledFunction | UnsetType = UNSET


class Choice(Schema, kw_only=True):
    index: int = 0
    message: CompletionReply
    finish_reason: OpenAiFinishReason
    logprobs: None = None


class PromptTokensDetails(Schema, kw_only=True):
    cached_tokens: int
    cache_write_tokens: int


class CompletionTokensDetails(Schema, kw_only=True):
    reasoning_tokens: int


class CompletionUsage(Schema, kw_only=True):
    prompt_tokens: int
    completion_tokens: int
    total_tokens: int
    prompt_tokens_details: PromptTokensDetails
    completion_tokens_details: CompletionTokensDetails

    @classmethod
    def from_record(cls, usage: TokenUsage) -> "CompletionUsage":
        return cls.of(
            usage,
            prompt_tokens_details=PromptTokensDetails.of(usage),
            completion_tokens_details=CompletionTokensDetails.of(usage),
        )


class Completion(Schema, kw_only=True):
    id: str
    object: Literal["chat.completion"] = "chat.completion"
    created: int
    model: str
    choices: list[Choice]
    usage: CompletionUsage


class Delta(Schema, kw_only=True, omit_defaults=True):
    role: str | UnsetType = UNSET
    content: str | UnsetType = UNSET
    tool_calls: list[CompletionToolCall] | UnsetType = UNSET
    function_call: CalledFunction | UnsetType = UNSET


class ChunkChoice(Schema, kw_only=True):
    index: int = 0
    delta: Delta
    finish_reason: OpenAiFinishReason | None = None
    logprobs: None = None


class CompletionChunk(Schema, kw_only=True):
    """One piece of a streamed reply; with `include_usage` the last one has no choices but the usage."""

    id: str
    object: Literal["chat.completion.chunk"] = "chat.completion.chunk"
    created: int
    model: str
    choices: list[ChunkChoice]
    usage: CompletionUsage | UnsetType | None = UNSET


class Model(Schema, kw_only=True):
    """An agent as a model; its `name` works like its `id` if it is unique."""

    id: str
    object: Literal["model"] = "model"
    created: int
    owned_by: str = "retinue"
    name: str


class Models(Schema, kw_only=True):
    object: Literal["list"] = "list"
    data: list[Model]
