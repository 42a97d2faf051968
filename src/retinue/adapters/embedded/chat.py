"""Chat with a model on this machine: requests and replies in the words of every provider."""

from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import msgspec

from retinue.adapters.embedded.conversation import ChatCall, ChatPart, Over, Text, Tool, Turn, Use
from retinue.adapters.embedded.host import Capability, Host
from retinue.adapters.embedded.schemas import ANY_OBJECT
from retinue.adapters.llm.errors import ModelError
from retinue.adapters.llm.messages import (
    ChatReply,
    ChatRequest,
    Delta,
    Done,
    FinishReason,
    ForcedTool,
    JsonSchema,
    Message,
    TextDelta,
    ToolCall,
    Usage,
)
from retinue.adapters.llm.tool_calls import ToolCallList

CONTEXT = 4096
# Two answers grow side by side at little more cost than one, and nobody waits for the end of a long one.
PARALLEL = 2
# Whoever sets no limit gets an answer within a minute, also from a slow machine.
_USUAL_TOKENS = 512
_MEMORY_BESIDE_WEIGHTS = 4 * 1024**3
_CAPABILITY = Capability(
    name="chat", program="retinue.adapters.embedded.llama", parallel=PARALLEL, silence_s=60.0
)


class EmbeddedChat:
    """One GGUF file and the process that runs it; `path` is asked for when it starts."""

    def __init__(self, path: Path, *, context: int = CONTEXT, capability: Capability = _CAPABILITY) -> None:
        self._path = path
        self._context = context
        self.host = Host(capability, self._options)

    async def stream(self, request: ChatRequest, *, who: str = "") -> AsyncGenerator[Delta, None]:
        calls, texts, over = ToolCallList(), [], None
        payload = msgspec.to_builtins(call_of(request))
        async with aclosing(self.host.stream("chat", payload, who=who)) as parts:
            async for part in parts:
                told: ChatPart = msgspec.convert(part, ChatPart)
                if isinstance(told, Text):
                    texts.append(told.text)
                    yield TextDelta(told.text)
                elif isinstance(told, Use):
                    yield calls.add("", told.tool, told.input)
                elif isinstance(told, Over):
                    over = told
        if over is None:
            raise ModelError("broken_stream", "The embedded model ended without an end.")
        yield Done(_reply("".join(texts), calls.all(), over, request.model))

    def _options(self) -> dict[str, Any]:
        memory = self._path.stat().st_size * 3 + _MEMORY_BESIDE_WEIGHTS
        return {
            "path": str(self._path),
            "context": self._context,
            "parallel": self.host.capability.parallel,
            "readable": [str(self._path.parent)],
            "memory": memory,
        }


def call_of(request: ChatRequest) -> ChatCall:
    tools, choice = request.tools, request.tool_choice
    if choice == "none":
        tools = ()
    elif isinstance(choice, ForcedTool):
        tools = tuple(tool for tool in tools if tool.name == choice.name)
        if not tools:
            raise ModelError("invalid_request", f"There is no tool {choice.name} to use.")
    format = request.response_format
    schema = format.schema if isinstance(format, JsonSchema) else ANY_OBJECT if format == "json" else None
    return ChatCall(
        turns=list(turns_of(request.messages)),
        tools=[Tool(tool.name, tool.description, tool.input_schema) for tool in tools],
        may_answer=choice in {"auto", "none"} if isinstance(choice, str) else False,
        max_tokens=request.max_tokens or _USUAL_TOKENS,
        temperature=request.temperature or 0.0,
        top_p=1.0 if request.top_p is None else request.top_p,
        stop=list(request.stop),
        schema=schema,
    )


def turns_of(messages: tuple[Message, ...]) -> Iterator[Turn]:
    """Templates of small models know no tools: what came of one is told in words.

    That the assistant used it is not: a small model would only repeat the sentence.
    """
    used: dict[str, str] = {}
    for message in messages:
        text = message.text()
        used |= {call.id: _named(call) for call in message.tool_calls}
        if message.role == "tool":
            verb = "failed" if message.is_error else "answered"
            yield Turn("user", f"The tool {used.get(message.tool_call_id, '')} {verb}: {text}")
        elif text:
            yield Turn(message.role, text)
        elif not isinstance(message.content, str):
            raise ModelError("invalid_request", "The embedded model reads text only, no images.")


def _named(call: ToolCall) -> str:
    return f"{call.name} with {call.raw_arguments}" if call.arguments else call.name


def _reply(text: str, calls: tuple[ToolCall, ...], over: Over, model: str) -> ChatReply:
    finish: FinishReason = "tool_calls" if calls else "length" if over.is_cut else "stop"
    usage = Usage(over.prompt_tokens, over.completion_tokens)
    return ChatReply(text=text, tool_calls=calls, finish_reason=finish, usage=usage, model=model)
