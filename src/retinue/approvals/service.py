"""Requests for approval, stored in the transaction in which their requester starts to wait."""

from retinue.access.models import Role
from retinue.approvals.errors import ApprovalNotFound, NotTheRequester
from retinue.approvals.events import ApprovalRequested
from retinue.approvals.job_kinds import NOTIFY_APPROVERS, ApproversToNotify
from retinue.approvals.models import Approval, ApprovalStatus, Assignment
from retinue.approvals.queries import assignees, find_pending_for, sees_all_approvals
from retinue.approvals.resolution import build_event, end_announcements, require_pending, resolve_approval
from retinue.approvals.secret_mask import mask_secrets
from retinue.approvals.types import (
    ApprovalSource,
    Approvers,
    OnTimeout,
    RequestedApproval,
    Requester,
    SourceType,
)
from retinue.kit.clock import parse_instant
from retinue.kit.context import Context
from retinue.kit.conversation_ids import conversation_ids_or_none
from retinue.kit.errors import Invalid, RateLimited
from retinue.kit.ids import new_id
from retinue.kit.schema.fields import read_fields

__all__ = [
    "ApprovalSource",
    "Approvers",
    "OnTimeout",
    "RequestedApproval",
    "Requester",
    "SourceType",
    "cancel",
    "cancel_waiting",
    "remind",
    "request",
]

REMINDER_INTERVAL_SECONDS = 3600
MAX_APPROVERS = 100
_MAX_TITLE_LENGTH = 200
_MAX_EXPIRY_SECONDS = 366 * 86_400
_ADMINISTRATORS = Approvers(roles=(Role.tenant_admin,))


async def request(ctx: Context, new_approval: RequestedApproval) -> Approval:
    """Request an approval; `wanted.waiting` is resumed in the transaction of the decision."""
    is_anyone = new_approval.approvers == Approvers()
    approvers = _ADMINISTRATORS if is_anyone else new_approval.approvers
    _validate(new_approval, approvers)
    by = new_approval.requested_by or Requester(ctx.actor["type"], ctx.actor["id"])
    approval = Approval(
        id=new_approval.id or new_id(Approval.__prefix__),
        title=" ".join(new_approval.title.split())[:_MAX_TITLE_LENGTH] or "Approval",
        description=new_approval.description,
        source_type=new_approval.source.type,
        source=new_approval.source,
        agent_id=new_approval.source.agent_id,
        tool_id=new_approval.source.tool_id,
        requester_id=by.id,
        requested_by=by,
        approvers=approvers,
        required_approvals=new_approval.required_approvals,
        # Without named approvers self-approval is allowed: an instance may have only one administrator.
        allow_self_approval=is_anyone or new_approval.allow_self_approval,
        payload=mask_secrets(new_approval.payload),
        editable_fields=list(new_approval.editable_fields),
        fields=read_fields(list(new_approval.fields)),
        on_timeout=new_approval.on_timeout,
        expires_at=ctx.clock.ahead(new_approval.expires_in_s),
        continuation=new_approval.waiting.continuation if new_approval.waiting else None,
        waiting_key=new_approval.waiting.key if new_approval.waiting else None,
        conversation_ids=conversation_ids_or_none(ctx.caller.conversation_ids),
    )
    await ctx.db.insert(approval)
    for assignee in assignees(approvers):
        await ctx.db.insert(Assignment(approval_id=approval.id, assignee=assignee))
    ctx.emit(build_event(ApprovalRequested, approval), conversation_ids=approval.conversation_ids or ())
    ctx.defer(NOTIFY_APPROVERS, ApproversToNotify(approval.id))
    return approval


def _validate(new_approval: RequestedApproval, approvers: Approvers) -> None:
    problems = {}
    if len(approvers.user_ids) > MAX_APPROVERS:
        problems["approvers.user_ids"] = f"must have at most {MAX_APPROVERS} entries"
    if not 0 < new_approval.expires_in_s <= _MAX_EXPIRY_SECONDS:
        problems["expires_in_s"] = f"must be between 1 and {_MAX_EXPIRY_SECONDS}"
    # The number of users with a role may change; the number of named users does not.
    max_required = MAX_APPROVERS if approvers.roles else len(set(approvers.user_ids))
    if not 1 <= new_approval.required_approvals <= max_required:
        problems["required_approvals"] = f"must be between 1 and {max_required}"
    if problems:
        raise Invalid(problems)


async def cancel(ctx: Context, approval: Approval, comment: str | None = None) -> Approval:
    """Cancel the approval for its requester or an administrator; the waiting continuation is resumed."""
    me = ctx.principal
    is_admin = me.role in {Role.super_admin, Role.tenant_admin}
    if not is_admin and approval.requester_id != me.id:
        raise NotTheRequester(me.role)
    locked = await _lock(ctx, approval.id)
    require_pending(ctx, locked)
    await resolve_approval(ctx, locked, ApprovalStatus.cancelled, "cancelled", by=me.id, comment=comment)
    return locked


async def cancel_waiting(ctx: Context, continuation: str, key: str) -> int:
    """Cancel the pending approvals of a continuation without resuming it; return their number.

    Call this before locking what the continuation would lock: a decision locks the approval first.
    """
    cancelled = 0
    for id in await find_pending_for(ctx, continuation, key):
        locked = await ctx.db.lock(Approval, id)
        if locked is not None and locked.status is ApprovalStatus.pending:
            await ctx.db.update(locked, status=ApprovalStatus.cancelled, resolved_at=ctx.now)
            end_announcements(ctx, locked)
            cancelled += 1
    return cancelled


async def remind(ctx: Context, approval: Approval) -> Approval:
    """Notify the approvers who have not decided once more."""
    if not sees_all_approvals(ctx.principal) and approval.requester_id != ctx.principal.id:
        raise NotTheRequester(ctx.principal.role)
    locked = await _lock(ctx, approval.id)
    require_pending(ctx, locked)
    if locked.reminded_at is not None:
        wait_s = (
            REMINDER_INTERVAL_SECONDS
            - (parse_instant(ctx.now) - parse_instant(locked.reminded_at)).total_seconds()
        )
        if wait_s > 0:
            raise RateLimited(
                limit=1,
                window=REMINDER_INTERVAL_SECONDS,
                retry_after=int(wait_s) + 1,
                reset=int(ctx.clock.time() + wait_s) + 1,
                message="The approvers were reminded within the last hour. Try again later.",
            )
    await ctx.db.update(locked, reminded_at=ctx.now)
    ctx.defer(NOTIFY_APPROVERS, ApproversToNotify(locked.id, is_reminder=True))
    return locked


async def _lock(ctx: Context, approval_id: str) -> Approval:
    locked = await ctx.db.lock(Approval, approval_id)
    if locked is None:
        raise ApprovalNotFound
    return locked
