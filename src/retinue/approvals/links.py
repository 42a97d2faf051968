"""Approval links in mails: 256 random bits, stored as a hash, valid for one decision."""

import sqlalchemy as sa

from retinue.approvals.errors import ApprovalNotFound, NotAnApprover
from retinue.approvals.models import Approval, ApprovalLink, ApprovalResponse
from retinue.kit.context import Context
from retinue.kit.db.statements import Statement
from retinue.kit.errors import Forbidden
from retinue.kit.http.routing import is_plausible_id
from retinue.kit.ids import hash_token, new_token
from retinue.users.acting_as import acting_as
from retinue.users.errors import RequesterInactive
from retinue.users.models import User

PATH = "/api/v1/public/approvals"
RETENTION_SECONDS = 400 * 86_400
_DECIDE_PERMISSION = "approvals:decide"

_links = ApprovalLink.__table__
_PURGE = Statement(sa.delete(_links).where(_links.c.created_at < sa.bindparam("before")))


async def create_link(ctx: Context, approval: Approval, user: User) -> str:
    """Create a link for this approver; earlier links stay valid for the same one decision."""
    token = new_token()
    await ctx.db.insert(ApprovalLink(approval_id=approval.id, user_id=user.id, token_hash=hash_token(token)))
    return f"{ctx.settings.base_url}{PATH}/{token}"


async def load_link(ctx: Context, token: str) -> tuple[Approval, ApprovalResponse | None, Context]:
    """Return the approval of a link, the approver's response if any, and a context acting as them."""
    if not is_plausible_id(token) or not token.isascii():
        raise ApprovalNotFound
    link = await ctx.system("the token alone says whose it is").find(
        ApprovalLink, token_hash=hash_token(token)
    )
    if link is None:
        raise ApprovalNotFound
    ctx.bind_tenant(link.tenant_id)
    approval = await ctx.db.get(Approval, link.approval_id)
    user = await ctx.system("super administrators decide in every tenant").get(User, link.user_id)
    if approval is None or user is None:
        raise ApprovalNotFound
    approver_ctx = await _acting_as_approver(ctx, user)
    return (
        approval,
        await ctx.db.find(ApprovalResponse, approval_id=approval.id, user_id=user.id),
        approver_ctx,
    )


async def _acting_as_approver(ctx: Context, user: User) -> Context:
    """Return a context of the approver; a link allows what its owner may do now."""
    try:
        return await acting_as(ctx, user.id, requires=_DECIDE_PERMISSION, reads_outside_transaction=False)
    except (RequesterInactive, Forbidden):
        raise NotAnApprover(user.role) from None


async def purge_old_links(ctx: Context) -> None:
    await ctx.system("links of every tenant").execute(_PURGE, before=ctx.clock.ahead(-RETENTION_SECONDS))
