"""Notification of approvers about a pending approval.

Only the mail contains the decision link and the values: in-app notifications are read after signing in, and
team messages are also read by people who are not approvers.
"""

import msgspec

from retinue.approvals import links
from retinue.approvals.deciders import load_undecided_approvers
from retinue.approvals.job_kinds import AnnouncementsToMark, ApproversToNotify
from retinue.approvals.models import Approval, ApprovalStatus
from retinue.approvals.request_mail import describe_decision, describe_request
from retinue.approvals.summary import describe_requester, format_deadline
from retinue.kit.context import Context
from retinue.kit.json_types import JsonObject
from retinue.notifications import inbox, preferences
from retinue.notifications.models import ChannelType, Priority
from retinue.notifications.notification import Notification, NotificationRoute, Recipients
from retinue.notifications.service import notify
from retinue.users.models import User

NOTIFICATION_TYPE = "approval_requested"
# Each mail is sent separately; the other members of a large role see the approval when they sign in.
MAX_MAILS = 50


async def notify_approvers(ctx: Context, payload: ApproversToNotify) -> None:
    """Notify every approver who can still decide, on the channels they prefer."""
    # Locked, so that a decision comes before it or finds all of its notifications to mark them as read.
    approval = await ctx.db.lock(Approval, payload.approval_id)
    if approval is None or approval.status is not ApprovalStatus.pending or approval.expires_at <= ctx.now:
        return
    users = await load_undecided_approvers(ctx, approval)
    if not users:
        return
    chosen = await preferences.load_for_users(ctx, [user.id for user in users], NOTIFICATION_TYPE)
    who = await describe_requester(ctx, approval)
    base_notification = _notification(approval, who, is_reminder=payload.is_reminder)
    await _notify(
        ctx, base_notification, [user for user in users if chosen[user.id].in_app], ChannelType.in_app
    )
    # Channel logs have readers besides the approvers, so the deliveries below record what they quote.
    ctx.quote(*(approval.conversation_ids or ()))
    if any(chosen[user.id].team_chat for user in users):
        await _notify(ctx, base_notification, users, ChannelType.team_chat)
    mailed = [user for user in users if chosen[user.id].email][:MAX_MAILS]
    request = await describe_request(ctx, approval) if mailed else ()
    for user in mailed:
        link = await links.create_link(ctx, approval, user)
        paragraphs = (*request, *describe_decision(approval, link))
        own = msgspec.structs.replace(base_notification, action_url=link, mail=paragraphs)
        await _notify(ctx, own, [user], ChannelType.email)


async def mark_announcements_read(ctx: Context, payload: AnnouncementsToMark) -> None:
    """Mark the in-app notifications about an approval as read: they ask for what is done."""
    await inbox.mark_read_about(
        ctx,
        NOTIFICATION_TYPE,
        "approval_id",
        payload.approval_id,
        since=payload.requested_at,
        user_id=payload.user_id,
    )


async def _notify(
    ctx: Context, notification: Notification, users: list[User], channel_type: ChannelType
) -> None:
    if users:
        to = Recipients(user_ids=tuple(user.id for user in users))
        await notify(ctx, notification, to, NotificationRoute(types=(channel_type,)))


def _notification(approval: Approval, who: str, *, is_reminder: bool) -> Notification:
    request_text = f"{who} asks for approval. Decide it before {format_deadline(approval)}."
    data: JsonObject = {
        "approval_id": approval.id,
        "source": msgspec.to_builtins(approval.source),
        "expires_at": approval.expires_at,
    }
    return Notification(
        type=NOTIFICATION_TYPE,
        title=f"{'Reminder: approval' if is_reminder else 'Approval'} needed: {approval.title}",
        message="\n\n".join(part for part in (approval.description, request_text) if part),
        data=data,
        priority=Priority.high,
    )
