"""Messages of Anthropic's protocol, whole or in events, read into a reply."""

from typing import Any

import msgspec
from msgspec import Struct

from retinue.adapters.llm.messages import ChatReply, Echo, FinishReason, TextDelta, ToolCall
from retinue.adapters.llm.reading import Reading
from retinue.adapters.llm.tool_calls import ToolCallList
from retinue.adapters.llm.usage import anthropic_usage

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
    """One block of content; in a stream the lists gather what the deltas add."""

    type: str
    text: str | None = None
    id: str | None = None
    name: str | None = None
    input: Any = None
    thinking: str | None = None
    signature: str | None = None
    data: str | None = None


class _Change(Struct):
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
    delta: _Change | None = None
    usage: Any = None
    error: Any = None


_decode_event = msgspec.json.Decoder(_Event).decode
_decode_message = msgspec.json.Decoder(_Message).decode


class _Growing(Struct):
    """A block and what has been added to it since it began."""

    block: _Block
    text: list[str]
    thinking: list[str]
    partial_json: list[str]
    signature: list[str]


class MessageReading(Reading):
    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._usage: dict[str, Any] = {}
        self._blocks: dict[int, _Growing] = {}

    def _take(self, data: bytes) -> TextDelta | None:
        event = _decode_event(data)
        match event.type:
            case "content_block_delta" if event.delta is not None:
                return self._grow(event.index, event.delta)
            case "content_block_start" if event.content_block is not None:
                return self._begin(event.index, event.content_block)
            case "message_start" if event.message is not None:
                return self._take_message(event.message)
            case "message_delta":
                self._add_usage(event.usage)
                self._end(event.delta.stop_reason if event.delta else None)
            case "message_stop":
                self.is_over = True
            case "error":
                raise self._reported(event.error)
        # Pings, and kinds of events that are added one day, say nothing about the reply.
        return None

    def take_whole(self, body: bytes) -> TextDelta | None:
        self.is_over = True
        message = _decode_message(body)
        if message.error:
            raise self._reported(message.error)
        if message.content is None:
            return None
        return self._take_message(message)

    def _take_message(self, message: _Message) -> TextDelta | None:
        self._has_begun = True
        self._model = message.model or self._model
        self._add_usage(message.usage)
        self._end(message.stop_reason)
        for index, block in enumerate(message.content or ()):
            self._begin(index, block)
        text = "".join(self._text)
        return TextDelta(text) if text else None

    def _begin(self, index: int, block: _Block) -> TextDelta | None:
        growing = self._blocks[index] = _Growing(block, [], [], [], [])
        if block.type == "text" and block.text:
            return self._say(growing, block.text)
        return None

    def _grow(self, index: int, change: _Change) -> TextDelta | None:
        growing = self._blocks.get(index)
        if growing is None:
            return None
        if change.text and growing.block.type == "text":
            return self._say(growing, change.text)
        for name in ("partial_json", "thinking", "signature"):
            if piece := getattr(change, name):
                getattr(growing, name).append(piece)
        return None

    def _say(self, growing: _Growing, text: str) -> TextDelta:
        growing.text.append(text)
        self._text.append(text)
        return TextDelta(text)

    def _end(self, stop_reason: str | None) -> None:
        if stop_reason:
            self._finish_reason = _FINISH_REASONS.get(stop_reason, "stop")

    def _add_usage(self, usage: Any) -> None:
        """Later counts are totals, not additions."""
        if isinstance(usage, dict):
            self._usage |= {name: count for name, count in usage.items() if count is not None}

    def _put_together(self) -> ChatReply:
        calls = ToolCallList()
        content = [
            written for _, growing in sorted(self._blocks.items()) if (written := _written(growing, calls))
        ]
        return ChatReply(
            text="".join(self._text),
            tool_calls=calls.all(),
            finish_reason=self._stopped_by(calls.all()),
            usage=anthropic_usage(self._usage),
            model=self._model,
            echo=self._echo(content, calls.all()),
        )

    def _echo(self, content: list[dict[str, Any]], calls: tuple[ToolCall, ...]) -> Echo | None:
        """Reasoning is signed, and wanted back exactly as it came with the calls it led to."""
        if not calls or not any(block["type"] in {"thinking", "redacted_thinking"} for block in content):
            return None
        return Echo(self._provider, self._asked_model, {"content": content})


def _written(growing: _Growing, calls: ToolCallList) -> dict[str, Any] | None:
    """The block as it can be sent back; a tool call also joins the list."""
    block = growing.block
    match block.type:
        case "text" if growing.text:
            return {"type": "text", "text": "".join(growing.text)}
        case "thinking":
            thinking = (block.thinking or "") + "".join(growing.thinking)
            signature = (block.signature or "") + "".join(growing.signature)
            return {"type": "thinking", "thinking": thinking, "signature": signature}
        case "redacted_thinking":
            return {"type": "redacted_thinking", "data": block.data}
        case "tool_use":
            raw = "".join(growing.partial_json) or msgspec.json.encode(block.input or {}).decode()
            call = calls.add(block.id or "", block.name or "", raw)
            return {"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments or {}}
    return None
