"""A form that is filled in by talking: start, say, look, leave."""

from retinue.forms import counting, spam, submitting
from retinue.forms.conversation import phrasing, replying, thinking, turns
from retinue.forms.conversation.desk import Desk
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
from retinue.forms.conversation.state import State
from retinue.forms.conversation.taking import REQUIRED, Rejected, prefill
from retinue.forms.conversation.understanding import Said
from retinue.forms.errors import ConversationNotEnabled, SubmissionInvalid
from retinue.forms.models import FormConversation, FormConversationStatus, FormMessage
from retinue.forms.opening import OpenForm, charge, hit, open_published, require_open
from retinue.kit.context import Context
from retinue.kit.errors import Invalid
from retinue.kit.fields import FieldError, FieldType
from retinue.kit.http.request import Request

_GREETING = "Hello! A few questions for “{name}”. You can correct an answer at any time."


async def start(ctx: Context, slug: str, body: ConversationStart, request: Request) -> ConversationStarted:
    form = await open_published(ctx, slug, request)
    require_open(ctx, form)
    if not form.rules.conversational.enabled:
        raise ConversationNotEnabled
    await _charge(ctx, form, request)
    await hit(ctx, request, f"form:{form.id}:total", form.rules.limits.total)
    if form.rules.spam.proof_of_work:
        spam.require_patience(ctx, form, body.token, body.proof)
    errors = submitting.metadata_errors(body.metadata)
    if errors:
        raise SubmissionInvalid(errors)
    await submitting.require_room(ctx, form)
    desk = Desk(ctx, form)
    state = State(form.fields, answers={})
    rejected = await prefill(state, {**_defaults(form), **body.prefill}, desk.verify)
    _require_hidden(state)
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
    message = await turns.open_with(ctx, conversation, await _greeting(desk, state, rejected))
    counting.count_start(ctx, form.id)
    shown = await _shown(desk, conversation)
    return ConversationStarted.of(
        shown,
        assistant_message=FormMessageOut.shown(message),
        errors=[RejectedOut(field_id=one.field_id, message=one.message) for one in rejected],
    )


def _defaults(form: OpenForm) -> dict[str, object]:
    """What a page would send along for the fields that nobody sees."""
    return {
        field.id: field.definition["default_value"]
        for field in form.fields.asked
        if field.type is FieldType.hidden and field.definition.get("default_value") is not None
    }


def _require_hidden(state: State) -> None:
    """Nobody is asked for a hidden field, so a conversation without its value could never end."""
    shown = state.fields.visible(state.answers)
    missing = [
        FieldError(field.id, REQUIRED)
        for field in state.fields.asked
        if field.type is FieldType.hidden
        and field.required
        and field.id in shown
        and field.id not in state.answers
    ]
    if missing:
        raise SubmissionInvalid(missing)


async def _greeting(desk: Desk, state: State, rejected: list[Rejected]) -> str:
    written = desk.form.rules.conversational.greeting
    return "\n\n".join(
        text
        for text in (
            written if written is not None else _GREETING.format(name=desk.form.name),
            *phrasing.complaints(state, rejected),
            await replying.ask(desk, state),
        )
        if text
    )


async def say(
    ctx: Context, slug: str, conversation_id: str, body: ConversationSay, request: Request
) -> ConversationAnswer:
    form, said = await hear(ctx, slug, body, request)
    thinker = await find_thinker(ctx, form, conversation_id, said)
    if thinker is None:
        desk = Desk(ctx, form)
        held = await turns.hold(ctx, form, conversation_id)
        begun = await turns.begin(ctx, held, said, is_slow=False)
        proposals = await turns.understand(desk, State.of(form.fields, held), said)
        return await turns.finish(desk, held, begun, proposals)
    async with ctx.unit() as unit:
        held = await turns.hold(unit, form, conversation_id)
        begun = await turns.begin(unit, held, said, is_slow=True)
    return await conclude(ctx, ctx, form, begun, thinker)


async def hear(ctx: Context, slug: str, body: ConversationSay, request: Request) -> tuple[OpenForm, Said]:
    form = await open_published(ctx, slug, request)
    await _charge(ctx, form, request)
    if not body.content.strip() and not body.file_ids:
        raise Invalid({"content": "must not be empty"})
    return form, Said(content=body.content, file_ids=tuple(body.file_ids), field_id=body.field_id)


