"""Chat completions, whole or in chunks, read into a reply."""

from typing import Any

import msgspec
from msgspec import Struct

from retinue.adapters.llm.errors import ModelError
from retinue.adapters.llm.messages import ChatReply, Echo, FinishReason, TextDelta, ToolCall
from retinue.adapters.llm.reading import Reading
from retinue.adapters.llm.tool_calls import ToolCallList
from retinue.adapters.llm.usage import openai_usage

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
    arguments: str | dict[str, Any] | None = None


class _Call(Struct):
    index: int | None = None
    id: str | None = None
    function: _Function | None = None
    extra_content: Any = None


class _Said(Struct):
    """A message, or the part of it that a chunk adds."""

    content: str | list[dict[str, Any]] | None = None
    refusal: str | None = None
    reasoning_content: str | None = None
    tool_calls: list[_Call] | None = None


class _Choice(Struct):
    delta: _Said | None = None
    message: _Said | None = None
    finish_reason: str | None = None


class _Completion(Struct):
    choices: list[_Choice] | None = None
    model: str | None = None
    usage: Any = None
    error: Any = None


_decode = msgspec.json.Decoder(_Completion).decode


class _Fragments(Struct):
    """A tool call of which more may come."""

    id: str = ""
    name: str = ""
    arguments: list[str] = []
    extra_content: Any = None


class CompletionReading(Reading):
    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._usage: Any = None
        self._reasoning: list[str] = []
        self._calls: list[_Fragments] = []
        self._call_at: dict[int | None, _Fragments] = {}

    def _take(self, data: bytes) -> TextDelta | None:
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
            self._end(choice.finish_reason)
        said = choice.delta or choice.message
        return self._hear(said) if said is not None else None

    def take_whole(self, body: bytes) -> TextDelta | None:
        self.is_over = True
        return self._take(body)

    def _hear(self, said: _Said) -> TextDelta | None:
        if said.tool_calls:
            for call in said.tool_calls:
                self._take_call(call)
        if said.reasoning_content is not None:
            self._reasoning.append(said.reasoning_content)
        content = said.content or said.refusal
        text = content if isinstance(content, str) or not content else _text_of(content)
        if not text:
            return None
        self._text.append(text)
        return TextDelta(text)

    def _end(self, reason: str) -> None:
        if reason == "error":
            raise ModelError("overloaded", "The model stopped because of an error.")
        self._finish_reason = _FINISH_REASONS.get(reason, "stop")

    def _take_call(self, call: _Call) -> None:
        function = call.function or _Function()
        fragments = self._call_at.get(call.index)
        if fragments is None or _is_another(fragments, call, function):
            fragments = self._call_at[call.index] = _Fragments()
            self._calls.append(fragments)
        fragments.id = fragments.id or call.id or ""
        fragments.name = fragments.name or function.name or ""
        fragments.extra_content = fragments.extra_content or call.extra_content
        if function.arguments:
            fragments.arguments.append(_written(function.arguments))

    def _put_together(self) -> ChatReply:
        calls = ToolCallList()
        made = [calls.add(call.id, call.name, "".join(call.arguments)) for call in self._calls]
        return ChatReply(
            text="".join(self._text),
            tool_calls=calls.all(),
            finish_reason=self._stopped_by(calls.all()),
            usage=openai_usage(self._usage),
            model=self._model,
            echo=self._echo(made),
        )

    def _echo(self, calls: list[ToolCall]) -> Echo | None:
        """Only calls are ever continued, and what belongs to them is wanted back then."""
        data: dict[str, Any] = {}
        if calls and self._reasoning:
            data["reasoning_content"] = "".join(self._reasoning)
        signed = {
            call.id: begun.extra_content
            for call, begun in zip(calls, self._calls, strict=True)
            if begun.extra_content
        }
        if signed:
            data["extra_content"] = signed
        return Echo(self._provider, self._asked_model, data) if data else None


def _is_another(fragments: _Fragments, call: _Call, function: _Function) -> bool:
    """Calls are told apart by index; servers that give all the same one, or none, by id or name."""
    if call.id and fragments.id and call.id != fragments.id:
        return True
    return call.index is None and bool(function.name and fragments.name)


def _text_of(parts: list[dict[str, Any]]) -> str:
    """Content in parts, of which some are reasoning."""
    return "".join(str(part.get("text", "")) for part in parts if part.get("type") == "text")


def _written(arguments: str | dict[str, Any]) -> str:
    return arguments if isinstance(arguments, str) else msgspec.json.encode(arguments).decode()
