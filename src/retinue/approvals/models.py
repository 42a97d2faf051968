from enum import StrEnum
from typing import Annotated, Any

from retinue.approvals.words import ApprovalSource, Approvers, OnTimeout, Requester, SourceType
from retinue.kit.clock import Instant
from retinue.kit.db.models import Ref, TenantRecord, table


class ApprovalStatus(StrEnum):
    pending = "pending"
    approved = "approved"
    rejected = "rejected"
    timeout = "timeout"
    cancelled = "cancelled"


@table(
    "approvals",
    prefix="apv",
    indexes=[
        ("tenant_id", "created_at"),
        ("tenant_id", "status", "created_at"),
        ("tenant_id", "waiting_key"),
        ("status", "expires_at"),
    ],
)
class Approval(TenantRecord, kw_only=True):
    """Something that waits until people have agreed to it.

    `continuation` and `waiting_key` say who goes on with the answer. `edited_input` are the fields of the
    input that an approver changed.
    """

    title: str
    description: str = ""
    status: ApprovalStatus = ApprovalStatus.pending
    source_type: SourceType
    source: ApprovalSource
    requester_id: str
    requested_by: Requester
    approvers: Approvers
    required_approvals: int = 1
    approvals_received: int = 0
    allow_self_approval: bool = False
    payload: dict[str, Any]
    editable_fields: list[str]
    fields: list[dict[str, Any]]
    edited_input: dict[str, Any] | None = None
    on_timeout: OnTimeout = OnTimeout.reject
    expires_at: Instant
    continuation: str | None = None
    waiting_key: str | None = None
    reminded_at: Instant | None = None
    resolved_at: Instant | None = None
    resolved_by: str | None = None


@table(
    "approval_assignments",
    prefix="apa",
    unique=[("tenant_id", "approval_id", "assignee")],
    indexes=[("tenant_id", "assignee", "approval_id")],
)
class Assignment(TenantRecord, kw_only=True):
    """One of those who may decide: the id of a user, or `role:` and a role."""

    approval_id: Annotated[str, Ref(Approval, cascade=True)]
    assignee: str


@table("approval_responses", prefix="apr", unique=[("tenant_id", "approval_id", "user_id")])
class Response(TenantRecord, kw_only=True):
    """What one approver said."""

    approval_id: Annotated[str, Ref(Approval, cascade=True)]
    user_id: str
    decision: str
    comment: str | None = None
    data: dict[str, Any] | None = None


@table(
    "approval_links",
    prefix="apl",
    unique=[("token_hash",)],
    indexes=[("tenant_id", "approval_id", "user_id"), ("created_at",)],
)
class Link(TenantRecord, kw_only=True):
    """A link with which one approver decides without signing in; only the hash of its token is kept."""

    approval_id: Annotated[str, Ref(Approval, cascade=True)]
    user_id: str
    token_hash: str
