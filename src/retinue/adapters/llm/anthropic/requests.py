"""A chat request in the words of Anthropic's Messages."""

from collections.abc import Iterator
from typing import Any

import msgspec

from retinue.adapters.llm.messages import (
    ChatRequest,
    ForcedTool,
    ImageData,
    ImageUrl,
    JsonSchema,
    Message,
    Part,
    TextPart,
)
from retinue.adapters.llm.profiles import Profile
from retinue.adapters.llm.tool_calls import foreign_id

# The protocol wants a limit; it holds the model's reasoning too, and every current model allows this one.
_DEFAULT_MAX_TOKENS = 16_384
_TOOL_CHOICES = {"auto": "auto", "none": "none", "required": "any"}


def messages_body(
    request: ChatRequest, provider: str, profile: Profile, *, is_streamed: bool
) -> dict[str, Any]:
    body: dict[str, Any] = {
        "model": request.model,
        "max_tokens": request.max_tokens or _DEFAULT_MAX_TOKENS,
        "messages": _Writer(provider, request.model, profile).turns(request.messages),
        **_sampling(request, profile),
        **_tools(request),
    }
    if system := "\n\n".join(_system_texts(request)):
        body["system"] = system
    if request.stop:
        body["stop_sequences"] = list(request.stop)
    if is_streamed:
        body["stream"] = True
    return body


class _Writer:
    """Writes turns for one provider and model."""

    def __init__(self, provider: str, model: str, profile: Profile) -> None:
        self._provider = provider
        self._model = model
        self._tool_id_shape = profile.tool_id_shape

    def turns(self, messages: tuple[Message, ...]) -> list[dict[str, Any]]:
        """Messages of one side in a row become one turn: the results of parallel calls must be together."""
        turns: list[dict[str, Any]] = []
        for message in messages:
            role = "assistant" if message.role == "assistant" else "user"
            blocks = [] if message.role == "system" else self._blocks(message)
            if blocks and turns and turns[-1]["role"] == role:
                turns[-1]["content"] += blocks
            elif blocks:
                turns.append({"role": role, "content": blocks})
        return turns

    def _blocks(self, message: Message) -> list[dict[str, Any]]:
        if message.role == "tool":
            return [self._result(message)]
        echo = message.echo
        if echo is not None and (echo.provider, echo.model) == (self._provider, self._model):
            return list(echo.data["content"])
        calls = [
            {
                "type": "tool_use",
                "id": foreign_id(call.id, self._tool_id_shape),
                "name": call.name,
                "input": call.arguments or {},
            }
            for call in message.tool_calls
        ]
        return [*_content(message), *calls]

    def _result(self, message: Message) -> dict[str, Any]:
        result: dict[str, Any] = {
            "type": "tool_result",
            "tool_use_id": foreign_id(message.tool_call_id, self._tool_id_shape),
            "content": _content(message),
        }
        if message.is_error:
            result["is_error"] = True
        return result


def _content(message: Message) -> list[dict[str, Any]]:
    """Blocks of a message; a block of text may not be empty."""
    parts = (TextPart(message.content),) if isinstance(message.content, str) else message.content
    return [_block(part) for part in parts if not isinstance(part, TextPart) or part.text]


def _block(part: Part) -> dict[str, Any]:
    match part:
        case TextPart(text):
            return {"type": "text", "text": text}
        case ImageUrl(url):
            return {"type": "image", "source": {"type": "url", "url": url}}
        case ImageData(mime_type, base64):
            return {"type": "image", "source": {"type": "base64", "media_type": mime_type, "data": base64}}


def _system_texts(request: ChatRequest) -> Iterator[str]:
    for message in request.messages:
        if message.role == "system" and (text := message.text()):
            yield text
    if request.response_format != "text":
        yield "Answer with one JSON object and nothing else: no explanation and no code fence."
    if isinstance(request.response_format, JsonSchema):
        schema = msgspec.json.encode(request.response_format.schema).decode()
        yield f"The JSON object must match this JSON Schema:\n{schema}"


def _sampling(request: ChatRequest, profile: Profile) -> dict[str, Any]:
    """The temperature reaches no further than 1, and a model takes it or `top_p`, not both."""
    if profile.refuses_sampling and profile.refuses_sampling.match(request.model):
        return {}
    if request.temperature is not None:
        return {"temperature": min(request.temperature, 1.0)}
    return {} if request.top_p is None else {"top_p": request.top_p}


def _tools(request: ChatRequest) -> dict[str, Any]:
    if not request.tools:
        return {}
    tools = [
        {
            "name": tool.name,
            "description": tool.description,
            "input_schema": {"type": "object", **tool.input_schema},
        }
        for tool in request.tools
    ]
    if isinstance(request.tool_choice, ForcedTool):
        return {"tools": tools, "tool_choice": {"type": "tool", "name": request.tool_choice.name}}
    return {"tools": tools, "tool_choice": {"type": _TOOL_CHOICES[request.tool_choice]}}
