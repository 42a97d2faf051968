"""What is said to a model and what it answers, in words that no single provider owns."""

from typing import Any, Literal

from msgspec import Struct

Role = Literal["system", "user", "assistant", "tool"]
FinishReason = Literal["stop", "length", "tool_calls", "content_filter"]


class TextPart(Struct, frozen=True, tag="text"):
    text: str


class ImageUrl(Struct, frozen=True, tag="image_url"):
    """An image the provider fetches itself."""

    url: str


class ImageData(Struct, frozen=True, tag="image"):
    """An image that travels with the message."""

    mime_type: str
    base64: str


Part = TextPart | ImageUrl | ImageData


class ToolCall(Struct, frozen=True):
    """A tool the model wants to use; `error` says why its arguments cannot be used, for the model to read."""

    id: str
    name: str
    arguments: dict[str, Any] | None
    raw_arguments: str
    error: str | None = None


class Echo(Struct, frozen=True):
    """What a provider must get back unread with its own message, such as signed reasoning."""

    provider: str
    model: str
    data: dict[str, Any]


class Message(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One message of a conversation; `tool_call_id` and `is_error` belong to the role `tool`."""

    role: Role
    content: str | tuple[Part, ...] = ""
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str = ""
    is_error: bool = False
    echo: Echo | None = None

    def text(self) -> str:
        """The text of the message without its images."""
        if isinstance(self.content, str):
            return self.content
        return "\n".join(part.text for part in self.content if isinstance(part, TextPart))


class ToolSpec(Struct, frozen=True):
    name: str
    description: str
    input_schema: dict[str, Any]


class ForcedTool(Struct, frozen=True):
    """The one tool the model must use."""

    name: str


class JsonSchema(Struct, frozen=True):
    """The form an answer must have."""

    name: str
    schema: dict[str, Any]


class ChatRequest(Struct, frozen=True, kw_only=True):
    """`response_format` is free text, any JSON object, or JSON of a schema."""

    model: str
    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...] = ()
    tool_choice: Literal["auto", "none", "required"] | ForcedTool = "auto"
    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    stop: tuple[str, ...] = ()
    response_format: Literal["text", "json"] | JsonSchema = "text"


class Usage(Struct, frozen=True):
    """Tokens as the provider counts them; the cached ones are among those of the prompt."""

    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int = 0


class ChatReply(Struct, frozen=True, kw_only=True):
    """`usage` is None when the provider did not say it; `model` is the one that answered."""

    text: str
    tool_calls: tuple[ToolCall, ...]
    finish_reason: FinishReason
    usage: Usage | None
    model: str
    echo: Echo | None = None

    def message(self) -> Message:
        """The reply as the next message of its conversation."""
        return Message(role="assistant", content=self.text, tool_calls=self.tool_calls, echo=self.echo)


class TextDelta(Struct, frozen=True, gc=False):
    text: str


class Done(Struct, frozen=True):
    """The end of a stream: the whole reply, with the text that was streamed."""

    reply: ChatReply


Delta = TextDelta | ToolCall | Done


class Embeddings(Struct, frozen=True):
    """One vector for each text, in the order of the texts."""

    vectors: list[list[float]]
    usage: Usage | None
    model: str


class Audio(Struct, frozen=True):
    """A recording; providers tell its format by the ending of the name."""

    content: bytes
    filename: str
    mime_type: str


class Transcription(Struct, frozen=True):
    """What was said; language and duration are None when the model does not tell them."""

    text: str
    language: str | None
    duration_seconds: float | None


class ModelInfo(Struct, frozen=True):
    """A model that a key may use."""

    id: str
    name: str
    context_window: int | None = None
