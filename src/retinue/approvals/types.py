"""Types of an approval request, before it is stored."""

from enum import StrEnum
from typing import Literal

import msgspec

from retinue.access.models import Role
from retinue.kit.context.continuations import ContinuationRef
from retinue.kit.json_types import JsonObject

DEFAULT_EXPIRY_SECONDS = 72 * 3600.0


class SourceType(StrEnum):
    workflow = "workflow"
    tool = "tool"
    agent = "agent"


class OnTimeout(StrEnum):
    """The outcome of an expired approval: it counts as rejected or approved, or the requester fails."""

    reject = "reject"
    approve = "approve"
    fail = "fail"


class ApprovalSource(msgspec.Struct, frozen=True, kw_only=True):
    """The source of a request."""

    type: SourceType
    workflow_id: str | None = None
    execution_id: str | None = None
    node_id: str | None = None
    agent_id: str | None = None
    conversation_id: str | None = None
    tool_id: str | None = None
    tool_call_id: str | None = None


class Requester(msgspec.Struct, frozen=True):
    type: str
    id: str


class Approvers(msgspec.Struct, frozen=True):
    """The named users, and everyone with one of the roles."""

    user_ids: tuple[str, ...] = ()
    roles: tuple[Role, ...] = ()


class RequestedApproval(msgspec.Struct, frozen=True, kw_only=True):
    """`payload` is what will happen; approvers may edit its `input`, if it has one.

    Without approvers the administrators of the tenant decide, including the requester. `requested_by`
    defaults to the current actor; `id` is for callers that must know it beforehand.
    """

    title: str
    source: ApprovalSource
    description: str = ""
    payload: JsonObject = {}
    approvers: Approvers = Approvers()
    required_approvals: int = 1
    allow_self_approval: bool = False
    editable_fields: tuple[str, ...] = ()
    fields: tuple[JsonObject, ...] = ()
    on_timeout: OnTimeout = OnTimeout.reject
    expires_in_s: float = DEFAULT_EXPIRY_SECONDS
    requested_by: Requester | None = None
    waiting: ContinuationRef | None = None
    id: str = ""


class ApproverDecision(msgspec.Struct, frozen=True, kw_only=True):
    """The decision of one approver; `data` holds the values of the approval's own fields."""

    verdict: Literal["approved", "rejected"]
    comment: str | None = None
    data: JsonObject | None = None
    edited_input: JsonObject | None = None
