"""Resolution of approvals: one outcome, passed to the waiting continuation in the same transaction."""

from typing import TypeVar

import msgspec

from retinue.approvals.errors import ApprovalAlreadyResolved, ApprovalExpired
from retinue.approvals.events import ApprovalApproved, ApprovalEvent, ApprovalRejected, ApprovalTimedOut
from retinue.approvals.job_kinds import MARK_ANNOUNCEMENTS_READ, AnnouncementsToMark
from retinue.approvals.models import Approval, ApprovalStatus
from retinue.approvals.queries import load_responses
from retinue.kit.context import Context
from retinue.kit.context.continuations import ContinuationRef, resume_continuation
from retinue.kit.json_types import JsonObject

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
        raise ApprovalAlreadyResolved(f"This approval has already been {approval.status}.")
    if approval.expires_at <= ctx.now:
        raise ApprovalExpired


async def resolve_approval(
    ctx: Context,
    locked: Approval,
    status: ApprovalStatus,
    decision: str,
    *,
    by: str | None = None,
    comment: str | None = None,
) -> None:
    """Resolve a locked, pending approval; `decision` is what the waiting continuation receives."""
    await ctx.db.update(locked, status=status, resolved_at=ctx.now, resolved_by=by)
    end_announcements(ctx, locked)
    kind = _EVENTS.get(status)
    if kind is not None:
        ctx.emit(build_event(kind, locked, comment), conversation_ids=locked.conversation_ids or ())
    if locked.continuation is None or locked.waiting_key is None:
        return
    result = {
        "decision": decision,
        # What really happened: after the time limit `decision` is what `on_timeout` makes of it.
        "status": status.value,
        "comment": comment,
        "data": await _collect_data(ctx, locked),
        "edited_input": locked.edited_input,
        "approval_id": locked.id,
        "resolved_by": by,
    }
    await resume_continuation(ctx, ContinuationRef(locked.continuation, locked.waiting_key), result)


def end_announcements(ctx: Context, approval: Approval, user_id: str | None = None) -> None:
    """Let the notifications that ask for a decision end as read, for one user or for everybody.

    In a job: deciding must not wait for the inboxes of all approvers.
    """
    ctx.defer(MARK_ANNOUNCEMENTS_READ, AnnouncementsToMark(approval.id, approval.created_at, user_id))


async def _collect_data(ctx: Context, locked: Approval) -> JsonObject:
    """Return the values the approvers entered; for the same field, the later one wins."""
    data: JsonObject = {}
    for response in (await load_responses(ctx, [locked.id]))[locked.id]:
        data |= response.data or {}
    return data


def build_event(kind: type[E], approval: Approval, comment: str | None = None) -> E:
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
        edited_fields=sorted(approval.edited_input or ()),
        expires_at=approval.expires_at,
    )
