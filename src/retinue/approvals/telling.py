"""Telling approvers that something waits for them.

Only a mail carries the link that decides: a notification is read by someone who has signed in, and a message
to a team is read by people who are no approvers.
"""

from typing import Any

import msgspec

from retinue.access.models import Role
from retinue.approvals import links
from retinue.approvals.models import Approval, ApprovalStatus, Response
from retinue.kit.context import Context
from retinue.kit.jobs.declare import job
from retinue.notifications import preferences, recipients
from retinue.notifications.models import ChannelType, Priority
from retinue.notifications.service import notify
from retinue.notifications.words import Notification, Recipients, Route
from retinue.users.models import User

TYPE = "approval_requested"
# Each gets a mail of its own; the others of a large role see it when they sign in.
MOST_MAILS = 50


class ToTell(msgspec.Struct):
    approval_id: str
    is_reminder: bool = False


@job()
async def tell_approvers(ctx: Context, payload: ToTell) -> None:
    """Whoever can still decide it, each as they prefer."""
    approval = await ctx.db.get(Approval, payload.approval_id)
    if approval is None or approval.status is not ApprovalStatus.pending or approval.expires_at <= ctx.now:
        return
    users = await _undecided(ctx, approval)
    if not users:
        return
    chosen = await preferences.of_users(ctx, [user.id for user in users], TYPE)
    plain = _notification(approval, is_reminder=payload.is_reminder)
    await _tell(ctx, plain, [user for user in users if chosen[user.id].in_app], ChannelType.in_app)
    if any(chosen[user.id].team_chat for user in users):
        await _tell(ctx, plain, users, ChannelType.team_chat)
    for user in [user for user in users if chosen[user.id].email][:MOST_MAILS]:
        own = msgspec.structs.replace(plain, action_url=await links.issue(ctx, approval, user))
        await _tell(ctx, own, [user], ChannelType.email)


async def _undecided(ctx: Context, approval: Approval) -> list[User]:
    roles = set(approval.approvers.roles)
    if Role.tenant_admin in roles:
        roles.add(Role.super_admin)
    wanted = Recipients(user_ids=approval.approvers.user_ids, roles=tuple(roles))
    answered = {one.user_id for one in await ctx.db.all(Response, approval_id=approval.id)}
    if not approval.allow_self_approval:
        answered.add(approval.requester_id)
    return [user for user in await recipients.resolve(ctx, wanted) if user.id not in answered]


async def _tell(ctx: Context, notification: Notification, users: list[User], way: ChannelType) -> None:
    if users:
        to = Recipients(user_ids=tuple(user.id for user in users))
        await notify(ctx, notification, to, Route(types=(way,)))


def _notification(approval: Approval, *, is_reminder: bool) -> Notification:
    until = approval.expires_at[:16].replace("T", " ")
    asked = f"Someone has to decide this until {until} UTC."
    data: dict[str, Any] = {
        "approval_id": approval.id,
        "source": msgspec.to_builtins(approval.source),
        "expires_at": approval.expires_at,
    }
    return Notification(
        type=TYPE,
        title=f"{'Reminder: approval' if is_reminder else 'Approval'} needed: {approval.title}",
        message="\n\n".join(part for part in (approval.description, asked) if part),
        data=data,
        priority=Priority.high,
    )
