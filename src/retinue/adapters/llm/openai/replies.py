"""Parse chat completions, whole or streamed in chunks, into a reply."""

from typing import Any

import msgspec
from msgspec import Struct

from retinue.adapters.llm.errors import ModelError
from retinue.adapters.llm.messages import Echo, FinishReason, ModelReply, TextDelta, ToolCall
from retinue.adapters.llm.reply_parser import ReplyParser
from retinue.adapters.llm.tool_calls import ToolCallList
from retinue.adapters.llm.usage import openai_usage
from retinue.kit.json_types import JsonObject

_FINISH_REASONS: dict[str, FinishReason] = {
    "stop": "stop",
    "length": "length",
    "max_tokens": "length",
    "model_length": "length",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "content_filter": "content_filter",
}


class _Function(Struct):
    name: str | None = None
    arguments: str | JsonObject | None = None


class _Call(Struct):
    index: int | None = None
    id: str | None = None
    function: _Function | None = None
    extra_content: Any = None


class _MessageDelta(Struct):
    """A message, or the part of it that one chunk adds."""

    content: str | list[JsonObject] | None = None
    refusal: str | None = None
    reasoning_content: str | None = None
    tool_calls: list[_Call] | None = None


class _Choice(Struct):
    delta: _MessageDelta | None = None
    message: _MessageDelta | None = None
    finish_reason: str | None = None


class _Completion(Struct):
    choices: list[_Choice] | None = None
    model: str | None = None
    usage: Any = None
    error: Any = None


_decode = msgspec.json.Decoder(_Completion).decode


class _Fragments(Struct):
    """A tool call that is still being streamed."""

    id: str = ""
    name: str = ""
    arguments: list[str] = []
    extra_content: Any = None


class OpenAiReplyParser(ReplyParser):
    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._usage: Any = None
        self._reasoning: list[str] = []
        self._calls: list[_Fragments] = []
        self._call_at: dict[int | None, _Fragments] = {}

    def _parse_event(self, data: bytes) -> TextDelta | None:
        if data == b"[DONE]":
            self.is_over = True
            return None
        completion = _decode(data)
        if completion.error:
            raise self._reported(completion.error)
        if completion.model:
            self._model = completion.model
        if completion.usage:
            self._usage = completion.usage
        if not completion.choices:
            return None
        self._has_begun = True
        choice = completion.choices[0]
        if choice.finish_reason:
            self._set_finish_reason(choice.finish_reason)
        content_delta = choice.delta or choice.message
        return self._apply_delta(content_delta) if content_delta is not None else None

    def parse_whole(self, body: bytes) -> TextDelta | None:
        self.is_over = True
        return self._parse_event(body)

    def _apply_delta(self, content_delta: _MessageDelta) -> TextDelta | None:
        if content_delta.tool_calls:
            for call in content_delta.tool_calls:
                self._apply_call(call)
        if content_delta.reasoning_content is not None:
            self._reasoning.append(content_delta.reasoning_content)
        content = content_delta.content or content_delta.refusal
        text = content if isinstance(content, str) or not content else _text_of(content)
        if not text:
            return None
        self._text.append(text)
        return TextDelta(text)

    def _set_finish_reason(self, reason: str) -> None:
        if reason == "error":
            raise ModelError("overloaded", "The model stopped because of an error.")
        self._finish_reason = _FINISH_REASONS.get(reason, "stop")

    def _apply_call(self, call: _Call) -> None:
        function = call.function or _Function()
        fragments = self._call_at.get(call.index)
        if fragments is None or _is_new_call(fragments, call, function):
            fragments = self._call_at[call.index] = _Fragments()
            self._calls.append(fragments)
        fragments.id = fragments.id or call.id or ""
        fragments.name = fragments.name or function.name or ""
        fragments.extra_content = fragments.extra_content or call.extra_content
        if function.arguments:
            fragments.arguments.append(_arguments_text(function.arguments))

    def _build_reply(self) -> ModelReply:
        calls = ToolCallList()
        tool_calls = [calls.add(call.id, call.name, "".join(call.arguments)) for call in self._calls]
        return ModelReply(
            text="".join(self._text),
            tool_calls=calls.all(),
            finish_reason=self._resolve_finish_reason(calls.all()),
            usage=openai_usage(self._usage),
            model=self._model,
            echo=self._echo(tool_calls),
        )

    def _echo(self, calls: list[ToolCall]) -> Echo | None:
        """Return the reasoning and signatures that providers want back together with tool calls."""
        data: JsonObject = {}
        if calls and self._reasoning:
            data["reasoning_content"] = "".join(self._reasoning)
        signed = {
            call.id: fragments.extra_content
            for call, fragments in zip(calls, self._calls, strict=True)
            if fragments.extra_content
        }
        if signed:
            data["extra_content"] = signed
        return Echo(self._provider, self._asked_model, data) if data else None


def _is_new_call(fragments: _Fragments, call: _Call, function: _Function) -> bool:
    """Tell calls apart by index, or by id or name for servers that send one index for all calls or none."""
    if call.id and fragments.id and call.id != fragments.id:
        return True
    return call.index is None and bool(function.name and fragments.name)


def _text_of(parts: list[JsonObject]) -> str:
    """Join the text parts and leave out the reasoning."""
    return "".join(str(part.get("text", "")) for part in parts if part.get("type") == "text")


def _arguments_text(arguments: str | JsonObject) -> str:
    return arguments if isinstance(arguments, str) else msgspec.json.encode(arguments).decode()
