"""Messages and replies as records.

A message that needs no model is stored with its reply in one transaction; concurrent ones wait for the
conversation's row. Otherwise the message is stored first and the turn is reserved for as long as a model may
take, so that no transaction stays open and no message is handled twice.
"""

import msgspec
from msgspec import UNSET

from retinue.forms.conversation.answers import ProposalsResult, apply_proposals
from retinue.forms.conversation.lookups import FormLookups
from retinue.forms.conversation.parser import MessageParser, VisitorMessage
from retinue.forms.conversation.replies import ConversationReply, compose_reply
from retinue.forms.conversation.schemas import (
    CapturedOut,
    ConversationAnswer,
    FormMessageOut,
    RejectedOut,
)
from retinue.forms.conversation.state import ConversationState, Proposals
from retinue.forms.errors import (
    ConversationBusy,
    ConversationClosed,
    ConversationTooLong,
    FormConversationNotFound,
)
from retinue.forms.models import FormConversation, FormConversationStatus, FormMessage
from retinue.forms.open_form import OpenForm
from retinue.kit.context import Context
from retinue.kit.failpoints import failpoint
from retinue.kit.ids import new_id
from retinue.kit.json_types import JsonObject

ABANDONED_AFTER_SECONDS = 24 * 3600
RETENTION_SECONDS = 24 * 3600
TURN_LOCK_SECONDS = 40
MAX_MESSAGES = 1000
MAX_TOTAL_CHARACTERS = 2 * 1024 * 1024


class PendingFormTurn(msgspec.Struct, frozen=True, kw_only=True):
    """A stored message without its reply."""

    conversation_id: str
    user_message: FormMessageOut
    reply_id: str
    visitor_message: VisitorMessage


async def fetch(ctx: Context, form: OpenForm, conversation_id: str) -> FormConversation:
    """Return a conversation of this form; one that ended a day ago is gone, even if not swept yet."""
    conversation = await ctx.db.find(FormConversation, id=conversation_id, form_id=form.id)
    if conversation is None or (
        conversation.closed_at is not None and conversation.closed_at < ctx.clock.ahead(-RETENTION_SECONDS)
    ):
        raise FormConversationNotFound
    return conversation


def status_of(ctx: Context, conversation: FormConversation) -> FormConversationStatus:
    is_active = conversation.status is FormConversationStatus.active
    if is_active and conversation.updated_at < ctx.clock.ahead(-ABANDONED_AFTER_SECONDS):
        return FormConversationStatus.abandoned
    return conversation.status


def require_active(ctx: Context, conversation: FormConversation) -> None:
    status = status_of(ctx, conversation)
    if status is not FormConversationStatus.active:
        raise ConversationClosed(details={"status": status.value})


async def lock_for_message(ctx: Context, form: OpenForm, conversation_id: str) -> FormConversation:
    """Return the locked conversation if it accepts messages."""
    await fetch(ctx, form, conversation_id)
    locked = await ctx.db.lock(FormConversation, conversation_id)
    if locked is None:
        raise FormConversationNotFound
    require_active(ctx, locked)
    if locked.message_count >= MAX_MESSAGES or locked.said_characters >= MAX_TOTAL_CHARACTERS:
        raise ConversationTooLong
    return locked


async def begin(
    ctx: Context, locked: FormConversation, visitor_message: VisitorMessage, *, is_slow: bool
) -> PendingFormTurn:
    """Store the message; a slow turn blocks others until it ends or times out."""
    if locked.busy_until is not None and locked.busy_until > ctx.now:
        raise ConversationBusy(headers={"Retry-After": "2"})
    message = await _add_message(ctx, locked, "user", visitor_message.content, None)
    pending = PendingFormTurn(
        conversation_id=locked.id,
        user_message=FormMessageOut.from_record(message),
        reply_id=new_id(FormMessage.__prefix__),
        visitor_message=visitor_message,
    )
    locked.said_characters += len(visitor_message.content)
    if is_slow:
        await ctx.db.update(
            locked,
            message_count=locked.message_count,
            said_characters=locked.said_characters,
            turn_id=pending.reply_id,
            busy_until=ctx.clock.ahead(TURN_LOCK_SECONDS),
        )
    failpoint("form_message_stored")
    return pending


