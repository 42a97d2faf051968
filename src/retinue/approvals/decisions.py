"""Decisions of approvers: one each, and one outcome even if several decide at once."""

from retinue.approvals.errors import AlreadyResponded, ApprovalNotFound, NotAnApprover
from retinue.approvals.extra_input import validate_data
from retinue.approvals.models import Approval, ApprovalResponse, ApprovalStatus
from retinue.approvals.queries import is_approver
from retinue.approvals.resolution import end_announcements, require_pending, resolve_approval
from retinue.approvals.types import ApproverDecision, OnTimeout
from retinue.kit.context import Context
from retinue.kit.errors import Invalid
from retinue.kit.json_types import JsonObject

ANY_FIELD = "*"

_DECISION_AT_TIMEOUT = {
    OnTimeout.approve: "approved",
    OnTimeout.reject: "rejected",
    OnTimeout.fail: "timeout",
}
_TIMEOUT_COMMENT = "Nobody decided in time."


async def decide(ctx: Context, approval_id: str, decision: ApproverDecision) -> Approval:
    """Store the caller's decision; concurrent decisions wait for the lock and see its result."""
    locked = await ctx.db.lock(Approval, approval_id)
    if locked is None:
        raise ApprovalNotFound
    me = ctx.principal
    _require_approver(ctx, locked)
    require_pending(ctx, locked)
    if await ctx.db.find(ApprovalResponse, approval_id=locked.id, user_id=me.id) is not None:
        raise AlreadyResponded
    is_approval = decision.verdict == "approved"
    edited = _changed_fields(locked, decision.edited_input) if is_approval else None
    data = validate_data(locked.fields, decision.data or {}) if is_approval else None
    await ctx.db.insert(
        ApprovalResponse(
            approval_id=locked.id,
            user_id=me.id,
            decision=decision.verdict,
            comment=decision.comment,
            data=data,
        )
    )
    if not is_approval:
        await resolve_approval(
            ctx, locked, ApprovalStatus.rejected, "rejected", by=me.id, comment=decision.comment
        )
        return locked
    received = locked.approvals_received + 1
    await ctx.db.update(locked, approvals_received=received, edited_input=edited or locked.edited_input)
    if received >= locked.required_approvals:
        await resolve_approval(
            ctx, locked, ApprovalStatus.approved, "approved", by=me.id, comment=decision.comment
        )
    else:
        end_announcements(ctx, locked, me.id)
    return locked


def _require_approver(ctx: Context, approval: Approval) -> None:
    me = ctx.principal
    if me.kind != "user" or not is_approver(approval.approvers, me.id, me.role):
        raise NotAnApprover(me.role)
    if approval.requester_id == me.id and not approval.allow_self_approval:
        raise NotAnApprover(me.role, "You cannot decide your own request. Ask another approver.")


def _changed_fields(approval: Approval, edited: JsonObject | None) -> JsonObject | None:
    """Return the fields the approver really changed; raise if they may not be changed."""
    if not edited:
        return None
    original = approval.payload.get("input")
    original = original if isinstance(original, dict) else approval.payload
    changed = {
        name: value for name, value in edited.items() if name not in original or original[name] != value
    }
    may_change = set(approval.editable_fields)
    problems = {
        f"edited_input.{name}": "may not be changed"
        for name in changed
        if name not in may_change and ANY_FIELD not in may_change
    }
    # Earlier approvers agreed to the values they saw, so nothing may be edited after them.
    if changed and approval.approvals_received:
        problems = {"edited_input": "cannot be changed after the first approval"}
    if problems:
        raise Invalid(problems)
    return changed or None


async def expire_approval(ctx: Context, approval_id: str) -> bool:
    """Expire an approval that nobody decided in time; return whether this call did it."""
    locked = await ctx.db.lock(Approval, approval_id)
    if locked is None or locked.status is not ApprovalStatus.pending or locked.expires_at > ctx.now:
        return False
    await resolve_approval(
        ctx, locked, ApprovalStatus.timeout, _DECISION_AT_TIMEOUT[locked.on_timeout], comment=_TIMEOUT_COMMENT
    )
    return True
