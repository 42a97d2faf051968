"""A reply as server-sent events: live, and again from what was stored of it.

The events of a reply are numbered. Its `trail` says what they were: a number is the length of the text after
a piece of it, `b` with an id that a tool call began and `d` that the next one was done (in capitals: of a
sub-agent), `a` with an id that an approval is needed and `s` that the reply stopped there until it was given,
so a resumed stream has the same events under the same numbers.
"""

import asyncio
from collections.abc import AsyncGenerator, Iterator
from typing import Any

from retinue.chat import pausing, turns
from retinue.chat.admission import take_place
from retinue.chat.asking import Ask
from retinue.chat.conducting import conduct
from retinue.chat.live import EVERYTHING, TEXT, TOOLS, Frame, LiveTurn, LiveTurns
from retinue.chat.models import Message, MessageStatus
from retinue.chat.trails import PAUSED
from retinue.chat.turns import Begun, Ending
from retinue.chat.words import (
    Answered,
    CalledTool,
    CallError,
    FinishReason,
    Part,
    ReplyDetails,
    Said,
    ToolBegan,
    ToolDone,
)
from retinue.kit.context import Context
from retinue.kit.errors import RetinueError
from retinue.kit.http.replies import EventStream
from retinue.kit.http.sse import Event

_NOBODY = EVERYTHING + 1


async def stream(ctx: Context, ask: Ask, *, level: int = TOOLS) -> EventStream:
    """Store the message and answer it event by event; refusals come before the stream does."""
    live = await start(ctx, ask)
    return EventStream(lambda: live.follow(0, level))


async def start(ctx: Context, ask: Ask) -> LiveTurn:
    """A turn that is answered by this process for whoever follows it."""
    apart = ctx.apart()
    place = await take_place(ctx)
    try:
        begun = await turns.begin(ctx, ask)
    except BaseException:
        await place.give_back()
        raise

    async def run(live: LiveTurn) -> None:
        try:
            await _Publishing(live, begun).run(apart)
        finally:
            await place.give_back()

    live = LiveTurn(begun.reply_id, _Elsewhere(ctx, begun.reply_id).is_followed)
    ctx.adapter(LiveTurns).start(live, run)
    return live


class _Elsewhere:
    """Whether somebody waits for a reply in another process, which says so again and again."""

    __slots__ = ("_ctx", "_reply_id", "_seen")

    def __init__(self, ctx: Context, reply_id: str) -> None:
        self._ctx = ctx
        self._reply_id = reply_id
        self._seen = ""

    async def is_followed(self) -> bool:
        question = await self._ctx.apart().db.find(Message, reply_id=self._reply_id)
        if question is None:
            return False
        seen, self._seen = self._seen or question.created_at, question.updated_at
        return seen != self._seen


class _Publishing:
    """Turns the parts of one turn into its events, and keeps their trail."""

    __slots__ = (
        "_begun",
        "_details",
        "_has_begun",
        "_length",
        "_live",
        "_trail",
    )

    def __init__(self, live: LiveTurn, begun: Begun) -> None:
        self._live = live
        self._begun = begun
        self._length = 0
        self._trail: list[int | str] = []
        self._has_begun = False
        self._details: ReplyDetails | None = None

    async def run(self, ctx: Context) -> None:
        try:
            await conduct(ctx, self._begun, hear=self._hear, trail=self._trail, store=self._store)
        except asyncio.CancelledError:
            if not self._live.is_stopped:
                raise
        self._begin()
        assert self._details is not None
        publish_stop(self._live, self._details)

    async def _store(self, ctx: Context, begun: Begun, ending: Ending) -> Message | None:
        self._details = ending.answered.details
        return await pausing.finish(ctx, begun, ending)

    def _begin(self) -> None:
        """Only once there is something to say: until then a failure is an answer with a status of its own."""
        if not self._has_begun:
            self._has_begun = True
            self._live.publish("message_start", _start_data(self._begun.conversation_id, self._live.id), TEXT)

    def _hear(self, part: Part) -> None:
        if isinstance(part, Answered):
            return
        self._begin()
        if isinstance(part, Said):
            self._length += len(part.text)
            self._trail.append(self._length)
        elif isinstance(part, ToolBegan):
            self._trail.append(f"{'B' if part.is_inner else 'b'}{part.id}")
        else:
            self._trail.append("D" if part.is_inner else "d")
        publish(self._live, part)


def publish(live: LiveTurn, part: Said | ToolBegan | ToolDone) -> None:
    """What happens in a turn, to whoever listens."""
    if isinstance(part, Said):
        live.publish_text(part.text)
    elif isinstance(part, ToolBegan):
        live.publish("tool_use", _use_data(part.tool, part.input), _level(is_inner=part.is_inner))
    else:
        live.publish("tool_result", _result_data(part.call), _level(is_inner=part.is_inner))


