from retinue.forms.conversation import streaming, talking
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

_UNKNOWN = (FormNotFound, FormConversationNotFound)
_SAYING = (*_UNKNOWN, ConversationClosed, ConversationBusy, ConversationTooLong, TooManySubmissions)


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
    """The first question; the id is the only key to what is answered from now on."""
    return await talking.start(ctx, form_slug, body, request)


@routes.get("/{form_conversation_id}", requires=PUBLIC, errors=_UNKNOWN)
async def get_form_conversation(
    ctx: Context, form_slug: str, form_conversation_id: str, request: Request
) -> FormConversationOut:
    return await talking.show(ctx, form_slug, form_conversation_id, request)


@routes.get("/{form_conversation_id}/messages", requires=PUBLIC, errors=_UNKNOWN)
async def list_form_messages(
    ctx: Context, form_slug: str, form_conversation_id: str, request: Request
) -> list[FormMessageOut]:
    return await talking.history(ctx, form_slug, form_conversation_id, request)


@routes.post(
    "/{form_conversation_id}/messages",
    requires=PUBLIC,
    cost="chat",
    calls_out=True,
    errors=_SAYING,
)
async def say_to_form(
    ctx: Context, form_slug: str, form_conversation_id: str, body: ConversationSay, request: Request
) -> ConversationAnswer:
    """An answer, several, a correction, `skip`, `back` or files; with the last one the form is submitted."""
    return await talking.say(ctx, form_slug, form_conversation_id, body, request)


@routes.post(
    "/{form_conversation_id}/messages/stream",
    requires=PUBLIC,
    cost="chat",
    calls_out=True,
    errors=(*_SAYING, NotRepeatable),
)
async def stream_to_form(
    ctx: Context, form_slug: str, form_conversation_id: str, body: ConversationSay, request: Request
) -> EventStream:
    """The same as server-sent events."""
    refuse_for_stream(request)
    return await streaming.stream(ctx, form_slug, form_conversation_id, body, request)


@routes.post(
    "/{form_conversation_id}/cancel",
    requires=PUBLIC,
    calls_out=True,
    errors=(*_UNKNOWN, ConversationClosed, TooManySubmissions),
)
async def cancel_form_conversation(
    ctx: Context, form_slug: str, form_conversation_id: str, request: Request
) -> FormConversationOut:
    return await talking.cancel(ctx, form_slug, form_conversation_id, request)
