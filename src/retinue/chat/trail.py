"""The order of a reply's events, stored with the reply so that a resumed stream has the same events.

Each event between `message_start` and the last `message_stop` is one step, so its place gives the event's
number. A step holds only what the reply itself does not: texts and calls are read from the reply.
"""

from collections.abc import Iterable

import msgspec

from retinue.chat.engine.parts import (
    ReplyDetails,
    ReplyText,
    TextWithdrawn,
    ToolCallFinished,
    ToolCallStarted,
    TurnPart,
)


class TextAdded(msgspec.Struct, frozen=True, gc=False, array_like=True, tag="text"):
    """A piece of text; `length` is the length of the reply after it."""

    length: int


class TextDropped(msgspec.Struct, frozen=True, gc=False, array_like=True, tag="text_dropped"):
    """A piece of text that was streamed and is not part of the reply."""

    text: str


class CallStarted(msgspec.Struct, frozen=True, gc=False, array_like=True, tag="call_started"):
    id: str
    is_from_sub_agent: bool


class CallFinished(msgspec.Struct, frozen=True, gc=False, array_like=True, tag="call_finished"):
    """The end of a call: the first step of this kind belongs to the reply's first call, and so on."""

    is_from_sub_agent: bool


class ApprovalAwaited(msgspec.Struct, frozen=True, gc=False, array_like=True, tag="approval"):
    approval_id: str


class TurnSuspended(msgspec.Struct, frozen=True, gc=False, array_like=True, tag="suspended"):
    """The `message_stop` of a reply that continues after its approvals."""


TrailStep = TextAdded | TextDropped | CallStarted | CallFinished | ApprovalAwaited | TurnSuspended


class TrailRecorder:
    """Records the trail of a reply while its turn runs."""

    __slots__ = ("_length", "steps")

    def __init__(self) -> None:
        self.steps: list[TrailStep] = []
        self._length = 0

    @classmethod
    def resume(cls, steps: Iterable[TrailStep], length: int) -> "TrailRecorder":
        """Continue the trail of a suspended reply whose text has this length."""
        recorder = cls()
        recorder.steps = [*steps, TurnSuspended()]
        recorder._length = length
        return recorder

    def record_part(self, part: TurnPart) -> None:
        match part:
            case ReplyText():
                self._length += len(part.text)
                self.steps.append(TextAdded(self._length))
            case TextWithdrawn():
                self._drop_text(part.text)
            case ToolCallStarted():
                self.steps.append(CallStarted(part.id, part.is_from_sub_agent))
            case ToolCallFinished():
                self.steps.append(CallFinished(part.is_from_sub_agent))

    def _drop_text(self, text: str) -> None:
        """Keep the pieces of a withdrawn text in the trail, because the reply no longer has them."""
        start = 0
        for place, step in enumerate(self.steps):
            if isinstance(step, TextAdded):
                self.steps[place] = TextDropped(text[start : step.length])
                start = step.length
        self._length = 0

    def record_approvals(self, details: ReplyDetails) -> None:
        """Record the approvals that the turn waits for."""
        for call in details.pending_approvals():
            if call.approval_id is not None:
                self.steps.append(ApprovalAwaited(call.approval_id))
