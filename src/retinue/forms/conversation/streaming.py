"""A turn as server-sent events: a separate task that the connection only follows (ADR 11)."""

import re
from collections.abc import Iterator

import msgspec

from retinue.chat.replies.live import TEXT_ONLY, LiveTurn, LiveTurns
from retinue.forms.conversation import extraction, service, turns
from retinue.forms.conversation.schemas import ConversationAnswer, ConversationSay
from retinue.forms.open_form import OpenForm
from retinue.kit.context import Context
from retinue.kit.http.replies import EventStream
from retinue.kit.http.request import Request

_WORDS = re.compile(r"\S+\s*")
_WORDS_PER_EVENT = 8


async def stream(
    ctx: Context, slug: str, conversation_id: str, body: ConversationSay, request: Request
) -> EventStream:
    """Store the message and stream the reply; errors are raised before the stream starts."""
    form, visitor_message = await service.admit_message(ctx, slug, body, request)
    extractor = await service.find_extractor_for(ctx, form, conversation_id, visitor_message)
    async with ctx.unit() as unit:
        locked = await turns.lock_for_message(unit, form, conversation_id)
        pending = await turns.begin(unit, locked, visitor_message, is_slow=True)
    live = LiveTurn(pending.reply_id)
    detached = ctx.detached()

    async def run(live: LiveTurn) -> None:
        await _run(detached, live, form, pending, extractor)

    ctx.state(LiveTurns).start(live, run)
    return EventStream(lambda: live.follow(0, TEXT_ONLY))


async def _run(
    ctx: Context,
    live: LiveTurn,
    form: OpenForm,
    pending: turns.PendingFormTurn,
    extractor: extraction.AnswerExtractor | None,
) -> None:
    live.publish(
        "message_start",
        {
            "conversation_id": pending.conversation_id,
            "message_id": pending.reply_id,
            "user_message_id": pending.user_message.id,
        },
        TEXT_ONLY,
    )
    answer = await service.finish_turn_detached(ctx, form, pending, extractor)
    for name, data in _events(answer):
        live.publish(name, data, TEXT_ONLY)


def _events(answer: ConversationAnswer) -> Iterator[tuple[str, dict[str, object]]]:
    for captured in answer.captured:
        yield "field_captured", {"field_id": captured.field_id, "value": captured.value}
    for rejected in answer.errors:
        yield "field_rejected", {"field_id": rejected.field_id, "message": rejected.message}
    for piece in split_words(answer.assistant_message.content):
        yield "content_delta", {"delta": piece}
    end = msgspec.to_builtins(answer)
    yield "message_stop", {name: end[name] for name in end if name not in {"captured", "errors"}}


def split_words(text: str) -> Iterator[str]:
    """Yield the text a few words at a time."""
    words = _WORDS.findall(text)
    for start in range(0, len(words), _WORDS_PER_EVENT):
        yield "".join(words[start : start + _WORDS_PER_EVENT])
