"""A reply while it arrives, whole or in events."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import Any

from retinue.adapters.llm.errors import ModelError
from retinue.adapters.llm.event_data import EventData
from retinue.adapters.llm.messages import ChatReply, Done, FinishReason, TextDelta, ToolCall


class Reading(ABC):
    """Takes a reply in and puts it together; each protocol has its own."""

    def __init__(self, provider: str, model: str, reported: Callable[[Any], ModelError]) -> None:
        """`reported` makes our error out of an error object of the provider."""
        self._provider = provider
        self._asked_model = model
        self._model = model
        self._reported = reported
        self._events = EventData()
        self._text: list[str] = []
        self._finish_reason: FinishReason | None = None
        self._has_begun = False
        self.is_over = False

    @property
    def is_complete(self) -> bool:
        """Whether the model has said why it stopped: what is lost after that does no harm."""
        return self._finish_reason is not None

    def feed(self, received: bytes, *, as_one: bool = False) -> Iterator[TextDelta]:
        """Take some bytes of a stream, and give the text in them, where wanted as one piece."""
        if not as_one:
            yield from self._each(received)
            return
        said: list[TextDelta] = []
        failed: Exception | None = None
        try:
            said.extend(self._each(received))
        except Exception as error:  # noqa: BLE001  raised after what came before it
            failed = error
        if said:
            yield said[0] if len(said) == 1 else TextDelta("".join([delta.text for delta in said]))
        if failed is not None:
            raise failed

    def _each(self, received: bytes) -> Iterator[TextDelta]:
        for data in self._events.feed(received):
            if self.is_over:
                break
            if delta := self._take(data):
                yield delta

    @abstractmethod
    def _take(self, data: bytes) -> TextDelta | None:
        """Take one event of a stream."""

    @abstractmethod
    def take_whole(self, body: bytes) -> TextDelta | None:
        """Take a reply that was not streamed."""

    @abstractmethod
    def _put_together(self) -> ChatReply: ...

    def reply(self) -> ChatReply:
        if not self._has_begun:
            raise ModelError("bad_answer", "There is no reply in it.")
        if not (self.is_over or self.is_complete):
            raise ModelError("broken_stream")
        return self._put_together()

    def finish(self) -> Iterator[ToolCall | Done]:
        """What is left to say when the stream has ended."""
        reply = self.reply()
        yield from reply.tool_calls
        yield Done(reply)

    def _stopped_by(self, tool_calls: tuple[ToolCall, ...]) -> FinishReason:
        """Some servers say `stop` beside tool calls, or promise calls that never came."""
        if self._finish_reason in {"length", "content_filter"}:
            return self._finish_reason
        return "tool_calls" if tool_calls else "stop"
