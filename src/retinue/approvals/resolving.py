"""The end of an approval: one outcome, told in the same transaction to whoever waits for it."""

from typing import Any, TypeVar

import msgspec

from retinue.approvals.errors import ApprovalAlreadyResolved, ApprovalExpired
from retinue.approvals.events import ApprovalApproved, ApprovalEvent, ApprovalRejected, ApprovalTimedOut
from retinue.approvals.models import Approval, ApprovalStatus
from retinue.approvals.queries import responses_to
from retinue.kit.context import Context
from retinue.kit.continuations import Waiting, go_on

E = TypeVar("E", bound=ApprovalEvent)

_EVENTS: dict[ApprovalStatus, type[ApprovalEvent]] = {
    ApprovalStatus.approved: ApprovalApproved,
    ApprovalStatus.rejected: ApprovalRejected,
    ApprovalStatus.timeout: ApprovalTimedOut,
}


def require_pending(ctx: Context, approval: Approval) -> None:
    if approval.status is ApprovalStatus.timeout:
        raise ApprovalExpired
    if approval.status is not ApprovalStatus.pending:
        raise ApprovalAlreadyResolved(f"This has been {approval.status} already.")
    if approval.expires_at <= ctx.now:
        raise ApprovalExpired


async def resolve(
    ctx: Context,
    held: Approval,
    status: ApprovalStatus,
    decision: str,
    *,
    by: str | None = None,
    comment: str | None = None,
) -> None:
    """End an approval that is held and pending; `decision` is what whoever waits goes on with."""
    await ctx.db.update(held, status=status, resolved_at=ctx.now, resolved_by=by)
    kind = _EVENTS.get(status)
    if kind is not None:
        ctx.emit(told(kind, held, comment))
    if held.continuation is None or held.waiting_key is None:
        return
    result = {
        "decision": decision,
        "comment": comment,
        "data": await _data(ctx, held),
        "edited_input": held.edited_input,
        "approval_id": held.id,
        "resolved_by": by,
    }
    await go_on(ctx, Waiting(held.continuation, held.waiting_key), result)


async def _data(ctx: Context, held: Approval) -> dict[str, Any]:
    """What the approvers filled in; of two who filled in the same, the later one counts."""
    data: dict[str, Any] = {}
    for response in (await responses_to(ctx, [held.id]))[held.id]:
        data |= response.data or {}
    return data


def told(kind: type[E], approval: Approval, comment: str | None = None) -> E:
    source = {
        name: value for name, value in msgspec.to_builtins(approval.source).items() if value is not None
    }
    return kind(
        approval_id=approval.id,
        title=approval.title,
        source=source,
        status=approval.status,
        requested_by=msgspec.to_builtins(approval.requested_by),
        resolved_by=approval.resolved_by,
        comment=comment,
        expires_at=approval.expires_at,
    )
