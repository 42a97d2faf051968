from typing import Any

from retinue.approvals import links
from retinue.approvals.models import Approval
from retinue.approvals.service import (
    ApprovalSource,
    Approvers,
    RequestedApproval,
    Requester,
    SourceType,
    request,
)
from retinue.kit.context import Context
from retinue.users.models import User


async def some_approval(ctx: Context, requester_id: str, *approver_ids: str, **more: Any) -> Approval:
    """Create an approval for these people."""
    chosen = {
        "title": "Refund",
        "source": ApprovalSource(type=SourceType.tool, tool_id="tool_1"),
        "payload": {"input": {"amount": 120, "to": "Ada"}},
        "approvers": Approvers(user_ids=approver_ids),
        "requested_by": Requester("user", requester_id),
        **more,
    }
    return await request(ctx, RequestedApproval(**chosen))


async def some_link(ctx: Context, approval: Approval, user: User) -> str:
    """Return the token with which someone decides the approval."""
    return (await links.create_link(ctx, approval, user)).rpartition("/")[2]
