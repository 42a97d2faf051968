from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Meta, UnsetType

from retinue.approvals.models import Approval, ApprovalStatus
from retinue.approvals.models import ApprovalResponse as Given
from retinue.approvals.types import ApprovalSource, Approvers, OnTimeout, Requester, SourceType
from retinue.kit.json_types import JsonObject
from retinue.kit.lists import PageQuery
from retinue.kit.schema.base import Schema
from retinue.kit.schema.messages import PatternMessage

Comment = Annotated[str, Meta(max_length=4_000)]


class ApprovalList(PageQuery, kw_only=True):
    """The approvals that the caller may see."""

    status: ApprovalStatus | None = None
    source_type: SourceType | None = None
    assigned_to_me: bool | None = None
    waiting_for_me: bool | None = None
    agent_id: Annotated[str, Meta(max_length=200)] | None = None
    tool_id: Annotated[str, Meta(max_length=200)] | None = None
    sort: str | None = None


class ResponseOut(Schema, kw_only=True):
    user_id: str
    decision: str
    comment: str | None
    data: JsonObject | None
    created_at: str


class ContextMessage(Schema, kw_only=True):
    """A message of the conversation in which an approval was requested."""

    role: str
    content: str
    created_at: str


class ApprovalOut(Schema, kw_only=True):
    """`payload` is what will happen, without secrets; `edited_input` is what an approver changed.

    `redacted` is true if title, description, payload and edits are left out: for callers who neither decide
    nor requested it and may not read the conversation it is about. `context` is in the answer about a single
    approval, for callers who may read its conversation, and `deciders_left` while that one is pending.
    """

    id: str
    title: str | None
    description: str | None
    status: ApprovalStatus
    source: ApprovalSource
    requested_by: Requester
    approvers: Approvers
    required_approvals: int
    approvals_received: int
    allow_self_approval: bool
    payload: JsonObject | None
    editable_fields: list[str]
    fields: list[JsonObject]
    edited_input: JsonObject | None
    responses: list[ResponseOut]
    names: dict[str, str]
    on_timeout: OnTimeout
    expires_at: str
    created_at: str
    resolved_at: str | None
    resolved_by: str | None
    redacted: bool | UnsetType = UNSET
    context: list[ContextMessage] | UnsetType = UNSET
    deciders_left: int | UnsetType = UNSET

    @classmethod
    def from_record(
        cls,
        approval: Approval,
        responses: list[Given],
        *,
        names: dict[str, str],
        is_readable: bool = True,
        context: list[ContextMessage] | UnsetType = UNSET,
        deciders_left: int | UnsetType = UNSET,
    ) -> "ApprovalOut":
        more: dict[str, Any] = {"deciders_left": deciders_left}
        responses_out = [ResponseOut.of(response) for response in responses]
        if is_readable:
            more |= {"names": names, "redacted": UNSET, "context": context}
            return cls.of(approval, responses=responses_out, **more)
        hidden = dict.fromkeys(("title", "description", "payload", "edited_input"))
        responses_out = [
            msgspec.structs.replace(response, comment=None, data=None) for response in responses_out
        ]
        more |= {"names": {}, "redacted": True, "context": UNSET, **hidden}
        return cls.of(approval, responses=responses_out, **more)


class Count(Schema, kw_only=True):
    count: int


class Approve(Schema, kw_only=True):
    """`edited_input` contains only the fields that change."""

    comment: Comment | None = None
    data: JsonObject | None = None
    edited_input: JsonObject | None = None


class Reject(Schema, kw_only=True):
    comment: Comment | None = None


class Cancel(Schema, kw_only=True):
    comment: Comment | None = None


class LinkDecision(Approve, kw_only=True):
    """The decision posted to a link, as JSON or as the form of its page."""

    decision: Annotated[
        str, Meta(pattern="^(approve|reject)$(?!\n)"), PatternMessage("must be approve or reject")
    ]
