"""What is answered to a message once it is known what was taken, and the submission that may come of it."""

import msgspec

from retinue.forms import submitting
from retinue.forms.conversation import phrasing
from retinue.forms.conversation.desk import Desk
from retinue.forms.conversation.state import State
from retinue.forms.conversation.taking import Rejected, Taken
from retinue.forms.errors import AlreadySubmitted, FormClosed, FormNotPublished, SubmissionInvalid
from retinue.forms.models import FormConversation, FormConversationStatus
from retinue.forms.opening import require_open
from retinue.forms.progress import took_ms
from retinue.forms.schemas import Submit
from retinue.kit.errors import Conflict
from retinue.kit.fields import FieldError, FieldType

NOT_UNDERSTOOD = "I did not understand that."
WHAT_TO_CHANGE = "What should be changed?"

_CLOSED = (FormClosed, FormNotPublished, AlreadySubmitted)


class Response(msgspec.Struct, kw_only=True):
    """What is said, and where the conversation stands after it."""

    content: str
    status: FormConversationStatus = FormConversationStatus.active
    submission_id: str | None = None
    refusal: str | None = None


async def respond(
    desk: Desk, conversation: FormConversation, state: State, taken: Taken, reply: str
) -> Response:
    """The next question; or, when nothing is left to ask, a summary and the submission."""
    try:
        require_open(desk.ctx, desk.form)
    except _CLOSED as refusal:
        return _refused(refusal)
    state.labels = await desk.labels(state)
    if taken.is_ready and not _asks_first(desk, conversation, taken):
        done = await _complete(desk, conversation, state, taken)
        if done is not None:
            return done
    if taken.is_ready and state.asked is None:
        state.is_confirming = True
    lines = [phrasing.own_words(reply, taken), *phrasing.notes(state, taken)]
    if taken.is_declined:
        lines.append(WHAT_TO_CHANGE)
    elif taken.is_nothing and not lines[0]:
        lines.append(NOT_UNDERSTOOD)
    lines.append(await ask(desk, state))
    return Response(content="\n\n".join(line for line in lines if line))


def _asks_first(desk: Desk, conversation: FormConversation, taken: Taken) -> bool:
    """Whether a yes is needed that has not come: the form wants one, or it all went faster than it may."""
    rules = desk.form.rules
    is_soon = took_ms(conversation.created_at, desk.ctx.now) < rules.spam.min_seconds * 1000
    if is_soon or taken.is_declined or taken.rejected or taken.is_nothing:
        return True
    return (rules.conversational.confirm or conversation.is_confirming) and not taken.is_confirmed


async def ask(desk: Desk, state: State) -> str:
    field = state.asked_field
    if field is not None:
        return phrasing.question(state, field, await desk.choices(field))
    state.labels = await desk.labels(state)
    return f"{phrasing.summary(state)}\n\n{phrasing.CONFIRM}".strip()


async def _complete(
    desk: Desk, conversation: FormConversation, state: State, taken: Taken
) -> Response | None:
    """Submit; None where answers turn out to be wrong by now, which are then asked for again."""
    ctx, form = desk.ctx, desk.form
    body = Submit(data=state.answers, metadata=conversation.metadata)
    try:
        await submitting.require_admitted(ctx, form, body)
        await _require_files(desk, state)
    except _CLOSED as refusal:
        return _refused(refusal)
    except SubmissionInvalid as refusal:
        return _reopen(state, taken, refusal)
    submission = await submitting.submit(
        ctx, form, body, source="conversation", started_at=conversation.created_at
    )
    content = "\n\n".join(text for text in (phrasing.summary(state), form.rules.success_message) if text)
    return Response(content=content, status=FormConversationStatus.completed, submission_id=submission.id)


async def _require_files(desk: Desk, state: State) -> None:
    """Files are kept for a day; a conversation can be longer than that."""
    problems = [
        (field.id, await desk.verify(field, state.answers[field.id]))
        for field in state.inputs
        if field.type is FieldType.file and field.id in state.answers
    ]
    errors = [FieldError(id, problem) for id, problem in problems if problem is not None]
    if errors:
        raise SubmissionInvalid(errors)


def _reopen(state: State, taken: Taken, refusal: SubmissionInvalid) -> Response | None:
    errors = (refusal.details or {})["errors"]
    for error in errors:
        field = state.find_input(error["field"])
        if field is None:
            # Nobody can be asked for it here: a hidden field, which only the page can fill in.
            return _refused(FormClosed(f"This cannot be sent: {error['field']} {error['message']}."))
        state.reopen(field.id)
        taken.rejected.append(Rejected(field.id, error["message"]))
    state.settle()
    state.asked = errors[0]["field"]
    taken.is_ready = False
    return None


def _refused(refusal: Conflict) -> Response:
    return Response(content=refusal.message, status=FormConversationStatus.cancelled, refusal=refusal.message)
