"""People who can still decide an approval."""

from typing import Any

import sqlalchemy as sa

from retinue.access.models import Role
from retinue.approvals.models import Approval, ApprovalResponse
from retinue.kit.context import Context
from retinue.kit.db.in_list import in_list, list_parameter
from retinue.kit.db.statements import Statement
from retinue.notifications import recipients
from retinue.notifications.notification import Recipients
from retinue.users.admission import admitted_users
from retinue.users.models import User

_users = User.__table__


async def load_undecided_approvers(ctx: Context, approval: Approval) -> list[User]:
    """Return every approver who can still decide."""
    wanted = Recipients(user_ids=approval.approvers.user_ids, roles=_roles(approval))
    barred = await _find_barred(ctx, approval)
    return [user for user in await recipients.resolve_users(ctx, wanted) if user.id not in barred]


async def count_undecided_approvers(ctx: Context, approval: Approval) -> int:
    statement: Statement[Any] = Statement(
        sa.select(sa.func.count())
        .select_from(_users)
        .where(
            sa.or_(in_list(_users.c.id, "ids"), in_list(_users.c.role, "roles")),
            sa.not_(in_list(_users.c.id, "barred")),
            admitted_users(ctx.settings),
        )
    )
    ((count,),) = await ctx.db.rows(
        statement,
        ids=list_parameter(approval.approvers.user_ids),
        roles=list_parameter(role.value for role in _roles(approval)),
        barred=list_parameter(await _find_barred(ctx, approval)),
    )
    return int(count)


def _roles(approval: Approval) -> tuple[Role, ...]:
    roles = set(approval.approvers.roles)
    if Role.tenant_admin in roles:
        roles.add(Role.super_admin)
    return tuple(roles)


async def _find_barred(ctx: Context, approval: Approval) -> set[str]:
    """Return the ids of those who have answered, and of the requester if they may not decide."""
    barred = {response.user_id for response in await ctx.db.all(ApprovalResponse, approval_id=approval.id)}
    if not approval.allow_self_approval:
        barred.add(approval.requester_id)
    return barred
