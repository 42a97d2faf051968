from retinue.approvals import service
from retinue.approvals.deciding import decide
from retinue.approvals.errors import (
    AlreadyResponded,
    ApprovalAlreadyResolved,
    ApprovalExpired,
    NotAnApprover,
    NotTheRequester,
)
from retinue.approvals.loaders import ApprovalById
from retinue.approvals.models import Approval
from retinue.approvals.queries import count_pending, page, responses_to
from retinue.approvals.schemas import ApprovalList, ApprovalOut, Approve, Cancel, Count, Reject
from retinue.approvals.words import Decision
from retinue.kit.context import Context
from retinue.kit.errors import RateLimited
from retinue.kit.http.routing import Routes
from retinue.kit.lists import Page

routes = Routes("/api/v1/approvals", tag="approvals", wrap=True)

_REFUSALS = (NotAnApprover, ApprovalAlreadyResolved, AlreadyResponded, ApprovalExpired)


@routes.get("", requires="approvals:read", wrap=False)
async def list_approvals(ctx: Context, query: ApprovalList) -> Page[ApprovalOut]:
    """Newest first; who may not see all of them sees what they decide or asked for."""
    found = await page(ctx, query)
    responses = await responses_to(ctx, [approval.id for approval in found.items])
    return found.shown(lambda approval: ApprovalOut.shown(approval, responses[approval.id]))


@routes.get("/count", requires="approvals:read", wrap=False)
async def count_approvals(ctx: Context) -> Count:
    """What waits for an answer of the caller."""
    return Count(count=await count_pending(ctx))


@routes.get("/{approval_id}", requires="approvals:read")
async def get_approval(ctx: Context, approval: ApprovalById) -> ApprovalOut:
    return await _shown(ctx, approval)


@routes.post("/{approval_id}/approve", requires="approvals:decide", errors=_REFUSALS)
async def approve(ctx: Context, approval: ApprovalById, body: Approve) -> ApprovalOut:
    """With the last approval that is needed, what was asked for happens."""
    decision = Decision(
        verdict="approved", comment=body.comment, data=body.data, edited_input=body.edited_input
    )
    return await _shown(ctx, await decide(ctx, approval.id, decision))


@routes.post("/{approval_id}/reject", requires="approvals:decide", errors=_REFUSALS)
async def reject(ctx: Context, approval: ApprovalById, body: Reject) -> ApprovalOut:
    """One rejection is the end of it."""
    decision = Decision(verdict="rejected", comment=body.comment)
    return await _shown(ctx, await decide(ctx, approval.id, decision))


@routes.post(
    "/{approval_id}/cancel",
    requires="approvals:decide",
    errors=(NotTheRequester, ApprovalAlreadyResolved, ApprovalExpired),
)
async def cancel_approval(ctx: Context, approval: ApprovalById, body: Cancel) -> ApprovalOut:
    """For whoever asked, and for administrators."""
    return await _shown(ctx, await service.cancel(ctx, approval, body.comment))


@routes.post(
    "/{approval_id}/remind",
    requires="approvals:decide",
    errors=(NotTheRequester, ApprovalAlreadyResolved, ApprovalExpired, RateLimited),
)
async def remind_approvers(ctx: Context, approval: ApprovalById) -> ApprovalOut:
    """Tells those who have not answered once more, at most once an hour."""
    return await _shown(ctx, await service.remind(ctx, approval))


async def _shown(ctx: Context, approval: Approval) -> ApprovalOut:
    return ApprovalOut.shown(approval, (await responses_to(ctx, [approval.id]))[approval.id])
