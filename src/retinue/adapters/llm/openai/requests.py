"""A chat request in the words of OpenAI's chat completions."""

from typing import Any

from retinue.adapters.llm.messages import (
    ChatRequest,
    ForcedTool,
    ImageData,
    ImageUrl,
    JsonSchema,
    Message,
    Part,
    TextPart,
    ToolCall,
)
from retinue.adapters.llm.profiles import Profile
from retinue.adapters.llm.tool_calls import foreign_id, replayed_arguments


def chat_body(request: ChatRequest, provider: str, profile: Profile, *, is_streamed: bool) -> dict[str, Any]:
    writer = _Writer(provider, request.model, profile)
    body: dict[str, Any] = {
        "model": request.model,
        "messages": [writer.message(message) for message in request.messages],
        **_sampling(request, profile),
        **_tools(request),
        **_response_format(request),
    }
    if request.max_tokens is not None:
        body[profile.limit_field] = request.max_tokens
    if is_streamed:
        body["stream"] = True
        if profile.has_stream_options:
            body["stream_options"] = {"include_usage": True}
    return body


class _Writer:
    """Writes messages for one provider and model."""

    def __init__(self, provider: str, model: str, profile: Profile) -> None:
        self._provider = provider
        self._model = model
        self._tool_id_shape = profile.tool_id_shape

    def message(self, message: Message) -> dict[str, Any]:
        if message.role == "tool":
            id = foreign_id(message.tool_call_id, self._tool_id_shape)
            return {"role": "tool", "tool_call_id": id, "content": message.text()}
        if message.role == "assistant" and message.tool_calls:
            return self._calling(message)
        if isinstance(message.content, str):
            return {"role": message.role, "content": message.content}
        return {"role": message.role, "content": [_part(part) for part in message.content]}

    def _calling(self, message: Message) -> dict[str, Any]:
        echo = message.echo
        is_own = echo is not None and (echo.provider, echo.model) == (self._provider, self._model)
        data = echo.data if echo is not None and is_own else {}
        signatures = data.get("extra_content", {})
        calls = [self._call(call, signatures.get(call.id)) for call in message.tool_calls]
        written: dict[str, Any] = {
            "role": "assistant",
            "content": message.text() or None,
            "tool_calls": calls,
        }
        if "reasoning_content" in data:
            written["reasoning_content"] = data["reasoning_content"]
        return written

    def _call(self, call: ToolCall, signature: Any) -> dict[str, Any]:
        function = {"name": call.name, "arguments": replayed_arguments(call)}
        id = foreign_id(call.id, self._tool_id_shape)
        written: dict[str, Any] = {"id": id, "type": "function", "function": function}
        if signature:
            written["extra_content"] = signature
        return written


def _part(part: Part) -> dict[str, Any]:
    match part:
        case TextPart(text):
            return {"type": "text", "text": text}
        case ImageUrl(url):
            return {"type": "image_url", "image_url": {"url": url}}
        case ImageData(mime_type, base64):
            return {"type": "image_url", "image_url": {"url": f"data:{mime_type};base64,{base64}"}}


def _sampling(request: ChatRequest, profile: Profile) -> dict[str, Any]:
    if profile.refuses_sampling and profile.refuses_sampling.match(request.model):
        return {}
    wanted = {"temperature": request.temperature, "top_p": request.top_p, "stop": list(request.stop) or None}
    return {name: value for name, value in wanted.items() if value is not None}


def _tools(request: ChatRequest) -> dict[str, Any]:
    if not request.tools:
        return {}
    tools = [
        {
            "type": "function",
            "function": {"name": tool.name, "description": tool.description, "parameters": tool.input_schema},
        }
        for tool in request.tools
    ]
    if request.tool_choice == "auto":
        return {"tools": tools}
    if isinstance(request.tool_choice, ForcedTool):
        forced = {"type": "function", "function": {"name": request.tool_choice.name}}
        return {"tools": tools, "tool_choice": forced}
    return {"tools": tools, "tool_choice": request.tool_choice}


def _response_format(request: ChatRequest) -> dict[str, Any]:
    wanted = request.response_format
    if isinstance(wanted, JsonSchema):
        schema = {"name": wanted.name, "schema": wanted.schema}
        return {"response_format": {"type": "json_schema", "json_schema": schema}}
    return {"response_format": {"type": "json_object"}} if wanted == "json" else {}
