"""Notifications about a submission: to the form's creator, its addresses and channels, and the visitor."""

from collections.abc import Sequence

import msgspec

from retinue.adapters.mail.mail_body import FactTable, build_mail
from retinue.adapters.mail.mail_queue import enqueue_mail
from retinue.forms.models import Form, Submission
from retinue.kit.context import Context
from retinue.kit.events.declare import EventOccurred
from retinue.kit.events.models import EventEntry
from retinue.kit.ids import hash_token
from retinue.kit.schema.base import Email
from retinue.notifications.channels import find_reachable
from retinue.notifications.delivery.deliveries import enqueue_deliveries, new_delivery
from retinue.notifications.models import ChannelType, DeliveryContent, Priority
from retinue.notifications.notification import Notification, NotificationRoute, Recipients
from retinue.notifications.queries import active_channels
from retinue.notifications.service import notify, render_content, render_system_mail

SUBMISSION_TYPE = "form_submission"
CONFIRMATION_TYPE = "form_confirmation"
MAX_RECIPIENTS = 20
MAX_CONFIRMATIONS_PER_HOUR = 5
_MAX_VALUE_LENGTH = 300
_MAX_LINES = 30


async def notify_submission(ctx: Context, payload: EventOccurred) -> None:
    event = await ctx.db.get(EventEntry, payload.event_id)
    submission = await ctx.db.get(Submission, event.subject_id) if event is not None else None
    form = await ctx.db.get(Form, submission.form_id) if submission is not None else None
    if event is None or event.is_test or submission is None or form is None:
        return
    wanted = form.settings.get("notifications") or {}
    channels, problems = await find_reachable(ctx, _channel_ids(wanted.get("channel_ids")))
    notification = _notification(form, submission)
    # Only the creator can fix the form's channels, so only the creator reads about their problems.
    for_creator = _notification(form, submission, problems)
    await _notify_creator(ctx, form, for_creator, by_mail=_is_creator_mailed(wanted.get("email")))
    await _mail_addresses(ctx, notification, parse_addresses(wanted.get("email")))
    for channel in channels:
        # Without recipients: the channel's configuration names the destination.
        channel_notification = msgspec.structs.replace(notification, dedupe_key="")
        await notify(ctx, channel_notification, Recipients(), NotificationRoute(channels=(channel,)))
    await _send_confirmation(ctx, form, submission)


def _notification(form: Form, submission: Submission, problems: Sequence[str] = ()) -> Notification:
    answers = [(_label(form, id), _value_text(value)) for id, value in submission.data.items()]
    title, failed = f"New submission: {form.name}", list(problems)
    if submission.data_table_error is not None:
        title = f"New submission, not saved to its table: {form.name}"
        failed.insert(0, submission.data_table_error)
    shown = answers[: max(0, _MAX_LINES - len(failed))]
    lines = [*failed, *(f"{label}: {value}" for label, value in shown)]
    return Notification(
        type=SUBMISSION_TYPE,
        title=title,
        message="\n".join(lines),
        mail=(
            *failed,
            f"The form {form.name} was filled in:",
            FactTable(tuple(shown) or (("Answers", "none"),)),
        ),
        data={"form_id": form.id, "form_name": form.name, "submission_id": submission.id},
        priority=Priority.normal if submission.data_table_error is None else Priority.high,
        dedupe_key=f"submission:{submission.id}",
    )


def _label(form: Form, field_id: str) -> str:
    labelled = next((field for field in form.fields if field["id"] == field_id), {})
    return labelled.get("label") or field_id


def _value_text(value: object) -> str:
    text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    return text[:_MAX_VALUE_LENGTH]


def _is_creator_mailed(email: object) -> bool:
    if isinstance(email, dict):
        return email.get("enabled", True) is True and not email.get("recipients")
    return email is True


def parse_addresses(email: object) -> list[str]:
    """Return the valid addresses of an address, a list or `{ enabled, recipients }`."""
    if isinstance(email, dict):
        email = email.get("recipients") if email.get("enabled", True) is True else None
    given = [email] if isinstance(email, str) else email
    if not isinstance(given, list):
        return []
    return [address for address in dict.fromkeys(map(str, given)) if _is_address(address)][:MAX_RECIPIENTS]


def _is_address(text: str) -> bool:
    try:
        msgspec.convert(text, Email)
    except msgspec.ValidationError:
        return False
    return True


async def _notify_creator(ctx: Context, form: Form, notification: Notification, *, by_mail: bool) -> None:
    to = Recipients(user_ids=(form.created_by,))
    route = NotificationRoute(types=(ChannelType.in_app, ChannelType.email)) if by_mail else None
    await notify(ctx, notification, to, route)


async def _mail_addresses(ctx: Context, notification: Notification, addresses: list[str]) -> None:
    if not addresses:
        return
    subject, content = notification.title, render_content(ctx, notification, ChannelType.email)
    for to in addresses:
        if not await _mail_through_channel(ctx, to, SUBMISSION_TYPE, subject, content):
            await enqueue_mail(ctx, render_system_mail(ctx, to, notification))


def _channel_ids(value: object) -> list[str]:
    return [id for id in value if isinstance(id, str)][:MAX_RECIPIENTS] if isinstance(value, list) else []


async def _mail_through_channel(
    ctx: Context, to: str, type: str, subject: str, content: DeliveryContent
) -> bool:
    """Send a mail through the tenant's mail channel; return whether there is one."""
    channels = await active_channels(ctx, ChannelType.email)
    if channels:
        delivery = new_delivery(ctx, channels[0], recipient=to, type=type, subject=subject, content=content)
        await enqueue_deliveries(ctx, channels[0], [delivery])
    return bool(channels)


async def _send_confirmation(ctx: Context, form: Form, submission: Submission) -> None:
    """Mail a confirmation, without the answers, to the address in the form's first email field."""
    setting = form.settings.get("confirmation_email")
    if not setting or (isinstance(setting, dict) and setting.get("enabled") is False):
        return
    confirmation = setting if isinstance(setting, dict) else {}
    fields = [field["id"] for field in form.fields if field["type"] == "email"]
    to = next((submission.data[id] for id in fields if id in submission.data), None)
    if to is None or not _is_address(to) or not await _may_send_confirmation(ctx, to):
        return
    subject = str(confirmation.get("subject") or f"We received your answers: {form.name}")[:200]
    message = str(confirmation.get("message") or form.settings.get("success_message") or "Thank you.")[:2000]
    mail = build_mail(to, " ".join(subject.split()), message)
    content = DeliveryContent(text=mail.text, html=mail.html)
    if not await _mail_through_channel(ctx, to, CONFIRMATION_TYPE, mail.subject, content):
        await enqueue_mail(ctx, mail)


async def _may_send_confirmation(ctx: Context, to: str) -> bool:
    """Limit confirmations per address, because visitors choose the address freely."""
    key = f"form-confirmations:{ctx.tenant_id}:{hash_token(to.lower())}"
    return (await ctx.instance.limiter.hit_window(key, MAX_CONFIRMATIONS_PER_HOUR, 3600)).allowed
