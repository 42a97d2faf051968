"""A message and its reply as records.

A message that no model need think about is stored with its reply, in one transaction; parallel ones wait for
the conversation's row. Otherwise the message is stored first and its turn is held for as long as a model may
take, so that no transaction is open meanwhile and nothing is taken twice.
"""

from typing import Any

import msgspec
from msgspec import UNSET

from retinue.forms.conversation.desk import Desk
from retinue.forms.conversation.replying import Response, respond
from retinue.forms.conversation.schemas import (
    CapturedOut,
    ConversationAnswer,
    FormMessageOut,
    RejectedOut,
)
from retinue.forms.conversation.state import Proposals, State
from retinue.forms.conversation.taking import Taken, take
from retinue.forms.conversation.understanding import Listener, Said
from retinue.forms.errors import (
    ConversationBusy,
    ConversationClosed,
    ConversationTooLong,
    FormConversationNotFound,
)
from retinue.forms.models import FormConversation, FormConversationStatus, FormMessage
from retinue.forms.opening import OpenForm
from retinue.kit.context import Context
from retinue.kit.failpoints import failpoint
from retinue.kit.ids import new_id

IDLE_S = 24 * 3600
KEPT_S = 24 * 3600
TURN_S = 40
MOST_MESSAGES = 1000
MOST_CHARACTERS = 2 * 1024 * 1024


class Begun(msgspec.Struct, frozen=True, kw_only=True):
    """A message that is stored and whose reply is still to come."""

    conversation_id: str
    user_message: FormMessageOut
    reply_id: str
    said: Said


async def fetch(ctx: Context, form: OpenForm, conversation_id: str) -> FormConversation:
    """Of this form; one that has been over for a day is gone, whether it was swept already or not."""
    found = await ctx.db.find(FormConversation, id=conversation_id, form_id=form.id)
    if found is None or (found.closed_at is not None and found.closed_at < ctx.clock.ahead(-KEPT_S)):
        raise FormConversationNotFound
    return found


def status_of(ctx: Context, conversation: FormConversation) -> FormConversationStatus:
    is_active = conversation.status is FormConversationStatus.active
    if is_active and conversation.updated_at < ctx.clock.ahead(-IDLE_S):
        return FormConversationStatus.abandoned
    return conversation.status


def require_active(ctx: Context, conversation: FormConversation) -> None:
    status = status_of(ctx, conversation)
    if status is not FormConversationStatus.active:
        raise ConversationClosed(details={"status": status.value})


async def hold(ctx: Context, form: OpenForm, conversation_id: str) -> FormConversation:
    """The conversation, held until the transaction ends, if it can take a message."""
    await fetch(ctx, form, conversation_id)
    held = await ctx.db.lock(FormConversation, conversation_id)
    if held is None:
        raise FormConversationNotFound
    require_active(ctx, held)
    if held.message_count >= MOST_MESSAGES or held.said_characters >= MOST_CHARACTERS:
        raise ConversationTooLong
    return held


async def begin(ctx: Context, held: FormConversation, said: Said, *, is_slow: bool) -> Begun:
    """Store the message; a slow turn is held against others until it ends or its time is up."""
    if held.busy_until is not None and held.busy_until > ctx.now:
        raise ConversationBusy(headers={"Retry-After": "2"})
    message = await _add(ctx, held, "user", said.content, None)
    begun = Begun(
        conversation_id=held.id,
        user_message=FormMessageOut.shown(message),
        reply_id=new_id(FormMessage.__prefix__),
        said=said,
    )
    held.said_characters += len(said.content)
    if is_slow:
        await ctx.db.update(
            held,
            message_count=held.message_count,
            said_characters=held.said_characters,
            turn_id=begun.reply_id,
            busy_until=ctx.clock.ahead(TURN_S),
        )
    failpoint("form_message_stored")
    return begun


async def resume(ctx: Context, form: OpenForm, begun: Begun) -> FormConversation:
    """The conversation again, for the end of a slow turn."""
    held = await hold(ctx, form, begun.conversation_id)
    if held.turn_id != begun.reply_id:
        raise ConversationBusy("Another message was faster than the answer to this one.")
    return held


async def release(ctx: Context, begun: Begun) -> None:
    """After a turn that came to nothing: the next message need not wait until its time is up."""
    held = await ctx.db.lock(FormConversation, begun.conversation_id)
    if held is not None and held.turn_id == begun.reply_id:
        await ctx.db.update(held, turn_id=None, busy_until=None)


async def understand(desk: Desk, state: State, said: Said) -> Proposals:
    return await Listener(state, desk.choices, desk.today).understand(said)


async def finish(
    desk: Desk, held: FormConversation, begun: Begun, proposals: Proposals
) -> ConversationAnswer:
    """Take what holds of the proposals, and store the reply; with the submission, if this was the last."""
    ctx = desk.ctx
    state = State.of(desk.form.fields, held)
    taken = await take(state, proposals, desk.verify)
    response = await respond(desk, held, state, taken, proposals.reply)
    reply = await _add(ctx, held, "assistant", response.content, state.asked, id=begun.reply_id)
    await ctx.db.update(held, **_changes(ctx, held, state, response))
    is_completed = response.status is FormConversationStatus.completed
    is_active = response.status is FormConversationStatus.active
    return ConversationAnswer(
        user_message=begun.user_message,
        assistant_message=FormMessageOut.shown(reply),
        status=response.status,
        fields_completed=state.completed,
        fields_total=state.total,
        form_completed=is_completed,
        captured=[CapturedOut(field_id=one.field_id, value=one.value) for one in taken.captured],
        errors=_errors(taken, response),
        input=await desk.input_of(state) if is_active else None,
        submission_id=response.submission_id or UNSET,
        redirect_url=(is_completed and desk.form.rules.redirect_url) or UNSET,
    )


def _changes(ctx: Context, held: FormConversation, state: State, response: Response) -> dict[str, Any]:
    is_over = response.status is not FormConversationStatus.active
    return {
        "answers": state.answers,
        "prefilled": state.prefilled,
        "skipped": state.skipped,
        "asked": state.asked,
        "is_confirming": state.is_confirming,
        "message_count": held.message_count,
        "said_characters": held.said_characters,
        "turn_id": None,
        "busy_until": None,
        "status": response.status,
        "submission_id": response.submission_id,
        "closed_at": ctx.now if is_over else None,
    }


def _errors(taken: Taken, response: Response) -> list[RejectedOut]:
    errors = [RejectedOut(field_id=one.field_id, message=one.message) for one in taken.rejected]
    if response.refusal is not None:
        errors.append(RejectedOut(field_id=None, message=response.refusal))
    return errors


async def _add(
    ctx: Context, held: FormConversation, role: str, content: str, field_id: str | None, *, id: str = ""
) -> FormMessage:
    held.message_count += 1
    return await ctx.db.insert(
        FormMessage(
            id=id,
            conversation_id=held.id,
            position=held.message_count,
            role=role,
            content=content,
            field_id=field_id,
        )
    )


async def open_with(ctx: Context, conversation: FormConversation, content: str) -> FormMessage:
    """A conversation and what it begins with."""
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
