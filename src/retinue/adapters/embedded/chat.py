"""Chat with a model on this machine, with the requests and replies that all providers share."""

from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from pathlib import Path

import msgspec

from retinue.adapters.embedded.host import Capability, ModelHost
from retinue.adapters.embedded.prompt import (
    ChatCall,
    ChatEnd,
    ChatPart,
    PromptTool,
    PromptTurn,
    TextChunk,
    ToolChoice,
)
from retinue.adapters.embedded.schema_constraints import ANY_OBJECT
from retinue.adapters.llm.errors import ModelError
from retinue.adapters.llm.messages import (
    ChatRequest,
    Delta,
    FinishReason,
    ForcedTool,
    ModelMessage,
    ModelReply,
    ModelUsage,
    ReplyFinished,
    ResponseSchema,
    TextDelta,
    ToolCall,
)
from retinue.adapters.llm.tool_calls import ToolCallList
from retinue.kit.fair_queue import NOBODY, QueuedCaller
from retinue.kit.json_types import JsonObject

CONTEXT_TOKENS = 4096
# Two parallel replies cost little more than one, and a long reply does not block the next request.
PARALLEL_CALLS = 2
# Without a limit, a reply still finishes within a minute on a slow machine.
_DEFAULT_MAX_TOKENS = 512
_EXTRA_MEMORY_BYTES = 4 * 1024**3
_CAPABILITY = Capability(
    name="chat", program="retinue.adapters.embedded.llama", parallel=PARALLEL_CALLS, max_silence_s=60.0
)


class EmbeddedChat:
    """One GGUF file and the process that runs it; `path` is read when the process starts."""

    def __init__(
        self,
        path: Path,
        *,
        context: int = CONTEXT_TOKENS,
        capability: Capability = _CAPABILITY,
        brief_tokens: int = 0,
    ) -> None:
        """`brief_tokens` limits text replies of a model that loses the thread in long ones."""
        self._path = path
        self._brief_tokens = brief_tokens
        self._context = context
        self.host = ModelHost(capability, self._options)

    async def stream(
        self, request: ChatRequest, *, requester: QueuedCaller = NOBODY
    ) -> AsyncGenerator[Delta, None]:
        calls, texts, chat_end = ToolCallList(), [], None
        payload = msgspec.to_builtins(build_chat_call(request, self._brief_tokens))
        async with aclosing(self.host.stream("chat", payload, requester=requester)) as parts:
            async for part in parts:
                chat_part: ChatPart = msgspec.convert(part, ChatPart)
                if isinstance(chat_part, TextChunk):
                    texts.append(chat_part.text)
                    yield TextDelta(chat_part.text)
                elif isinstance(chat_part, ToolChoice):
                    yield calls.add("", chat_part.tool, chat_part.input)
                elif isinstance(chat_part, ChatEnd):
                    chat_end = chat_part
        if chat_end is None:
            raise ModelError("broken_stream", "The embedded model stopped before its reply was complete.")
        yield ReplyFinished(_reply("".join(texts), calls.all(), chat_end, request.model))

    def _options(self) -> JsonObject:
        memory = self._path.stat().st_size * 3 + _EXTRA_MEMORY_BYTES
        return {
            "path": str(self._path),
            "context": self._context,
            "parallel": self.host.capability.parallel,
            "readable": [str(self._path.parent)],
            "memory": memory,
        }


def build_chat_call(request: ChatRequest, brief_tokens: int = 0) -> ChatCall:
    tools, choice = request.tools, request.tool_choice
    if choice == "none":
        tools = ()
    elif isinstance(choice, ForcedTool):
        tools = tuple(tool for tool in tools if tool.name == choice.name)
        if not tools:
            raise ModelError("invalid_request", f"The tool {choice.name} is not in the list of tools.")
    format = request.response_format
    schema = format.schema if isinstance(format, ResponseSchema) else ANY_OBJECT if format == "json" else None
    return ChatCall(
        turns=list(build_turns(request.messages_with_tail())),
        tools=[PromptTool(tool.name, tool.description, tool.input_schema) for tool in tools],
        may_answer=choice in {"auto", "none"} if isinstance(choice, str) else False,
        max_tokens=request.max_tokens or _DEFAULT_MAX_TOKENS,
        brief_tokens=brief_tokens,
        temperature=request.temperature or 0.0,
        top_p=1.0 if request.top_p is None else request.top_p,
        stop=list(request.stop),
        schema=schema,
    )


def build_turns(messages: tuple[ModelMessage, ...]) -> Iterator[PromptTurn]:
    """Convert messages to turns; templates of small models have no tools, so results are told in words.

    Calls by the assistant are left out: a small model would only repeat them.
    """
    call_texts: dict[str, str] = {}
    for message in messages:
        text = message.text()
        call_texts |= {call.id: _describe_call(call) for call in message.tool_calls}
        if message.role == "tool":
            verb = "failed" if message.is_error else "answered"
            yield PromptTurn("user", f"The tool {call_texts.get(message.tool_call_id, '')} {verb}: {text}")
        elif text:
            yield PromptTurn(message.role, text)
        elif not isinstance(message.content, str):
            raise ModelError("invalid_request", "The embedded model reads text only. Remove the images.")


def _describe_call(call: ToolCall) -> str:
    return f"{call.name} with {call.raw_arguments}" if call.arguments else call.name


def _reply(text: str, calls: tuple[ToolCall, ...], chat_end: ChatEnd, model: str) -> ModelReply:
    finish: FinishReason = "tool_calls" if calls else "length" if chat_end.is_cut else "stop"
    usage = ModelUsage(chat_end.prompt_tokens, chat_end.completion_tokens)
    return ModelReply(text=text, tool_calls=calls, finish_reason=finish, usage=usage, model=model)
