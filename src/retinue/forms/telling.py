"""Who hears of a submission: whoever made the form, the addresses and channels it names, and the visitor."""

from typing import Any

import msgspec

from retinue.adapters.mail.letters import letter
from retinue.adapters.mail.outgoing import post
from retinue.forms.models import Form, Submission
from retinue.kit.context import Context
from retinue.kit.events.declare import EventOccurred
from retinue.kit.events.models import EventEntry
from retinue.kit.jobs.declare import job
from retinue.kit.schemas import Email
from retinue.notifications.delivering import accept, new_delivery
from retinue.notifications.models import Channel, ChannelType, Priority
from retinue.notifications.queries import active_channels
from retinue.notifications.service import content_of, notify, system_mail
from retinue.notifications.words import Notification, Recipients, Route

TYPE = "form_submission"
MOST_ADDRESSES = 20
_LONGEST_VALUE = 300
_MOST_LINES = 30


@job()
async def tell_of_submission(ctx: Context, payload: EventOccurred) -> None:
    event = await ctx.db.get(EventEntry, payload.event_id)
    submission = await ctx.db.get(Submission, event.subject_id) if event is not None else None
    form = await ctx.db.get(Form, submission.form_id) if submission is not None else None
    if event is None or event.is_test or submission is None or form is None:
        return
    wanted = form.settings.get("notifications") or {}
    notification = _notification(form, submission)
    await _tell_creator(ctx, form, notification, by_mail=_is_creator_mailed(wanted.get("email")))
    await _tell_addresses(ctx, notification, addresses_of(wanted.get("email")))
    await _tell_channels(ctx, notification, wanted.get("channel_ids"))
    await _confirm(ctx, form, submission)


def _notification(form: Form, submission: Submission) -> Notification:
    lines = [f"{_label(form, id)}: {_written(value)}" for id, value in submission.data.items()]
    title = f"New submission: {form.name}"
    if submission.data_table_error is not None:
        title = f"New submission, not saved to its table: {form.name}"
        lines.insert(0, submission.data_table_error)
    return Notification(
        type=TYPE,
        title=title,
        message="\n".join(lines[:_MOST_LINES]),
        data={"form_id": form.id, "form_name": form.name, "submission_id": submission.id},
        priority=Priority.normal if submission.data_table_error is None else Priority.high,
        dedupe_key=f"submission:{submission.id}",
    )


def _label(form: Form, field_id: str) -> str:
    found = next((field for field in form.fields if field["id"] == field_id), {})
    return found.get("label") or field_id


def _written(value: Any) -> str:
    text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    return text[:_LONGEST_VALUE]


def _is_creator_mailed(email: Any) -> bool:
    if isinstance(email, dict):
        return email.get("enabled", True) is True and not email.get("recipients")
    return email is True


def addresses_of(email: Any) -> list[str]:
    """An address, a list, or `{ enabled, recipients }`; what is no address is kept there and ignored."""
    if isinstance(email, dict):
        email = email.get("recipients") if email.get("enabled", True) is True else None
    given = [email] if isinstance(email, str) else email
    if not isinstance(given, list):
        return []
    return [one for one in dict.fromkeys(map(str, given)) if _is_address(one)][:MOST_ADDRESSES]


def _is_address(text: str) -> bool:
    try:
        msgspec.convert(text, Email)
    except msgspec.ValidationError:
        return False
    return True


async def _tell_creator(ctx: Context, form: Form, notification: Notification, *, by_mail: bool) -> None:
    to = Recipients(user_ids=(form.created_by,))
    route = Route(types=(ChannelType.in_app, ChannelType.email)) if by_mail else None
    await notify(ctx, notification, to, route)


async def _tell_addresses(ctx: Context, notification: Notification, addresses: list[str]) -> None:
    if not addresses:
        return
    channels = await active_channels(ctx, ChannelType.email)
    if channels:
        content = content_of(ctx, notification)
        deliveries = [
            new_delivery(
                ctx, channels[0], recipient=to, type=TYPE, subject=notification.title, content=content
            )
            for to in addresses
        ]
        await accept(ctx, channels[0], deliveries)
    elif ctx.settings.smtp_url:
        for to in addresses:
            await post(ctx, system_mail(ctx, to, notification))


async def _tell_channels(ctx: Context, notification: Notification, ids: Any) -> None:
    wanted = [id for id in ids if isinstance(id, str)] if isinstance(ids, list) else []
    for id in dict.fromkeys(wanted[:MOST_ADDRESSES]):
        channel = await ctx.db.get(Channel, id)
        if channel is not None and channel.is_active and channel.type is not ChannelType.in_app:
            # To nobody in particular: the channel says where it goes.
            anyone = msgspec.structs.replace(notification, dedupe_key="")
            await notify(ctx, anyone, Recipients(), Route(channels=(channel,)))


async def _confirm(ctx: Context, form: Form, submission: Submission) -> None:
    """A letter to the address that was answered in the form's first e-mail field, without the answers."""
    asked = form.settings.get("confirmation_email")
    if not asked or not ctx.settings.smtp_url or (isinstance(asked, dict) and asked.get("enabled") is False):
        return
    told = asked if isinstance(asked, dict) else {}
    fields = [field["id"] for field in form.fields if field["type"] == "email"]
    to = next((submission.data[id] for id in fields if id in submission.data), None)
    if to is None or not _is_address(to):
        return
    subject = str(told.get("subject") or f"We received your answers: {form.name}")[:200]
    message = str(told.get("message") or form.settings.get("success_message") or "Thank you.")[:2000]
    await post(ctx, letter(to, " ".join(subject.split()), message))