async def resume(ctx: Context, form: OpenForm, pending: PendingFormTurn) -> FormConversation:
    """Return the locked conversation for the end of a slow turn."""
    locked = await lock_for_message(ctx, form, pending.conversation_id)
    if locked.turn_id != pending.reply_id:
        raise ConversationBusy("Another message was answered before this one. Send it again.")
    return locked


async def release(ctx: Context, pending: PendingFormTurn) -> None:
    """Release the turn after a failure, so that the next message need not wait for its timeout."""
    locked = await ctx.db.lock(FormConversation, pending.conversation_id)
    if locked is not None and locked.turn_id == pending.reply_id:
        await ctx.db.update(locked, turn_id=None, busy_until=None)


async def parse_message(
    lookups: FormLookups, state: ConversationState, visitor_message: VisitorMessage
) -> Proposals:
    return await MessageParser(state, lookups.choices, lookups.today).parse_message(visitor_message)


async def finish(
    lookups: FormLookups, locked: FormConversation, pending: PendingFormTurn, proposals: Proposals
) -> ConversationAnswer:
    """Apply the proposals and store the reply, together with the submission if the form is complete."""
    ctx = lookups.ctx
    state = ConversationState.of(lookups.form.fields, locked)
    result = await apply_proposals(state, proposals, lookups.verify)
    response = await compose_reply(lookups, locked, state, result, proposals.reply)
    reply = await _add_message(ctx, locked, "assistant", response.content, state.asked, id=pending.reply_id)
    await ctx.db.update(locked, **_changes(ctx, locked, state, response))
    is_completed = response.status is FormConversationStatus.completed
    is_active = response.status is FormConversationStatus.active
    return ConversationAnswer(
        user_message=pending.user_message,
        assistant_message=FormMessageOut.from_record(reply),
        status=response.status,
        fields_completed=state.completed,
        fields_total=state.total,
        form_completed=is_completed,
        captured=[CapturedOut(field_id=answer.field_id, value=answer.value) for answer in result.captured],
        errors=_errors(result, response),
        input=await lookups.current_input(state) if is_active else None,
        submission_id=response.submission_id or UNSET,
        redirect_url=(is_completed and lookups.form.rules.redirect_url) or UNSET,
    )


def _changes(
    ctx: Context, locked: FormConversation, state: ConversationState, response: ConversationReply
) -> JsonObject:
    is_closed = response.status is not FormConversationStatus.active
    return {
        "answers": state.answers,
        "prefilled": state.prefilled,
        "skipped": state.skipped,
        "asked": state.asked,
        "is_confirming": state.is_confirming,
        "message_count": locked.message_count,
        "said_characters": locked.said_characters,
        "turn_id": None,
        "busy_until": None,
        "status": response.status,
        "submission_id": response.submission_id,
        "closed_at": ctx.now if is_closed else None,
    }


def _errors(result: ProposalsResult, response: ConversationReply) -> list[RejectedOut]:
    errors = [RejectedOut(field_id=answer.field_id, message=answer.message) for answer in result.rejected]
    if response.refusal is not None:
        errors.append(RejectedOut(field_id=None, message=response.refusal))
    return errors


async def _add_message(
    ctx: Context, locked: FormConversation, role: str, content: str, field_id: str | None, *, id: str = ""
) -> FormMessage:
    locked.message_count += 1
    return await ctx.db.insert(
        FormMessage(
            id=id,
            conversation_id=locked.id,
            position=locked.message_count,
            role=role,
            content=content,
            field_id=field_id,
        )
    )


async def create_conversation(ctx: Context, conversation: FormConversation, content: str) -> FormMessage:
    """Store a conversation and its first message."""
    conversation.message_count = 1
    await ctx.db.insert(conversation)
    return await ctx.db.insert(
        FormMessage(
            conversation_id=conversation.id,
            position=1,
            role="assistant",
            content=content,
            field_id=conversation.asked,
        )
    )
