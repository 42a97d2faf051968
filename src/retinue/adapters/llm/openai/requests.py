"""Build the body of a request to OpenAI's chat completions API."""

from retinue.adapters.llm.effort_levels import accepted_effort
from retinue.adapters.llm.messages import (
    ChatRequest,
    ContentPart,
    ForcedTool,
    ImageData,
    ImageUrl,
    ModelMessage,
    ResponseSchema,
    TextContent,
    ToolCall,
)
from retinue.adapters.llm.profiles import ProviderProfile
from retinue.adapters.llm.response_schemas import fits_strict_rules, with_format_note
from retinue.adapters.llm.result_images import with_images_behind_results
from retinue.adapters.llm.tool_calls import provider_call_id, replayed_arguments
from retinue.kit.json_types import JsonObject


def chat_body(
    request: ChatRequest, provider: str, profile: ProviderProfile, *, is_streamed: bool
) -> JsonObject:
    writer = _Writer(provider, request.model, profile)
    if not profile.has_images_in_results:
        request = with_images_behind_results(request)
    body: JsonObject = {
        "model": request.model,
        **_tools(request),
        "messages": [writer.message(message) for message in _noted(request).messages_with_tail()],
        **_tool_choice(request),
        **_sampling(request, profile),
        **_response_format(request),
        **_effort(request, provider),
    }
    if profile.has_cache_key and request.cache is not None:
        body["prompt_cache_key"] = request.cache.key
    if request.max_tokens is not None:
        body[profile.limit_field] = request.max_tokens
    if is_streamed:
        body["stream"] = True
        if profile.has_stream_options:
            body["stream_options"] = {"include_usage": True}
    return body


class _Writer:
    """Converts messages for one provider and model."""

    def __init__(self, provider: str, model: str, profile: ProviderProfile) -> None:
        self._provider = provider
        self._model = model
        self._tool_id_shape = profile.tool_id_shape

    def message(self, message: ModelMessage) -> JsonObject:
        if message.role == "tool":
            id = provider_call_id(message.tool_call_id, self._tool_id_shape)
            return {"role": "tool", "tool_call_id": id, "content": _result(message)}
        if message.role == "assistant" and message.tool_calls:
            return self._tool_call_message(message)
        if isinstance(message.content, str):
            return {"role": message.role, "content": message.content}
        return {"role": message.role, "content": [_part(part) for part in message.content]}

    def _tool_call_message(self, message: ModelMessage) -> JsonObject:
        echo = message.echo
        is_own = echo is not None and (echo.provider, echo.model) == (self._provider, self._model)
        data = echo.data if echo is not None and is_own else {}
        signatures = data.get("extra_content", {})
        calls = [self._call(call, signatures.get(call.id)) for call in message.tool_calls]
        written: JsonObject = {
            "role": "assistant",
            "content": message.text() or None,
            "tool_calls": calls,
        }
        if "reasoning_content" in data:
            written["reasoning_content"] = data["reasoning_content"]
        return written

    def _call(self, call: ToolCall, signature: object) -> JsonObject:
        function = {"name": call.name, "arguments": replayed_arguments(call)}
        id = provider_call_id(call.id, self._tool_id_shape)
        written: JsonObject = {"id": id, "type": "function", "function": function}
        if signature:
            written["extra_content"] = signature
        return written


def _result(message: ModelMessage) -> str | list[JsonObject]:
    """Return a result as text, unless it still has an image."""
    if isinstance(message.content, str) or all(isinstance(part, TextContent) for part in message.content):
        return message.text()
    return [_part(part) for part in message.content]


def _part(part: ContentPart) -> JsonObject:
    match part:
        case TextContent(text):
            return {"type": "text", "text": text}
        case ImageUrl(url):
            return {"type": "image_url", "image_url": {"url": url}}
        case ImageData(mime_type, base64):
            return {"type": "image_url", "image_url": {"url": f"data:{mime_type};base64,{base64}"}}


def _sampling(request: ChatRequest, profile: ProviderProfile) -> JsonObject:
    if profile.refuses_sampling and profile.refuses_sampling.match(request.model):
        return {}
    fields = {"temperature": request.temperature, "top_p": request.top_p, "stop": list(request.stop) or None}
    return {name: value for name, value in fields.items() if value is not None}


def _effort(request: ChatRequest, provider: str) -> JsonObject:
    if request.reasoning_effort is None:
        return {}
    accepted = accepted_effort(provider, request.model, request.reasoning_effort)
    return {} if accepted is None else {"reasoning_effort": accepted.value}


def _tools(request: ChatRequest) -> JsonObject:
    if not request.tools:
        return {}
    tools = [
        {
            "type": "function",
            "function": {"name": tool.name, "description": tool.description, "parameters": tool.input_schema},
        }
        for tool in request.tools
    ]
    return {"tools": tools}


def _tool_choice(request: ChatRequest) -> JsonObject:
    if not request.tools or request.tool_choice == "auto":
        return {}
    if isinstance(request.tool_choice, ForcedTool):
        return {"tool_choice": {"type": "function", "function": {"name": request.tool_choice.name}}}
    return {"tool_choice": request.tool_choice}


def _noted(request: ChatRequest) -> ChatRequest:
    """Return the request with the note that the API requires for an object without a schema."""
    return with_format_note(request) if _is_any_object(request) else request


def _is_any_object(request: ChatRequest) -> bool:
    response_format = request.response_format
    return response_format == "json" or (
        isinstance(response_format, ResponseSchema) and response_format.is_any_object
    )


def _response_format(request: ChatRequest) -> JsonObject:
    response_format = request.response_format
    if response_format == "text":
        return {}
    if _is_any_object(request):
        return {"response_format": {"type": "json_object"}}
    assert isinstance(response_format, ResponseSchema)
    schema: JsonObject = {"name": response_format.name, "schema": response_format.schema}
    if fits_strict_rules(response_format.schema):
        schema["strict"] = True
    return {"response_format": {"type": "json_schema", "json_schema": schema}}
