from typing import Any

from retinue.kit.events.declare import Event, event

_EXAMPLE = {
    "approval_id": "apv_…",
    "title": "Refund 120 €",
    "source": {"type": "tool", "tool_id": "tool_…"},
    "status": "pending",
    "requested_by": {"type": "user", "id": "usr_…"},
    "resolved_by": None,
    "comment": None,
    "expires_at": "2026-11-18T08:30:00.000000Z",
}
_RESOLVED = {**_EXAMPLE, "resolved_by": "usr_…", "comment": "Fine with me."}


class ApprovalEvent(Event, kw_only=True):
    approval_id: str
    title: str
    source: dict[str, Any]
    status: str
    requested_by: dict[str, str]
    resolved_by: str | None = None
    comment: str | None = None
    expires_at: str


@event("approval.requested", subject="approval_id", audited=True, example=_EXAMPLE)
class ApprovalRequested(ApprovalEvent, kw_only=True):
    """Someone's approval is needed."""


@event("approval.approved", subject="approval_id", audited=True, example={**_RESOLVED, "status": "approved"})
class ApprovalApproved(ApprovalEvent, kw_only=True):
    """What was asked for was approved."""


@event("approval.rejected", subject="approval_id", audited=True, example={**_RESOLVED, "status": "rejected"})
class ApprovalRejected(ApprovalEvent, kw_only=True):
    """What was asked for was rejected."""


@event("approval.timeout", subject="approval_id", audited=True, example={**_EXAMPLE, "status": "timeout"})
class ApprovalTimedOut(ApprovalEvent, kw_only=True):
    """Nobody decided in time."""
