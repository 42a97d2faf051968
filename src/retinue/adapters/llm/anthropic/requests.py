"""Build the body of a request to Anthropic's Messages API."""

from collections.abc import Iterator

import msgspec

from retinue.adapters.llm.effort_levels import accepted_effort
from retinue.adapters.llm.messages import (
    ChatRequest,
    ContentPart,
    ForcedTool,
    ImageData,
    ImageUrl,
    ModelMessage,
    ReasoningEffort,
    ResponseSchema,
    TextContent,
)
from retinue.adapters.llm.profiles import ProviderProfile
from retinue.adapters.llm.response_schemas import to_anthropic_schema, with_format_note
from retinue.adapters.llm.tool_calls import provider_call_id, replayed_arguments
from retinue.kit.json_types import JsonObject

# The API requires a limit. It includes the model's reasoning, and every current model allows this value.
_DEFAULT_MAX_TOKENS = 16_384
_DEFAULT_TTL = "5m"
_TOOL_CHOICES = {"auto": "auto", "none": "none", "required": "any"}


def messages_body(
    request: ChatRequest, provider: str, profile: ProviderProfile, *, is_streamed: bool
) -> JsonObject:
    request, output = _output_config(request)
    body: JsonObject = {
        "model": request.model,
        **_tools(request),
        **_system(request),
        "messages": _Writer(provider, request.model, profile).turns(request),
        **_tool_choice(request),
        "max_tokens": request.max_tokens or _DEFAULT_MAX_TOKENS,
        **_sampling(request, profile),
        **_with_effort(output, request, provider),
    }
    if request.stop:
        body["stop_sequences"] = list(request.stop)
    if is_streamed:
        body["stream"] = True
    return body


class _Writer:
    """Converts messages into turns for one provider and model."""

    def __init__(self, provider: str, model: str, profile: ProviderProfile) -> None:
        self._provider = provider
        self._model = model
        self._tool_id_shape = profile.tool_id_shape

    def turns(self, request: ChatRequest) -> list[JsonObject]:
        """Merge consecutive messages of one role: the API wants the results of parallel calls in one turn."""
        turns: list[JsonObject] = []
        history_length = request.cache.history_length if request.cache is not None else 0
        for number, message in enumerate(request.messages, 1):
            role = "assistant" if message.role == "assistant" else "user"
            blocks = [] if message.role == "system" else self._blocks(message)
            if blocks and turns and turns[-1]["role"] == role:
                turns[-1]["content"] += blocks
            elif blocks:
                turns.append({"role": role, "content": blocks})
            if number in {history_length, len(request.messages)}:
                _mark_for_cache(request, turns)
        if request.tail and turns:
            turns[-1]["content"].append({"type": "text", "text": request.tail})
        return turns

    def _blocks(self, message: ModelMessage) -> list[JsonObject]:
        if message.role == "tool":
            return [self._result(message)]
        echo = message.echo
        if echo is not None and (echo.provider, echo.model) == (self._provider, self._model):
            return list(echo.data["content"])
        calls = [
            {
                "type": "tool_use",
                "id": provider_call_id(call.id, self._tool_id_shape),
                "name": call.name,
                "input": msgspec.Raw(replayed_arguments(call).encode()),
            }
            for call in message.tool_calls
        ]
        return [*_content(message), *calls]

    def _result(self, message: ModelMessage) -> JsonObject:
        result: JsonObject = {
            "type": "tool_result",
            "tool_use_id": provider_call_id(message.tool_call_id, self._tool_id_shape),
            "content": _content(message),
        }
        if message.is_error:
            result["is_error"] = True
        return result


def _mark_for_cache(request: ChatRequest, turns: list[JsonObject]) -> None:
    """Ask the provider to keep what it has read up to here."""
    if turns:
        content = turns[-1]["content"]
        content[-1] = {**content[-1], **_cache_control(request)}


def _cache_control(request: ChatRequest) -> JsonObject:
    if request.cache is None:
        return {}
    lasting = {"ttl": request.cache.ttl} if request.cache.ttl != _DEFAULT_TTL else {}
    return {"cache_control": {"type": "ephemeral", **lasting}}


def _content(message: ModelMessage) -> list[JsonObject]:
    """Return the message's content blocks; the API rejects empty text blocks."""
    parts = (TextContent(message.content),) if isinstance(message.content, str) else message.content
    return [_block(part) for part in parts if not isinstance(part, TextContent) or part.text]


def _block(part: ContentPart) -> JsonObject:
    match part:
        case TextContent(text):
            return {"type": "text", "text": text}
        case ImageUrl(url):
            return {"type": "image", "source": {"type": "url", "url": url}}
        case ImageData(mime_type, base64):
            return {"type": "image", "source": {"type": "base64", "media_type": mime_type, "data": base64}}


def _system(request: ChatRequest) -> JsonObject:
    text = "\n\n".join(_system_texts(request))
    if not text or request.cache is None:
        return {"system": text} if text else {}
    return {"system": [{"type": "text", "text": text, **_cache_control(request)}]}


def _system_texts(request: ChatRequest) -> Iterator[str]:
    for message in request.messages:
        if message.role == "system" and (text := message.text()):
            yield text


def _output_config(request: ChatRequest) -> tuple[ChatRequest, JsonObject]:
    """Return the field for a structured reply, or the request with a note if the API cannot express it."""
    response_format = request.response_format
    if response_format == "text":
        return request, {}
    schema = (
        to_anthropic_schema(response_format.schema) if isinstance(response_format, ResponseSchema) else None
    )
    if schema is None:
        return with_format_note(request), {}
    return request, {"output_config": {"format": {"type": "json_schema", "schema": schema}}}


def _with_effort(output: JsonObject, request: ChatRequest, provider: str) -> JsonObject:
    """Return the output configuration with the effort; an effort of none is the API's default."""
    if request.reasoning_effort is None:
        return output
    effort = accepted_effort(provider, request.model, request.reasoning_effort)
    if effort is None or effort is ReasoningEffort.none:
        return output
    return {"output_config": {**output.get("output_config", {}), "effort": effort.value}}


def _sampling(request: ChatRequest, profile: ProviderProfile) -> JsonObject:
    """Return the sampling parameters; the API caps the temperature at 1 and rejects `top_p` beside it."""
    if profile.refuses_sampling and profile.refuses_sampling.match(request.model):
        return {}
    if request.temperature is not None:
        return {"temperature": min(request.temperature, 1.0)}
    return {} if request.top_p is None else {"top_p": request.top_p}


def _tools(request: ChatRequest) -> JsonObject:
    if not request.tools:
        return {}
    tools: list[JsonObject] = [
        {
            "name": tool.name,
            "description": tool.description,
            "input_schema": {"type": "object", **tool.input_schema},
        }
        for tool in request.tools
    ]
    tools[-1] = {**tools[-1], **_cache_control(request)}
    return {"tools": tools}


def _tool_choice(request: ChatRequest) -> JsonObject:
    if not request.tools:
        return {}
    if isinstance(request.tool_choice, ForcedTool):
        return {"tool_choice": {"type": "tool", "name": request.tool_choice.name}}
    return {"tool_choice": {"type": _TOOL_CHOICES[request.tool_choice]}}