def publish_stop(live: LiveTurn, details: ReplyDetails) -> None:
    for call in details.questions():
        live.publish("approval_required", _approval_data(call), TOOLS)
    plain = _plain_stop_data(live.id, details)
    live.publish("message_stop", _stop_data(live.id, details), TEXT, plain=plain)


def publish_end(live: LiveTurn, reply: Message) -> None:
    """The end of a stored reply, as it would be replayed."""
    assert reply.details is not None
    if _has_stop(reply, reply.details):
        publish_stop(live, reply.details)
    else:
        live.publish("error", _error_data(reply.details), TEXT)


def before_pause(reply: Message) -> Iterator[Frame]:
    """The events of a reply that waited and goes on; that it had stopped is no news any more."""
    assert reply.details is not None
    events = list(_stored_events(reply, reply.details))
    for number, (name, data, needed) in enumerate(events, 1):
        yield Frame(Event(name, data, number), _NOBODY if number == len(events) else needed)


async def replay(reply: Message, after: int, level: int) -> AsyncGenerator[Event, None]:
    """The events of a stored reply after a number."""
    details = reply.details
    assert details is not None
    number = 0
    for number, (name, data, needed) in enumerate(_stored_events(reply, details), 1):
        if number > after and needed <= level:
            is_plain = name == "message_stop" and level == TEXT
            yield Event(name, _plain_stop_data(reply.id, details) if is_plain else data, number)
    if not _has_stop(reply, details):
        # An event even where it is the only one: that the reply failed is no failure of this request.
        yield Event("error", _error_data(details), number)


def _stored_events(reply: Message, details: ReplyDetails) -> Iterator[tuple[str, dict[str, Any], int]]:
    done = iter(details.tool_calls)
    unseen = list(details.tool_calls)
    yield "message_start", _start_data(reply.conversation_id, reply.id), TEXT
    length = 0
    for step in reply.trail if reply.trail is not None else [len(reply.content)]:
        if isinstance(step, int):
            yield "content_delta", {"delta": reply.content[length:step]}, TEXT
            length = step
        elif step[0] in "bB":
            # The first one with this id that is left: some providers give the same ids in every round.
            call = next((one for one in unseen if one.id == step[1:]), None)
            if call is None:
                # The turn ended before the tool did. It keeps its number, but nothing is left to tell of it.
                yield "tool_use", {}, _NOBODY
            else:
                unseen.remove(call)
                yield "tool_use", _use_data(call.tool, call.input), _level(is_inner=step[0] == "B")
        elif step[0] == "a":
            asked = next((one for one in details.tool_calls if one.approval_id == step[1:]), None)
            data = _approval_data(asked) if asked is not None else {}
            yield "approval_required", data, TOOLS if asked is not None else _NOBODY
        elif step == PAUSED:
            # Whoever comes after it wants to hear the rest.
            yield "message_stop", {}, _NOBODY
        else:
            yield "tool_result", _result_data(next(done)), _level(is_inner=step == "D")
    if _has_stop(reply, details):
        yield "message_stop", _stop_data(reply.id, details), TEXT


def _has_stop(reply: Message, details: ReplyDetails) -> bool:
    """Whether it ended as it should, or as its listener wanted, or waits."""
    waits_or_stopped = {FinishReason.cancelled, FinishReason.awaiting_approval}
    return reply.status is MessageStatus.completed or details.finish_reason in waits_or_stopped


def _error_data(details: ReplyDetails) -> dict[str, Any]:
    error = details.error or CallError(RetinueError.code, "The reply was cut off.")
    return {"code": error.code, "message": error.message}


def _level(*, is_inner: bool) -> int:
    return EVERYTHING if is_inner else TOOLS


def _start_data(conversation_id: str, message_id: str) -> dict[str, Any]:
    return {"conversation_id": conversation_id, "message_id": message_id}


def _use_data(tool: str, input: dict[str, Any]) -> dict[str, Any]:
    return {"tool": tool, "input": input}


def _approval_data(call: CalledTool) -> dict[str, Any]:
    return {"approval_id": call.approval_id, "tool": call.tool, "input": call.input}


def count_events(reply: Message) -> int:
    """How many events a stored reply has, those included that not everyone sees."""
    assert reply.details is not None
    return sum(1 for _ in _stored_events(reply, reply.details))


def _result_data(call: CalledTool) -> dict[str, Any]:
    output = call.output if call.error is None else {"error": call.error}
    return {"tool": call.tool, "output": output, "status": call.status}


def _stop_data(message_id: str, details: ReplyDetails) -> dict[str, Any]:
    return {
        "usage": details.usage,
        "message_id": message_id,
        "finish_reason": details.finish_reason,
        "sources": details.sources,
        "tool_calls": details.tool_calls,
    }


def _plain_stop_data(message_id: str, details: ReplyDetails) -> dict[str, Any]:
    """Without what the tools were given and gave, and without the ids of documents."""
    return {
        "usage": details.usage,
        "message_id": message_id,
        "finish_reason": details.finish_reason,
        "sources": [source.plain() for source in details.sources],
    }