async def find_thinker(
    ctx: Context, form: OpenForm, conversation_id: str, said: Said
) -> thinking.Thinker | None:
    """Whoever has to think about a message; nobody where it is plain what it says."""
    found = await turns.fetch(ctx, form, conversation_id)
    turns.require_active(ctx, found)
    proposals = await turns.understand(Desk(ctx, form), State.of(form.fields, found), said)
    if proposals.is_certain:
        return None
    return await thinking.find_thinker(ctx, form)


async def conclude(
    reader: Context, writer: Context, form: OpenForm, begun: turns.Begun, thinker: thinking.Thinker | None
) -> ConversationAnswer:
    """Let a model think while nothing is held, then finish the turn in the writer's transaction."""
    thought = thinking.Thought()
    try:
        if thinker is not None:
            await thinker.think(reader, begun, thought)
        answer = await _finish(writer, form, begun, thought)
        if thinker is not None:
            thinker.meter(writer, thought)
    except BaseException:
        await writer.rollback()
        async with reader.apart().unit() as unit:
            await turns.release(unit, begun)
            if thinker is not None:
                thinker.meter(unit, thought)
        raise
    return answer


async def _finish(
    ctx: Context, form: OpenForm, begun: turns.Begun, thought: thinking.Thought
) -> ConversationAnswer:
    desk = Desk(ctx, form)
    held = await turns.resume(ctx, form, begun)
    state = State.of(form.fields, held)
    plain = await turns.understand(desk, state, begun.said)
    proposals = await thinking.weigh(state, plain, thought, desk.verify)
    return await turns.finish(desk, held, begun, proposals)


async def conclude_apart(
    ctx: Context, form: OpenForm, begun: turns.Begun, thinker: thinking.Thinker | None
) -> ConversationAnswer:
    """The same for a turn that nobody's request commits."""
    async with ctx.unit() as unit:
        return await conclude(ctx, unit, form, begun, thinker)


async def show(ctx: Context, slug: str, conversation_id: str, request: Request) -> FormConversationOut:
    form = await open_published(ctx, slug, request)
    return await _shown(Desk(ctx, form), await turns.fetch(ctx, form, conversation_id))


async def _shown(desk: Desk, conversation: FormConversation) -> FormConversationOut:
    state = State.of(desk.form.fields, conversation)
    status = turns.status_of(desk.ctx, conversation)
    is_active = status is FormConversationStatus.active
    return FormConversationOut(
        id=conversation.id,
        form_slug=desk.form.slug,
        status=status,
        fields_completed=state.completed,
        fields_total=state.total,
        collected_data=conversation.answers,
        created_at=conversation.created_at,
        input=await desk.input_of(state) if is_active else None,
        submission_id=submission_of(conversation),
    )


async def history(ctx: Context, slug: str, conversation_id: str, request: Request) -> list[FormMessageOut]:
    form = await open_published(ctx, slug, request)
    found = await turns.fetch(ctx, form, conversation_id)
    messages = await ctx.db.all(FormMessage, conversation_id=found.id, order_by=("position",))
    return [FormMessageOut.shown(message) for message in messages]


async def cancel(ctx: Context, slug: str, conversation_id: str, request: Request) -> FormConversationOut:
    """The visitor has enough; a second time changes nothing."""
    form = await open_published(ctx, slug, request)
    await _charge(ctx, form, request)
    found = await turns.fetch(ctx, form, conversation_id)
    if found.status is not FormConversationStatus.cancelled:
        held = await ctx.db.lock(FormConversation, found.id)
        if held is not None:
            turns.require_active(ctx, held)
            found = await ctx.db.update(
                held,
                status=FormConversationStatus.cancelled,
                closed_at=ctx.now,
                turn_id=None,
                busy_until=None,
            )
    return await _shown(Desk(ctx, form), found)


async def _charge(ctx: Context, form: OpenForm, request: Request) -> None:
    await charge(ctx, request, f"form:{form.id}:messages", form.rules.limits.messages)
