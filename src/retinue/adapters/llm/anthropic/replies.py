"""Parse Anthropic messages, whole or streamed as events, into a reply."""

from typing import Any

import msgspec
from msgspec import Struct

from retinue.adapters.llm.messages import Echo, FinishReason, ModelReply, TextDelta, ToolCall
from retinue.adapters.llm.reply_parser import ReplyParser
from retinue.adapters.llm.tool_calls import ToolCallList
from retinue.adapters.llm.usage import anthropic_usage
from retinue.kit.json_types import JsonObject

_FINISH_REASONS: dict[str, FinishReason] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "pause_turn": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "tool_use": "tool_calls",
    "refusal": "content_filter",
}


class _Block(Struct):
    """One content block of a message."""

    type: str
    text: str | None = None
    id: str | None = None
    name: str | None = None
    input: Any = None
    thinking: str | None = None
    signature: str | None = None
    data: str | None = None


class _BlockDelta(Struct):
    type: str | None = None
    text: str | None = None
    partial_json: str | None = None
    thinking: str | None = None
    signature: str | None = None
    stop_reason: str | None = None


class _Message(Struct):
    content: list[_Block] | None = None
    model: str | None = None
    stop_reason: str | None = None
    usage: Any = None
    error: Any = None


class _Event(Struct):
    type: str
    index: int = 0
    message: _Message | None = None
    content_block: _Block | None = None
    delta: _BlockDelta | None = None
    usage: Any = None
    error: Any = None


_decode_event = msgspec.json.Decoder(_Event).decode
_decode_message = msgspec.json.Decoder(_Message).decode


class _PartialBlock(Struct):
    """A content block and the fragments that the stream has added to it."""

    block: _Block
    text: list[str]
    thinking: list[str]
    partial_json: list[str]
    signature: list[str]


class AnthropicReplyParser(ReplyParser):
    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._usage: JsonObject = {}
        self._blocks: dict[int, _PartialBlock] = {}

    def _parse_event(self, data: bytes) -> TextDelta | None:
        event = _decode_event(data)
        match event.type:
            case "content_block_delta" if event.delta is not None:
                return self._extend_block(event.index, event.delta)
            case "content_block_start" if event.content_block is not None:
                return self._start_block(event.index, event.content_block)
            case "message_start" if event.message is not None:
                return self._apply_message(event.message)
            case "message_delta":
                self._add_usage(event.usage)
                self._set_finish_reason(event.delta.stop_reason if event.delta else None)
            case "message_stop":
                self.is_over = True
            case "error":
                raise self._reported(event.error)
        # Pings and unknown event types do not change the reply.
        return None

    def parse_whole(self, body: bytes) -> TextDelta | None:
        self.is_over = True
        message = _decode_message(body)
        if message.error:
            raise self._reported(message.error)
        if message.content is None:
            return None
        return self._apply_message(message)

    def _apply_message(self, message: _Message) -> TextDelta | None:
        self._has_begun = True
        self._model = message.model or self._model
        self._add_usage(message.usage)
        self._set_finish_reason(message.stop_reason)
        for index, block in enumerate(message.content or ()):
            self._start_block(index, block)
        text = "".join(self._text)
        return TextDelta(text) if text else None

    def _start_block(self, index: int, block: _Block) -> TextDelta | None:
        partial = self._blocks[index] = _PartialBlock(block, [], [], [], [])
        if block.type == "text" and block.text:
            return self._append_text(partial, block.text)
        return None

    def _extend_block(self, index: int, change: _BlockDelta) -> TextDelta | None:
        partial = self._blocks.get(index)
        if partial is None:
            return None
        if change.text and partial.block.type == "text":
            return self._append_text(partial, change.text)
        for name in ("partial_json", "thinking", "signature"):
            if piece := getattr(change, name):
                getattr(partial, name).append(piece)
        return None

    def _append_text(self, partial: _PartialBlock, text: str) -> TextDelta:
        partial.text.append(text)
        self._text.append(text)
        return TextDelta(text)

    def _set_finish_reason(self, stop_reason: str | None) -> None:
        if stop_reason:
            self._finish_reason = _FINISH_REASONS.get(stop_reason, "stop")

    def _add_usage(self, usage: object) -> None:
        """Update the token counts; Anthropic reports running totals, not increments."""
        if isinstance(usage, dict):
            self._usage |= {name: count for name, count in usage.items() if count is not None}

    def _build_reply(self) -> ModelReply:
        calls = ToolCallList()
        content = [
            content_block
            for _, partial in sorted(self._blocks.items())
            if (content_block := _to_content_block(partial, calls))
        ]
        return ModelReply(
            text="".join(self._text),
            tool_calls=calls.all(),
            finish_reason=self._resolve_finish_reason(calls.all()),
            usage=anthropic_usage(self._usage),
            model=self._model,
            echo=self._echo(content, calls.all()),
        )

    def _echo(self, content: list[JsonObject], calls: tuple[ToolCall, ...]) -> Echo | None:
        """Return the signed reasoning, which Anthropic requires back unchanged with the calls it led to."""
        if not calls or not any(block["type"] in {"thinking", "redacted_thinking"} for block in content):
            return None
        return Echo(self._provider, self._asked_model, {"content": content})


def _to_content_block(partial: _PartialBlock, calls: ToolCallList) -> JsonObject | None:
    """Return the block in the form that can be sent back, and add a tool call to `calls`."""
    block = partial.block
    match block.type:
        case "text" if partial.text:
            return {"type": "text", "text": "".join(partial.text)}
        case "thinking":
            thinking = (block.thinking or "") + "".join(partial.thinking)
            signature = (block.signature or "") + "".join(partial.signature)
            return {"type": "thinking", "thinking": thinking, "signature": signature}
        case "redacted_thinking":
            return {"type": "redacted_thinking", "data": block.data}
        case "tool_use":
            raw = "".join(partial.partial_json) or msgspec.json.encode(block.input or {}).decode()
            call = calls.add(block.id or "", block.name or "", raw)
            return {"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments or {}}
    return None
