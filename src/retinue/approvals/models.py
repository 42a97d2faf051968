from enum import StrEnum
from typing import Annotated

from retinue.approvals.types import ApprovalSource, Approvers, OnTimeout, Requester, SourceType
from retinue.kit.clock import Instant
from retinue.kit.db.models import Ref, TenantRecord, table
from retinue.kit.json_types import JsonObject


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
        ("tenant_id", "agent_id", "created_at"),
        ("tenant_id", "tool_id", "created_at"),
        ("status", "expires_at"),
    ],
)
class Approval(TenantRecord, kw_only=True):
    """A request that waits for the decision of its approvers.

    `continuation` and `waiting_key` name what is resumed with the result. `edited_input` holds the input
    fields that an approver changed.
    """

    title: str
    description: str = ""
    status: ApprovalStatus = ApprovalStatus.pending
    source_type: SourceType
    source: ApprovalSource
    agent_id: str | None = None
    tool_id: str | None = None
    """The two ids of the source by which lists are filtered."""
    requester_id: str
    requested_by: Requester
    approvers: Approvers
    required_approvals: int = 1
    approvals_received: int = 0
    allow_self_approval: bool = False
    payload: JsonObject
    editable_fields: list[str]
    fields: list[JsonObject]
    edited_input: JsonObject | None = None
    on_timeout: OnTimeout = OnTimeout.reject
    expires_at: Instant
    continuation: str | None = None
    waiting_key: str | None = None
    reminded_at: Instant | None = None
    resolved_at: Instant | None = None
    resolved_by: str | None = None
    conversation_ids: list[str] | None = None
    """ADR 21: the conversations it quotes."""


@table(
    "approval_assignments",
    prefix="apa",
    unique=[("tenant_id", "approval_id", "assignee")],
    indexes=[("tenant_id", "assignee", "approval_id")],
)
class Assignment(TenantRecord, kw_only=True):
    """One assigned approver: the id of a user, or `role:` and a role."""

    approval_id: Annotated[str, Ref(Approval, cascade=True)]
    assignee: str


@table("approval_responses", prefix="apr", unique=[("tenant_id", "approval_id", "user_id")])
class ApprovalResponse(TenantRecord, kw_only=True):
    """The decision of one approver."""

    approval_id: Annotated[str, Ref(Approval, cascade=True)]
    user_id: str
    decision: str
    comment: str | None = None
    data: JsonObject | None = None


@table(
    "approval_links",
    prefix="apl",
    unique=[("token_hash",)],
    indexes=[("tenant_id", "approval_id", "user_id"), ("created_at",)],
)
class ApprovalLink(TenantRecord, kw_only=True):
    """A link for one approver to decide without signing in; only the hash of its token is stored."""

    approval_id: Annotated[str, Ref(Approval, cascade=True)]
    user_id: str
    token_hash: str
