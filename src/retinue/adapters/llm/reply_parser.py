"""Parsing of a reply, whole or as a stream of events."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import Any

from retinue.adapters.llm.errors import ModelError
from retinue.adapters.llm.messages import FinishReason, ModelReply, ReplyFinished, TextDelta, ToolCall
from retinue.adapters.llm.sse_parser import SseParser


class ReplyParser(ABC):
    """Assembles a reply; each protocol has a subclass."""

    def __init__(self, provider: str, model: str, reported: Callable[[Any], ModelError]) -> None:
        """`reported` turns a provider's error object into a ModelError."""
        self._provider = provider
        self._asked_model = model
        self._model = model
        self._reported = reported
        self._events = SseParser()
        self._text: list[str] = []
        self._finish_reason: FinishReason | None = None
        self._has_begun = False
        self.is_over = False

    @property
    def is_complete(self) -> bool:
        """Whether the finish reason has arrived; losing the rest of the stream is then harmless."""
        return self._finish_reason is not None

    def feed(self, received: bytes, *, as_one: bool = False) -> Iterator[TextDelta]:
        """Parse some bytes of a stream and yield their text, merged into one delta if `as_one`."""
        if not as_one:
            yield from self._parse_events(received)
            return
        deltas: list[TextDelta] = []
        failed: Exception | None = None
        try:
            deltas.extend(self._parse_events(received))
        except Exception as error:  # noqa: BLE001  raised after the text before it
            failed = error
        if deltas:
            yield deltas[0] if len(deltas) == 1 else TextDelta("".join([delta.text for delta in deltas]))
        if failed is not None:
            raise failed

    def _parse_events(self, received: bytes) -> Iterator[TextDelta]:
        for data in self._events.feed(received):
            if self.is_over:
                break
            if delta := self._parse_event(data):
                yield delta

    @abstractmethod
    def _parse_event(self, data: bytes) -> TextDelta | None:
        """Parse one event of a stream."""

    @abstractmethod
    def parse_whole(self, body: bytes) -> TextDelta | None:
        """Parse a reply that was not streamed."""

    @abstractmethod
    def _build_reply(self) -> ModelReply: ...

    def reply(self) -> ModelReply:
        if not self._has_begun:
            raise ModelError("bad_answer", "It contains no reply.")
        if not (self.is_over or self.is_complete):
            raise ModelError("broken_stream")
        return self._build_reply()

    def finish(self) -> Iterator[ToolCall | ReplyFinished]:
        """Yield the tool calls and the complete reply once the stream has ended."""
        reply = self.reply()
        yield from reply.tool_calls
        yield ReplyFinished(reply)

    def _resolve_finish_reason(self, tool_calls: tuple[ToolCall, ...]) -> FinishReason:
        """Correct servers that report `stop` beside tool calls, or `tool_calls` without any."""
        if self._finish_reason in {"length", "content_filter"}:
            return self._finish_reason
        return "tool_calls" if tool_calls else "stop"
