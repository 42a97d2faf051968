from typing import Annotated, Any

from msgspec import Meta

from retinue.approvals.models import Approval, ApprovalStatus
from retinue.approvals.models import Response as Given
from retinue.approvals.words import ApprovalSource, Approvers, OnTimeout, Requester, SourceType
from retinue.kit.lists import PageQuery
from retinue.kit.schemas import Schema

Comment = Annotated[str, Meta(max_length=4_000)]


class ApprovalList(PageQuery, kw_only=True):
    """`assigned_to_me`: only what the caller may decide."""

    status: ApprovalStatus | None = None
    source_type: SourceType | None = None
    assigned_to_me: bool | None = None


class ResponseOut(Schema, kw_only=True):
    user_id: str
    decision: str
    comment: str | None
    data: dict[str, Any] | None
    created_at: str


class ApprovalOut(Schema, kw_only=True):
    """`payload` is what will happen, without secrets; `edited_input` what an approver changed of it."""

    id: str
    title: str
    description: str
    status: ApprovalStatus
    source: ApprovalSource
    requested_by: Requester
    approvers: Approvers
    required_approvals: int
    approvals_received: int
    allow_self_approval: bool
    payload: dict[str, Any]
    editable_fields: list[str]
    fields: list[dict[str, Any]]
    edited_input: dict[str, Any] | None
    responses: list[ResponseOut]
    on_timeout: OnTimeout
    expires_at: str
    created_at: str
    resolved_at: str | None
    resolved_by: str | None

    @classmethod
    def shown(cls, approval: Approval, responses: list[Given]) -> "ApprovalOut":
        return cls.of(approval, responses=[ResponseOut.of(one) for one in responses])


class Count(Schema, kw_only=True):
    count: int


class Approve(Schema, kw_only=True):
    """`edited_input` has only the fields that change."""

    comment: Comment | None = None
    data: dict[str, Any] | None = None
    edited_input: dict[str, Any] | None = None


class Reject(Schema, kw_only=True):
    comment: Comment | None = None


class Cancel(Schema, kw_only=True):
    comment: Comment | None = None


class LinkDecision(Approve, kw_only=True):
    """What is posted to a link: as JSON, or as the form of its page."""

    decision: Annotated[str, Meta(pattern="^(approve|reject)$(?!\n)")]
