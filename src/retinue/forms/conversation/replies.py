"""The reply to a message, and the submission when the form is complete."""

import msgspec

from retinue.forms.conversation import reply_text
from retinue.forms.conversation.answers import ProposalsResult, RejectedAnswer
from retinue.forms.conversation.lookups import FormLookups
from retinue.forms.conversation.state import ConversationState
from retinue.forms.errors import AlreadySubmitted, FormClosed, FormNotPublished, SubmissionInvalid
from retinue.forms.intake import submit
from retinue.forms.intake.progress import elapsed_ms
from retinue.forms.models import FormConversation, FormConversationStatus
from retinue.forms.open_form import require_accepting
from retinue.forms.schemas import Submit
from retinue.kit.errors import Conflict
from retinue.kit.schema.fields import FieldError, FieldType

NOT_UNDERSTOOD = "I did not understand that."
WHAT_TO_CHANGE = "What should be changed?"

_CLOSED = (FormClosed, FormNotPublished, AlreadySubmitted)


class ConversationReply(msgspec.Struct, kw_only=True):
    """The text of the reply and the resulting status of the conversation."""

    content: str
    status: FormConversationStatus = FormConversationStatus.active
    submission_id: str | None = None
    refusal: str | None = None


async def compose_reply(
    lookups: FormLookups,
    conversation: FormConversation,
    state: ConversationState,
    result: ProposalsResult,
    reply: str,
) -> ConversationReply:
    """Return the next question or, if nothing is left to ask, a summary and the submission."""
    try:
        require_accepting(lookups.ctx, lookups.form)
    except _CLOSED as refusal:
        return _cancelled_reply(refusal)
    state.labels = await lookups.labels(state)
    if result.is_ready and not _needs_confirmation(lookups, conversation, result):
        submitted = await _submit(lookups, conversation, state, result)
        if submitted is not None:
            return submitted
    if result.is_ready and state.asked is None:
        state.is_confirming = True
    lines = [reply_text.safe_model_reply(reply, result), *reply_text.render_notes(state, result)]
    if result.is_declined:
        lines.append(WHAT_TO_CHANGE)
    elif result.is_empty_result and not lines[0]:
        lines.append(NOT_UNDERSTOOD)
    lines.append(await render_next_question(lookups, state))
    return ConversationReply(content="\n\n".join(line for line in lines if line))


def _needs_confirmation(
    lookups: FormLookups, conversation: FormConversation, result: ProposalsResult
) -> bool:
    """Return whether a yes is still needed: the form requires it, or the answers came too fast."""
    rules = lookups.form.rules
    is_too_fast = elapsed_ms(conversation.created_at, lookups.ctx.now) < rules.spam.min_seconds * 1000
    if is_too_fast or result.is_declined or result.rejected or result.is_empty_result:
        return True
    return (rules.conversational.confirm or conversation.is_confirming) and not result.is_confirmed


async def render_next_question(lookups: FormLookups, state: ConversationState) -> str:
    field = state.asked_field
    if field is not None:
        return reply_text.render_question(state, field, await lookups.choices(field))
    state.labels = await lookups.labels(state)
    return f"{reply_text.render_summary(state)}\n\n{reply_text.CONFIRM_QUESTION}".strip()


async def _submit(
    lookups: FormLookups, conversation: FormConversation, state: ConversationState, result: ProposalsResult
) -> ConversationReply | None:
    """Submit the answers; return None if some are invalid by now and have to be asked again."""
    ctx, form = lookups.ctx, lookups.form
    body = Submit(data=state.answers, metadata=conversation.metadata)
    try:
        await submit.validate_submission(ctx, form, body)
        await _require_files(lookups, state)
    except _CLOSED as refusal:
        return _cancelled_reply(refusal)
    except SubmissionInvalid as refusal:
        return _reopen_invalid(state, result, refusal)
    submission = await submit.submit(
        ctx, form, body, source="conversation", started_at=conversation.created_at
    )
    content = "\n\n".join(
        text for text in (reply_text.render_summary(state), form.rules.success_message) if text
    )
    return ConversationReply(
        content=content, status=FormConversationStatus.completed, submission_id=submission.id
    )


async def _require_files(lookups: FormLookups, state: ConversationState) -> None:
    """Check that the files still exist: uploads expire after a day, conversations may last longer."""
    problems = [
        (field.id, await lookups.verify(field, state.answers[field.id]))
        for field in state.inputs
        if field.type is FieldType.file and field.id in state.answers
    ]
    errors = [FieldError(id, problem) for id, problem in problems if problem is not None]
    if errors:
        raise SubmissionInvalid(errors)


def _reopen_invalid(
    state: ConversationState, result: ProposalsResult, refusal: SubmissionInvalid
) -> ConversationReply | None:
    errors = (refusal.details or {})["errors"]
    for error in errors:
        field = state.find_input(error["field"])
        if field is None:
            # A hidden field cannot be asked for; only the page can fill it in.
            return _cancelled_reply(FormClosed(f"This cannot be sent: {error['field']} {error['message']}."))
        state.reopen(field.id)
        result.rejected.append(RejectedAnswer(field.id, error["message"]))
    state.revalidate()
    state.asked = errors[0]["field"]
    result.is_ready = False
    return None


def _cancelled_reply(refusal: Conflict) -> ConversationReply:
    return ConversationReply(
        content=refusal.message, status=FormConversationStatus.cancelled, refusal=refusal.message
    )
