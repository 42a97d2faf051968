from collections.abc import Iterable, Sequence
from typing import Any

import msgspec
import sqlalchemy as sa

from retinue.access.models import Role
from retinue.approvals.models import Approval, ApprovalStatus, Assignment, Response
from retinue.approvals.schemas import ApprovalList
from retinue.approvals.words import Approvers
from retinue.kit.context import Context
from retinue.kit.db.one_of import one_of
from retinue.kit.db.statements import Statement, reading
from retinue.kit.db.types import json_text
from retinue.kit.lists import Listing, Slice
from retinue.kit.principal import Principal

BATCH = 200

_approvals, _assignments, _responses = Approval.__table__, Assignment.__table__, Response.__table__
_PENDING = _approvals.c.status == sa.literal(ApprovalStatus.pending.value)


def _assigned(name: str) -> Any:
    return sa.exists().where(
        _assignments.c.tenant_id == _approvals.c.tenant_id,
        _assignments.c.approval_id == _approvals.c.id,
        one_of(_assignments.c.assignee, name),
    )


class _Narrowed(ApprovalList, kw_only=True):
    """`assigned` and `visible` are the names under which the caller decides."""

    assigned: str | None = None
    visible: str | None = None


_APPROVALS = Listing(
    Approval,
    filters=("status", "source_type"),
    matches={
        "assigned": _assigned("assigned"),
        "visible": sa.or_(_assigned("visible"), one_of(_approvals.c.requester_id, "visible")),
    },
)
_COUNT: Statement[Any] = Statement(
    sa.select(sa.func.count())
    .select_from(_approvals)
    .where(
        _PENDING,
        _approvals.c.expires_at > sa.bindparam("now"),
        _assigned("assigned"),
        sa.or_(_approvals.c.allow_self_approval.is_(True), _approvals.c.requester_id != sa.bindparam("me")),
        ~sa.exists().where(
            _responses.c.tenant_id == _approvals.c.tenant_id,
            _responses.c.approval_id == _approvals.c.id,
            _responses.c.user_id == sa.bindparam("me"),
        ),
    )
)
_RESPONSES = reading(
    Response,
    sa.select(_responses)
    .where(one_of(_responses.c.approval_id, "approval_ids"))
    .order_by(_responses.c.created_at, _responses.c.id),
)
_DUE: Statement[Any] = Statement(
    sa.select(_approvals.c.tenant_id, _approvals.c.id)
    .where(_PENDING, _approvals.c.expires_at <= sa.bindparam("now"))
    .order_by(_approvals.c.expires_at)
    .limit(BATCH)
)
_WAITED_FOR: Statement[Any] = Statement(
    sa.select(_approvals.c.id)
    .where(
        _PENDING,
        _approvals.c.waiting_key == sa.bindparam("key"),
        _approvals.c.continuation == sa.bindparam("continuation"),
    )
    .order_by(_approvals.c.id)
)


def sees_all(principal: Principal) -> bool:
    """Whether someone reads every approval; others read what they decide or asked for."""
    return principal.may("agents:write")


def roles_of(role: str) -> tuple[Role, ...]:
    """The roles that someone decides as: a super administrator is an administrator as well."""
    own = Role(role)
    return (own, Role.tenant_admin) if own is Role.super_admin else (own,)


def assignees(approvers: Approvers) -> list[str]:
    return [*dict.fromkeys(approvers.user_ids), *(f"role:{role}" for role in dict.fromkeys(approvers.roles))]


def is_approver(approvers: Approvers, user_id: str, role: str) -> bool:
    return user_id in approvers.user_ids or any(one in approvers.roles for one in roles_of(role))


def _mine(principal: Principal) -> str:
    return json_text([principal.id, *(f"role:{role}" for role in roles_of(principal.role))])


async def page(ctx: Context, query: ApprovalList) -> Slice[Approval]:
    """What the caller may see of what was asked for."""
    mine = _mine(ctx.principal)
    narrowed = _Narrowed(
        **msgspec.structs.asdict(query),
        assigned=mine if query.assigned_to_me else None,
        visible=None if sees_all(ctx.principal) else mine,
    )
    return await _APPROVALS.page(ctx.db, narrowed)


async def find_visible(ctx: Context, approval_id: str) -> Approval | None:
    found = await ctx.db.get(Approval, approval_id)
    me = ctx.principal
    if found is None or sees_all(me) or found.requester_id == me.id:
        return found
    return found if is_approver(found.approvers, me.id, me.role) else None


async def count_pending(ctx: Context) -> int:
    """What waits for the caller."""
    me = ctx.principal
    return int(await ctx.db.scalar(_COUNT, now=ctx.now, assigned=_mine(me), me=me.id))


async def responses_to(ctx: Context, approval_ids: Iterable[str]) -> dict[str, list[Response]]:
    found: dict[str, list[Response]] = {id: [] for id in approval_ids}
    for response in await ctx.db.rows(_RESPONSES, approval_ids=json_text(list(found))) if found else ():
        found[response.approval_id].append(response)
    return found


async def due(ctx: Context) -> Sequence[tuple[str, str]]:
    """Tenant and id of what nobody decided in time, oldest first."""
    return [(row[0], row[1]) for row in await ctx.system("approvals of every tenant").rows(_DUE, now=ctx.now)]


async def waited_for(ctx: Context, continuation: str, key: str) -> list[str]:
    """What is still pending for whoever waits under this name."""
    return [row[0] for row in await ctx.db.rows(_WAITED_FOR, continuation=continuation, key=key)]
