"""Filling in a form by conversation: start, send messages, show, cancel."""

from retinue.forms.after import daily_counts
from retinue.forms.conversation import extraction, replies, reply_text, turns
from retinue.forms.conversation.answers import REQUIRED_MESSAGE, RejectedAnswer, apply_prefill
from retinue.forms.conversation.lookups import FormLookups
from retinue.forms.conversation.parser import VisitorMessage
from retinue.forms.conversation.schemas import (
    ConversationAnswer,
    ConversationSay,
    ConversationStart,
    ConversationStarted,
    FormConversationOut,
    FormMessageOut,
    RejectedOut,
    submission_of,
)
from retinue.forms.conversation.state import ConversationState
from retinue.forms.errors import ConversationNotEnabled, SubmissionInvalid
from retinue.forms.intake import spam, submit
from retinue.forms.models import FormConversation, FormConversationStatus, FormMessage
from retinue.forms.open_form import (
    OpenForm,
    load_published,
    require_accepting,
    require_address_quota,
    require_quota,
)
from retinue.kit.context import Context
from retinue.kit.errors import Invalid
from retinue.kit.http.request import Request
from retinue.kit.schema.fields import FieldError, FieldType

_GREETING = "Hello! A few questions for “{name}”. You can correct an answer at any time."


async def start(ctx: Context, slug: str, body: ConversationStart, request: Request) -> ConversationStarted:
    form = await load_published(ctx, slug, request)
    require_accepting(ctx, form)
    if not form.rules.conversational.enabled:
        raise ConversationNotEnabled
    await _require_message_quota(ctx, form, request)
    await require_quota(ctx, request, f"form:{form.id}:total", form.rules.limits.total)
    if form.rules.spam.proof_of_work:
        spam.require_token_and_proof(ctx, form, body.token, body.proof)
    errors = submit.metadata_errors(body.metadata)
    if errors:
        raise SubmissionInvalid(errors)
    await submit.require_submit_limit(ctx, form)
    lookups = FormLookups(ctx, form)
    state = ConversationState(form.fields, answers={})
    rejected = await apply_prefill(state, {**_hidden_defaults(form), **body.prefill}, lookups.verify)
    _require_hidden_values(state)
    state.is_confirming = state.asked is None
    conversation = FormConversation(
        form_id=form.id,
        answers=state.answers,
        prefilled=state.prefilled,
        asked=state.asked,
        is_confirming=state.is_confirming,
        language=body.language or form.rules.conversational.language,
        metadata=body.metadata or {},
    )
    message = await turns.create_conversation(ctx, conversation, await _greeting(lookups, state, rejected))
    daily_counts.count_start(ctx, form.id)
    shown = await _render_conversation(lookups, conversation)
    return ConversationStarted.of(
        shown,
        assistant_message=FormMessageOut.from_record(message),
        errors=[RejectedOut(field_id=answer.field_id, message=answer.message) for answer in rejected],
    )


def _hidden_defaults(form: OpenForm) -> dict[str, object]:
    """Return the default values of hidden fields, which a page would send."""
    return {
        field.id: field.definition["default_value"]
        for field in form.fields.asked
        if field.type is FieldType.hidden and field.definition.get("default_value") is not None
    }


def _require_hidden_values(state: ConversationState) -> None:
    """Require hidden fields up front: nobody is asked for them, so the form could never be completed."""
    shown = state.fields.visible(state.answers)
    missing = [
        FieldError(field.id, REQUIRED_MESSAGE)
        for field in state.fields.asked
        if field.type is FieldType.hidden
        and field.required
        and field.id in shown
        and field.id not in state.answers
    ]
    if missing:
        raise SubmissionInvalid(missing)


async def _greeting(lookups: FormLookups, state: ConversationState, rejected: list[RejectedAnswer]) -> str:
    greeting = lookups.form.rules.conversational.greeting
    return "\n\n".join(
        text
        for text in (
            greeting if greeting is not None else _GREETING.format(name=lookups.form.name),
            *reply_text.render_rejections(state, rejected),
            await replies.render_next_question(lookups, state),
        )
        if text
    )


async def send_message(
    ctx: Context, slug: str, conversation_id: str, body: ConversationSay, request: Request
) -> ConversationAnswer:
    form, visitor_message = await admit_message(ctx, slug, body, request)
    extractor = await find_extractor_for(ctx, form, conversation_id, visitor_message)
    if extractor is None:
        lookups = FormLookups(ctx, form)
        locked = await turns.lock_for_message(ctx, form, conversation_id)
        pending = await turns.begin(ctx, locked, visitor_message, is_slow=False)
        proposals = await turns.parse_message(
            lookups, ConversationState.of(form.fields, locked), visitor_message
        )
        return await turns.finish(lookups, locked, pending, proposals)
    async with ctx.unit() as unit:
        locked = await turns.lock_for_message(unit, form, conversation_id)
        pending = await turns.begin(unit, locked, visitor_message, is_slow=True)
    return await finish_turn(ctx, ctx, form, pending, extractor)


