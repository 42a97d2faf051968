"""What is asked of approvers, before any of it is stored."""

from enum import StrEnum
from typing import Any, Literal

import msgspec

from retinue.access.models import Role
from retinue.kit.continuations import Waiting

EXPIRES_IN_S = 72 * 3600.0


class SourceType(StrEnum):
    workflow = "workflow"
    tool = "tool"
    agent = "agent"


class OnTimeout(StrEnum):
    """What becomes of what nobody decided: it counts as rejected or approved, or whoever waits fails."""

    reject = "reject"
    approve = "approve"
    fail = "fail"


class ApprovalSource(msgspec.Struct, frozen=True, kw_only=True):
    """Where the question came up."""

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
    """Everyone named, and everyone with one of the roles."""

    user_ids: tuple[str, ...] = ()
    roles: tuple[Role, ...] = ()


class RequestedApproval(msgspec.Struct, frozen=True, kw_only=True):
    """`payload` is what will happen; its `input`, if it has one, is what approvers may edit.

    Without approvers the administrators of the tenant decide, whoever of them asked. `requested_by` is
    whoever acts unless it says someone else, and `id` is for those who have to know it beforehand.
    """

    title: str
    source: ApprovalSource
    description: str = ""
    payload: dict[str, Any] = {}
    approvers: Approvers = Approvers()
    required_approvals: int = 1
    allow_self_approval: bool = False
    editable_fields: tuple[str, ...] = ()
    fields: tuple[dict[str, Any], ...] = ()
    on_timeout: OnTimeout = OnTimeout.reject
    expires_in_s: float = EXPIRES_IN_S
    requested_by: Requester | None = None
    waiting: Waiting | None = None
    id: str = ""


class Decision(msgspec.Struct, frozen=True, kw_only=True):
    """What one approver says; `data` are the values of the approval's own fields."""

    verdict: Literal["approved", "rejected"]
    comment: str | None = None
    data: dict[str, Any] | None = None
    edited_input: dict[str, Any] | None = None
