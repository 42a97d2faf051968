from retinue.forms.conversation import service, streaming
from retinue.forms.conversation.schemas import (
    ConversationAnswer,
    ConversationSay,
    ConversationStart,
    ConversationStarted,
    FormConversationOut,
    FormMessageOut,
)
from retinue.forms.errors import (
    ConversationBusy,
    ConversationClosed,
    ConversationNotEnabled,
    ConversationTooLong,
    FormClosed,
    FormConversationNotFound,
    FormNotFound,
    SubmissionInvalid,
    TooManySubmissions,
)
from retinue.kit.context import Context
from retinue.kit.http.idempotency import NotRepeatable, refuse_for_stream
from retinue.kit.http.replies import EventStream
from retinue.kit.http.request import Request
from retinue.kit.http.routing import PUBLIC, Routes

routes = Routes("/api/v1/public/forms/{form_slug}/conversations", tag="public forms", wrap=True)

_NOT_FOUND_ERRORS = (FormNotFound, FormConversationNotFound)
_MESSAGE_ERRORS = (
    *_NOT_FOUND_ERRORS,
    ConversationClosed,
    ConversationBusy,
    ConversationTooLong,
    TooManySubmissions,
)


@routes.post(
    "",
    requires=PUBLIC,
    status=201,
    calls_out=True,
    errors=(FormNotFound, FormClosed, ConversationNotEnabled, SubmissionInvalid, TooManySubmissions),
)
async def start_form_conversation(
    ctx: Context, form_slug: str, body: ConversationStart, request: Request
) -> ConversationStarted:
    """Start to fill in a published form by conversation, and return the first question.

    The returned id is the only key to the answers; keep it secret. Counts as a start in the analytics.
    Answers 409 if the form is closed or has conversations turned off.
    """
    return await service.start(ctx, form_slug, body, request)


@routes.get("/{form_conversation_id}", requires=PUBLIC, errors=_NOT_FOUND_ERRORS)
async def get_form_conversation(
    ctx: Context, form_slug: str, form_conversation_id: str, request: Request
) -> FormConversationOut:
    """Return the state of a conversation and its answers so far. Answers 404 from 24 hours after its end."""
    return await service.show(ctx, form_slug, form_conversation_id, request)


@routes.get("/{form_conversation_id}/messages", requires=PUBLIC, errors=_NOT_FOUND_ERRORS)
async def list_form_messages(
    ctx: Context, form_slug: str, form_conversation_id: str, request: Request
) -> list[FormMessageOut]:
    """Return all messages of a conversation, oldest first."""
    return await service.list_messages(ctx, form_slug, form_conversation_id, request)


@routes.post(
    "/{form_conversation_id}/messages",
    requires=PUBLIC,
    cost="chat",
    calls_out=True,
    errors=_MESSAGE_ERRORS,
)
async def say_to_form(
    ctx: Context, form_slug: str, form_conversation_id: str, body: ConversationSay, request: Request
) -> ConversationAnswer:
    """Send the visitor's message and return the reply.

    A message can hold one or several answers, a correction, `skip` for an optional field, `back`, or files.
    When the last field is answered, the form is submitted; with `settings.conversational.confirm` the visitor
    confirms first. While an earlier message is being answered: 409 `conversation_busy`.
    """
    return await service.send_message(ctx, form_slug, form_conversation_id, body, request)


@routes.post(
    "/{form_conversation_id}/messages/stream",
    requires=PUBLIC,
    cost="chat",
    calls_out=True,
    errors=(*_MESSAGE_ERRORS, NotRepeatable),
)
async def stream_to_form(
    ctx: Context, form_slug: str, form_conversation_id: str, body: ConversationSay, request: Request
) -> EventStream:
    """Send the visitor's message and receive the reply as server-sent events.

    The events are `message_start`, `field_captured`, `field_rejected`, `content_delta`, `message_stop` and,
    on failure, `error`. Takes no `Idempotency-Key`.
    """
    refuse_for_stream(request)
    return await streaming.stream(ctx, form_slug, form_conversation_id, body, request)


@routes.post(
    "/{form_conversation_id}/cancel",
    requires=PUBLIC,
    calls_out=True,
    errors=(*_NOT_FOUND_ERRORS, ConversationClosed, TooManySubmissions),
)
async def cancel_form_conversation(
    ctx: Context, form_slug: str, form_conversation_id: str, request: Request
) -> FormConversationOut:
    """End a conversation without submitting.

    Cancelling it again changes nothing; a completed or abandoned one answers 409 `conversation_closed`.
    """
    return await service.cancel(ctx, form_slug, form_conversation_id, request)
