"""Asking for approval: whoever waits for it says so in the transaction in which it begins to wait."""

from retinue.access.models import Role
from retinue.approvals.errors import ApprovalNotFound, NotTheRequester
from retinue.approvals.events import ApprovalRequested
from retinue.approvals.masking import masked
from retinue.approvals.models import Approval, ApprovalStatus, Assignment
from retinue.approvals.queries import assignees, sees_all, waited_for
from retinue.approvals.resolving import require_pending, resolve, told
from retinue.approvals.telling import ToTell, tell_approvers
from retinue.approvals.words import (
    ApprovalSource,
    Approvers,
    OnTimeout,
    RequestedApproval,
    Requester,
    SourceType,
)
from retinue.kit.clock import moment
from retinue.kit.context import Context
from retinue.kit.errors import Invalid, RateLimited
from retinue.kit.fields import read_fields
from retinue.kit.ids import new_id

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

REMIND_EVERY_S = 3600
MOST_APPROVERS = 100
_LONGEST_TITLE = 200
_LONGEST_WAIT_S = 366 * 86_400
_ADMINISTRATORS = Approvers(roles=(Role.tenant_admin,))


async def request(ctx: Context, wanted: RequestedApproval) -> Approval:
    """Ask; the answer reaches `wanted.waiting` through `kit.continuations` in the deciding transaction."""
    is_anyone = wanted.approvers == Approvers()
    approvers = _ADMINISTRATORS if is_anyone else wanted.approvers
    _check(wanted, approvers)
    by = wanted.requested_by or Requester(ctx.actor["type"], ctx.actor["id"])
    approval = Approval(
        id=wanted.id or new_id(Approval.__prefix__),
        title=" ".join(wanted.title.split())[:_LONGEST_TITLE] or "Approval",
        description=wanted.description,
        source_type=wanted.source.type,
        source=wanted.source,
        requester_id=by.id,
        requested_by=by,
        approvers=approvers,
        required_approvals=wanted.required_approvals,
        # Four eyes are for those who name them: an instance may have one administrator.
        allow_self_approval=is_anyone or wanted.allow_self_approval,
        payload=masked(wanted.payload),
        editable_fields=list(wanted.editable_fields),
        fields=read_fields(list(wanted.fields)),
        on_timeout=wanted.on_timeout,
        expires_at=ctx.clock.ahead(wanted.expires_in_s),
        continuation=wanted.waiting.continuation if wanted.waiting else None,
        waiting_key=wanted.waiting.key if wanted.waiting else None,
    )
    await ctx.db.insert(approval)
    for assignee in assignees(approvers):
        await ctx.db.insert(Assignment(approval_id=approval.id, assignee=assignee))
    ctx.emit(told(ApprovalRequested, approval))
    ctx.defer(tell_approvers, ToTell(approval.id))
    return approval


def _check(wanted: RequestedApproval, approvers: Approvers) -> None:
    problems = {}
    if len(approvers.user_ids) > MOST_APPROVERS:
        problems["approvers.user_ids"] = f"must not be more than {MOST_APPROVERS}"
    if not 0 < wanted.expires_in_s <= _LONGEST_WAIT_S:
        problems["expires_in_s"] = f"must be between 1 and {_LONGEST_WAIT_S}"
    # How many users have a role changes; how many are named does not.
    most = MOST_APPROVERS if approvers.roles else len(set(approvers.user_ids))
    if not 1 <= wanted.required_approvals <= most:
        problems["required_approvals"] = f"must be between 1 and {most}"
    if problems:
        raise Invalid(problems)


async def cancel(ctx: Context, approval: Approval, comment: str | None = None) -> Approval:
    """Whoever asked, or an administrator, no longer wants it; who waits for it is told."""
    me = ctx.principal
    is_admin = me.role in {Role.super_admin, Role.tenant_admin}
    if not is_admin and approval.requester_id != me.id:
        raise NotTheRequester(me.role)
    held = await _hold(ctx, approval.id)
    require_pending(ctx, held)
    await resolve(ctx, held, ApprovalStatus.cancelled, "cancelled", by=me.id, comment=comment)
    return held


async def cancel_waiting(ctx: Context, continuation: str, key: str) -> int:
    """Whoever waits has stopped waiting, and so is not told; how many approvals were still pending.

    Call it before holding what the continuation would hold: a decision takes the approval first.
    """
    cancelled = 0
    for id in await waited_for(ctx, continuation, key):
        held = await ctx.db.lock(Approval, id)
        if held is not None and held.status is ApprovalStatus.pending:
            await ctx.db.update(held, status=ApprovalStatus.cancelled, resolved_at=ctx.now)
            cancelled += 1
    return cancelled


async def remind(ctx: Context, approval: Approval) -> Approval:
    """Tell those who have not answered once more."""
    if not sees_all(ctx.principal) and approval.requester_id != ctx.principal.id:
        raise NotTheRequester(ctx.principal.role)
    held = await _hold(ctx, approval.id)
    require_pending(ctx, held)
    if held.reminded_at is not None:
        wait_s = REMIND_EVERY_S - (moment(ctx.now) - moment(held.reminded_at)).total_seconds()
        if wait_s > 0:
            raise RateLimited(
                limit=1,
                window=REMIND_EVERY_S,
                retry_after=int(wait_s) + 1,
                reset=int(ctx.clock.time() + wait_s) + 1,
                message="The approvers were reminded within the last hour.",
            )
    await ctx.db.update(held, reminded_at=ctx.now)
    ctx.defer(tell_approvers, ToTell(held.id, is_reminder=True))
    return held


async def _hold(ctx: Context, approval_id: str) -> Approval:
    held = await ctx.db.lock(Approval, approval_id)
    if held is None:
        raise ApprovalNotFound
    return held