async def admit_message(
    ctx: Context, slug: str, body: ConversationSay, request: Request
) -> tuple[OpenForm, VisitorMessage]:
    form = await load_published(ctx, slug, request)
    await _require_message_quota(ctx, form, request)
    if not body.content.strip() and not body.file_ids:
        raise Invalid({"content": "must not be empty"})
    return form, VisitorMessage(content=body.content, file_ids=tuple(body.file_ids), field_id=body.field_id)


async def find_extractor_for(
    ctx: Context, form: OpenForm, conversation_id: str, visitor_message: VisitorMessage
) -> extraction.AnswerExtractor | None:
    """Return the extractor for a message, or None if it can be parsed with certainty."""
    conversation = await turns.fetch(ctx, form, conversation_id)
    turns.require_active(ctx, conversation)
    proposals = await turns.parse_message(
        FormLookups(ctx, form), ConversationState.of(form.fields, conversation), visitor_message
    )
    if proposals.is_certain:
        return None
    return await extraction.find_extractor(ctx, form)


async def finish_turn(
    reader: Context,
    writer: Context,
    form: OpenForm,
    pending: turns.PendingFormTurn,
    extractor: extraction.AnswerExtractor | None,
) -> ConversationAnswer:
    """Call the model without holding locks, then finish the turn in the writer's transaction."""
    extracted = extraction.Extraction()
    try:
        if extractor is not None:
            await extractor.extract(reader, pending, extracted)
        answer = await _apply_extraction(writer, form, pending, extracted)
        if extractor is not None:
            extractor.meter(writer, extracted)
    except BaseException:
        await writer.rollback()
        async with reader.detached().unit() as unit:
            await turns.release(unit, pending)
            if extractor is not None:
                extractor.meter(unit, extracted)
        raise
    return answer


async def _apply_extraction(
    ctx: Context, form: OpenForm, pending: turns.PendingFormTurn, extracted: extraction.Extraction
) -> ConversationAnswer:
    lookups = FormLookups(ctx, form)
    locked = await turns.resume(ctx, form, pending)
    state = ConversationState.of(form.fields, locked)
    parsed = await turns.parse_message(lookups, state, pending.visitor_message)
    proposals = await extraction.merge_proposals(state, parsed, extracted, lookups.verify)
    return await turns.finish(lookups, locked, pending, proposals)


async def finish_turn_detached(
    ctx: Context, form: OpenForm, pending: turns.PendingFormTurn, extractor: extraction.AnswerExtractor | None
) -> ConversationAnswer:
    """Finish a turn in its own transaction, independent of the request."""
    async with ctx.unit() as unit:
        return await finish_turn(ctx, unit, form, pending, extractor)


async def show(ctx: Context, slug: str, conversation_id: str, request: Request) -> FormConversationOut:
    form = await load_published(ctx, slug, request)
    return await _render_conversation(FormLookups(ctx, form), await turns.fetch(ctx, form, conversation_id))


async def _render_conversation(lookups: FormLookups, conversation: FormConversation) -> FormConversationOut:
    state = ConversationState.of(lookups.form.fields, conversation)
    status = turns.status_of(lookups.ctx, conversation)
    is_active = status is FormConversationStatus.active
    return FormConversationOut(
        id=conversation.id,
        form_slug=lookups.form.slug,
        status=status,
        fields_completed=state.completed,
        fields_total=state.total,
        collected_data=conversation.answers,
        created_at=conversation.created_at,
        input=await lookups.current_input(state) if is_active else None,
        submission_id=submission_of(conversation),
    )


async def list_messages(
    ctx: Context, slug: str, conversation_id: str, request: Request
) -> list[FormMessageOut]:
    form = await load_published(ctx, slug, request)
    conversation = await turns.fetch(ctx, form, conversation_id)
    messages = await ctx.db.all(FormMessage, conversation_id=conversation.id, order_by=("position",))
    return [FormMessageOut.from_record(message) for message in messages]


async def cancel(ctx: Context, slug: str, conversation_id: str, request: Request) -> FormConversationOut:
    """Cancel a conversation; cancelling it again changes nothing."""
    form = await load_published(ctx, slug, request)
    await _require_message_quota(ctx, form, request)
    conversation = await turns.fetch(ctx, form, conversation_id)
    if conversation.status is not FormConversationStatus.cancelled:
        locked = await ctx.db.lock(FormConversation, conversation.id)
        if locked is not None:
            turns.require_active(ctx, locked)
            conversation = await ctx.db.update(
                locked,
                status=FormConversationStatus.cancelled,
                closed_at=ctx.now,
                turn_id=None,
                busy_until=None,
            )
    return await _render_conversation(FormLookups(ctx, form), conversation)


async def _require_message_quota(ctx: Context, form: OpenForm, request: Request) -> None:
    await require_address_quota(ctx, request, f"form:{form.id}:messages", form.rules.limits.messages)
