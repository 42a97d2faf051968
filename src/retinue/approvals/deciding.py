"""What approvers say: each of them once, and of all that is said at once there is one outcome."""

from typing import Any

from retinue.approvals.errors import AlreadyResponded, ApprovalNotFound, NotAnApprover
from retinue.approvals.extra_input import checked_data
from retinue.approvals.models import Approval, ApprovalStatus, Response
from retinue.approvals.queries import is_approver
from retinue.approvals.resolving import require_pending, resolve
from retinue.approvals.words import Decision, OnTimeout
from retinue.kit.context import Context
from retinue.kit.errors import Invalid

EVERYTHING = "*"

_AT_TIMEOUT = {OnTimeout.approve: "approved", OnTimeout.reject: "rejected", OnTimeout.fail: "timeout"}
_TOO_LATE = "Nobody decided in time."


async def decide(ctx: Context, approval_id: str, decision: Decision) -> Approval:
    """One answer of the caller; whoever comes at the same moment waits here and finds what became of it."""
    held = await ctx.db.lock(Approval, approval_id)
    if held is None:
        raise ApprovalNotFound
    me = ctx.principal
    _require_approver(ctx, held)
    require_pending(ctx, held)
    if await ctx.db.find(Response, approval_id=held.id, user_id=me.id) is not None:
        raise AlreadyResponded
    is_approval = decision.verdict == "approved"
    edited = _edited(held, decision.edited_input) if is_approval else None
    data = checked_data(held.fields, decision.data or {}) if is_approval else None
    await ctx.db.insert(
        Response(
            approval_id=held.id, user_id=me.id, decision=decision.verdict, comment=decision.comment, data=data
        )
    )
    if not is_approval:
        await resolve(ctx, held, ApprovalStatus.rejected, "rejected", by=me.id, comment=decision.comment)
        return held
    received = held.approvals_received + 1
    await ctx.db.update(held, approvals_received=received, edited_input=edited or held.edited_input)
    if received >= held.required_approvals:
        await resolve(ctx, held, ApprovalStatus.approved, "approved", by=me.id, comment=decision.comment)
    return held


def _require_approver(ctx: Context, approval: Approval) -> None:
    me = ctx.principal
    if me.kind != "user" or not is_approver(approval.approvers, me.id, me.role):
        raise NotAnApprover(me.role)
    if approval.requester_id == me.id and not approval.allow_self_approval:
        raise NotAnApprover(me.role, "Whoever asked for it cannot approve it.")


def _edited(approval: Approval, edited: dict[str, Any] | None) -> dict[str, Any] | None:
    """The fields that an approver really changed, if they may be changed."""
    if not edited:
        return None
    given = approval.payload.get("input")
    given = given if isinstance(given, dict) else approval.payload
    changed = {name: value for name, value in edited.items() if name not in given or given[name] != value}
    may_change = set(approval.editable_fields)
    problems = {
        f"edited_input.{name}": "may not be changed"
        for name in changed
        if name not in may_change and EVERYTHING not in may_change
    }
    # Others have agreed to what they saw; an edit after that would be agreed to by one alone.
    if changed and approval.approvals_received:
        problems = {"edited_input": "someone has approved it as it is already"}
    if problems:
        raise Invalid(problems)
    return changed or None


async def expire(ctx: Context, approval_id: str) -> bool:
    """End what nobody decided in time; whether this did it."""
    held = await ctx.db.lock(Approval, approval_id)
    if held is None or held.status is not ApprovalStatus.pending or held.expires_at > ctx.now:
        return False
    await resolve(ctx, held, ApprovalStatus.timeout, _AT_TIMEOUT[held.on_timeout], comment=_TOO_LATE)
    return True
