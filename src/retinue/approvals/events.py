from retinue.kit.events.declare import Event, event
from retinue.kit.json_types import JsonObject

_EXAMPLE: JsonObject = {
    "approval_id": "apv_…",
    "title": "Refund 120 €",
    "source": {"type": "tool", "tool_id": "tool_…"},
    "status": "pending",
    "requested_by": {"type": "user", "id": "usr_…"},
    "resolved_by": None,
    "comment": None,
    "edited_fields": [],
    "expires_at": "2026-11-18T08:30:00.000000Z",
}
_CONTENT = ("title", "comment")
_RESOLVED = {**_EXAMPLE, "resolved_by": "usr_…", "comment": "Fine with me.", "edited_fields": ["amount"]}


class ApprovalEvent(Event, kw_only=True):
    approval_id: str
    title: str
    source: JsonObject
    status: str
    requested_by: dict[str, str]
    resolved_by: str | None = None
    comment: str | None = None
    edited_fields: list[str] = []
    expires_at: str


@event("approval.requested", subject="approval_id", audited=True, content=_CONTENT, example=_EXAMPLE)
class ApprovalRequested(ApprovalEvent, kw_only=True):
    """An approval was requested."""


@event(
    "approval.approved",
    subject="approval_id",
    audited=True,
    content=_CONTENT,
    example={**_RESOLVED, "status": "approved"},
)
class ApprovalApproved(ApprovalEvent, kw_only=True):
    """A request was approved."""


@event(
    "approval.rejected",
    subject="approval_id",
    audited=True,
    content=_CONTENT,
    example={**_RESOLVED, "status": "rejected"},
)
class ApprovalRejected(ApprovalEvent, kw_only=True):
    """A request was rejected."""


@event(
    "approval.timeout",
    subject="approval_id",
    audited=True,
    content=_CONTENT,
    example={**_EXAMPLE, "status": "timeout"},
)
class ApprovalTimedOut(ApprovalEvent, kw_only=True):
    """A request expired before it was decided."""
