from msgspec import UNSET, UnsetType

from retinue.approvals import service
from retinue.approvals.context_messages import load_context
from retinue.approvals.deciders import count_undecided_approvers
from retinue.approvals.decisions import decide
from retinue.approvals.errors import (
    AlreadyResponded,
    ApprovalAlreadyResolved,
    ApprovalExpired,
    NotAnApprover,
    NotTheRequester,
)
from retinue.approvals.loaders import ApprovalById
from retinue.approvals.models import Approval, ApprovalStatus
from retinue.approvals.queries import (
    count_pending,
    find_readable_ids,
    load_names,
    load_responses,
    page_of_approvals,
)
from retinue.approvals.schemas import ApprovalList, ApprovalOut, Approve, Cancel, Count, Reject
from retinue.approvals.types import ApproverDecision
from retinue.kit.context import Context
from retinue.kit.errors import RateLimited
from retinue.kit.http.routing import Routes
from retinue.kit.lists import Page

routes = Routes("/api/v1/approvals", tag="approvals", wrap=True)

_REFUSALS = (NotAnApprover, ApprovalAlreadyResolved, AlreadyResponded, ApprovalExpired)


@routes.get("", requires="approvals:read", wrap=False)
async def list_approvals(ctx: Context, query: ApprovalList) -> Page[ApprovalOut]:
    """List approvals, newest first unless `sort` says otherwise.

    They are kept for at least 90 days after they ended. Callers with `agents:write` see all of the tenant,
    all others those that they decide or requested.
    """
    page = await page_of_approvals(ctx, query)
    responses = await load_responses(ctx, [approval.id for approval in page.items])
    names = await load_names(ctx, page.items, responses)
    readable_ids = await find_readable_ids(ctx, page.items)
    return page.to_page(
        lambda approval: ApprovalOut.from_record(
            approval,
            responses[approval.id],
            names=names[approval.id],
            is_readable=approval.id in readable_ids,
        )
    )


@routes.get("/count", requires="approvals:read", wrap=False)
async def count_approvals(ctx: Context) -> Count:
    """Count the pending approvals that the caller can still decide."""
    return Count(count=await count_pending(ctx))


@routes.get("/{approval_id}", requires="approvals:read")
async def get_approval(ctx: Context, approval: ApprovalById) -> ApprovalOut:
    """Return an approval with its payload and the decisions so far."""
    return await _render_approval(ctx, approval)


@routes.post("/{approval_id}/approve", requires="approvals:decide", errors=_REFUSALS)
async def approve(ctx: Context, approval: ApprovalById, body: Approve) -> ApprovalOut:
    """Approve as one of the approvers, once each; input fields may be changed and extra values given.

    With the last approval that is needed, the tool call or workflow continues.
    """
    decision = ApproverDecision(
        verdict="approved", comment=body.comment, data=body.data, edited_input=body.edited_input
    )
    return await _render_approval(ctx, await decide(ctx, approval.id, decision))


@routes.post("/{approval_id}/reject", requires="approvals:decide", errors=_REFUSALS)
async def reject(ctx: Context, approval: ApprovalById, body: Reject) -> ApprovalOut:
    """Reject as one of the approvers. One rejection ends the approval, however many are required.

    A rejected tool call does not run, and the model reads the comment.
    """
    decision = ApproverDecision(verdict="rejected", comment=body.comment)
    return await _render_approval(ctx, await decide(ctx, approval.id, decision))


@routes.post(
    "/{approval_id}/cancel",
    requires="approvals:decide",
    errors=(NotTheRequester, ApprovalAlreadyResolved, ApprovalExpired),
)
async def cancel_approval(ctx: Context, approval: ApprovalById, body: Cancel) -> ApprovalOut:
    """Cancel a pending approval, as its requester or as an administrator.

    The waiting tool call or workflow continues as not approved.
    """
    return await _render_approval(ctx, await service.cancel(ctx, approval, body.comment))


@routes.post(
    "/{approval_id}/remind",
    requires="approvals:decide",
    errors=(NotTheRequester, ApprovalAlreadyResolved, ApprovalExpired, RateLimited),
)
async def remind_approvers(ctx: Context, approval: ApprovalById) -> ApprovalOut:
    """Notify the approvers who have not decided again, at most once an hour (429).

    Only the requester and callers with `agents:write` may do this.
    """
    return await _render_approval(ctx, await service.remind(ctx, approval))


async def _render_approval(ctx: Context, approval: Approval) -> ApprovalOut:
    responses = await load_responses(ctx, [approval.id])
    names = await load_names(ctx, [approval], responses)
    readable_ids = await find_readable_ids(ctx, [approval])
    return ApprovalOut.from_record(
        approval,
        responses[approval.id],
        names=names[approval.id],
        is_readable=bool(readable_ids),
        context=await load_context(ctx, approval),
        deciders_left=await _count_deciders_left(ctx, approval),
    )


async def _count_deciders_left(ctx: Context, approval: Approval) -> int | UnsetType:
    if approval.status is not ApprovalStatus.pending:
        return UNSET
    return await count_undecided_approvers(ctx, approval)
