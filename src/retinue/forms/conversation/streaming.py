"""The same turn as server-sent events: a task of its own that a connection only listens to (ADR 11)."""

import re
from collections.abc import Iterator

import msgspec

from retinue.chat.live import TEXT, LiveTurn, LiveTurns
from retinue.forms.conversation import talking, thinking, turns
from retinue.forms.conversation.schemas import ConversationAnswer, ConversationSay
from retinue.forms.opening import OpenForm
from retinue.kit.context import Context
from retinue.kit.http.replies import EventStream
from retinue.kit.http.request import Request

_WORDS = re.compile(r"\S+\s*")
_AT_ONCE = 8


async def stream(
    ctx: Context, slug: str, conversation_id: str, body: ConversationSay, request: Request
) -> EventStream:
    """Store the message and answer it event by event; refusals come before the stream does."""
    form, said = await talking.hear(ctx, slug, body, request)
    thinker = await talking.find_thinker(ctx, form, conversation_id, said)
    async with ctx.unit() as unit:
        held = await turns.hold(unit, form, conversation_id)
        begun = await turns.begin(unit, held, said, is_slow=True)
    live = LiveTurn(begun.reply_id)
    apart = ctx.apart()

    async def run(live: LiveTurn) -> None:
        await _run(apart, live, form, begun, thinker)

    ctx.adapter(LiveTurns).start(live, run)
    return EventStream(lambda: live.follow(0, TEXT))


async def _run(
    ctx: Context, live: LiveTurn, form: OpenForm, begun: turns.Begun, thinker: thinking.Thinker | None
) -> None:
    live.publish(
        "message_start",
        {
            "conversation_id": begun.conversation_id,
            "message_id": begun.reply_id,
            "user_message_id": begun.user_message.id,
        },
        TEXT,
    )
    answer = await talking.conclude_apart(ctx, form, begun, thinker)
    for name, data in _events(answer):
        live.publish(name, data, TEXT)


def _events(answer: ConversationAnswer) -> Iterator[tuple[str, dict[str, object]]]:
    for taken in answer.captured:
        yield "field_captured", {"field_id": taken.field_id, "value": taken.value}
    for wrong in answer.errors:
        yield "field_rejected", {"field_id": wrong.field_id, "message": wrong.message}
    for piece in pieces(answer.assistant_message.content):
        yield "content_delta", {"delta": piece}
    end = msgspec.to_builtins(answer)
    yield "message_stop", {name: end[name] for name in end if name not in {"captured", "errors"}}


def pieces(text: str) -> Iterator[str]:
    """Some words at a time, so that a page can let them come."""
    words = _WORDS.findall(text)
    for start in range(0, len(words), _AT_ONCE):
        yield "".join(words[start : start + _AT_ONCE])
