"""Links with which an approver decides from a mail: 256 random bits, known by their hash, for one answer."""

from typing import Any

import sqlalchemy as sa

from retinue.access.queries import permissions_of
from retinue.approvals.errors import ApprovalNotFound, NotAnApprover
from retinue.approvals.models import Approval, Link, Response
from retinue.kit.context import Context
from retinue.kit.db.statements import Statement
from retinue.kit.http.routing import is_plausible
from retinue.kit.ids import hash_token, new_token
from retinue.kit.principal import Principal
from retinue.users.models import User, UserStatus

PATH = "/api/v1/public/approvals"
KEPT_S = 400 * 86_400
_DECIDE = "approvals:decide"

_links = Link.__table__
_FORGET: Statement[Any] = Statement(sa.delete(_links).where(_links.c.created_at < sa.bindparam("before")))


async def issue(ctx: Context, approval: Approval, user: User) -> str:
    """The address of a page of its own for this approver; earlier ones stay good, for the same one answer."""
    token = new_token()
    await ctx.db.insert(Link(approval_id=approval.id, user_id=user.id, token_hash=hash_token(token)))
    return f"{ctx.settings.base_url}{PATH}/{token}"


async def fetch(ctx: Context, token: str) -> tuple[Approval, Response | None, Context]:
    """What a link is about, what was answered already, and a context in which its approver acts."""
    if not is_plausible(token) or not token.isascii():
        raise ApprovalNotFound
    link = await ctx.system("the token alone says whose it is").find(Link, token_hash=hash_token(token))
    if link is None:
        raise ApprovalNotFound
    ctx.act_in(link.tenant_id)
    approval = await ctx.db.get(Approval, link.approval_id)
    user = await ctx.system("super administrators decide in every tenant").get(User, link.user_id)
    if approval is None or user is None:
        raise ApprovalNotFound
    as_user = await _in_the_name_of(ctx, user)
    return approval, await ctx.db.find(Response, approval_id=approval.id, user_id=user.id), as_user


async def _in_the_name_of(ctx: Context, user: User) -> Context:
    """A link is worth what its owner may do now, whatever that was when it was sent."""
    permissions = frozenset(await permissions_of(ctx, user.role))
    if user.status is not UserStatus.active or _DECIDE not in permissions:
        raise NotAnApprover(user.role)
    principal = Principal(
        kind="user", id=user.id, tenant_id=ctx.tenant_id, role=user.role, permissions=permissions
    )
    return Context(ctx.instance, principal, ctx.caller)


async def forget_old(ctx: Context) -> None:
    await ctx.system("links of every tenant").execute(_FORGET, before=ctx.clock.ahead(-KEPT_S))
