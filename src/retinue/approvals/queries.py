import itertools
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec
import sqlalchemy as sa

from retinue.access.models import Role
from retinue.approvals.models import Approval, ApprovalResponse, ApprovalStatus, Assignment
from retinue.approvals.schemas import ApprovalList
from retinue.approvals.types import Approvers
from retinue.kit.context import Context
from retinue.kit.context.conversation_access import load_content_reader
from retinue.kit.db.in_list import in_list
from retinue.kit.db.statements import Statement, record_statement
from retinue.kit.db.types import json_text
from retinue.kit.lists import Listing, Slice
from retinue.kit.principal import Principal
from retinue.users.queries import find_names

EXPIRY_BATCH_SIZE = 200

_approvals, _assignments, _responses = Approval.__table__, Assignment.__table__, ApprovalResponse.__table__
_PENDING = _approvals.c.status == sa.literal(ApprovalStatus.pending.value)


def _assigned(name: str) -> Any:
    return sa.exists().where(
        _assignments.c.tenant_id == _approvals.c.tenant_id,
        _assignments.c.approval_id == _approvals.c.id,
        in_list(_assignments.c.assignee, name),
    )


class _VisibleApprovalsQuery(ApprovalList, kw_only=True):
    """`assigned` and `visible` are JSON lists of the caller's user id and roles.

    `undecided_by` is the caller's user id, `waiting_at` the time of the request.
    """

    assigned: str | None = None
    visible: str | None = None
    undecided_by: str | None = None
    waiting_at: str | None = None


def _undecided_by(name: str) -> Any:
    """The user of this parameter may still answer: it is not their own request, nor have they answered it."""
    return sa.and_(
        sa.or_(_approvals.c.allow_self_approval.is_(True), _approvals.c.requester_id != sa.bindparam(name)),
        ~sa.exists().where(
            _responses.c.tenant_id == _approvals.c.tenant_id,
            _responses.c.approval_id == _approvals.c.id,
            _responses.c.user_id == sa.bindparam(name),
        ),
    )


def _waiting_at(name: str) -> Any:
    return sa.and_(_PENDING, _approvals.c.expires_at > sa.bindparam(name))


_APPROVALS = Listing(
    Approval,
    filters=("status", "source_type", "agent_id", "tool_id"),
    sorts=("created_at", "expires_at"),
    matches={
        "assigned": _assigned("assigned"),
        "visible": sa.or_(_assigned("visible"), in_list(_approvals.c.requester_id, "visible")),
        "undecided_by": _undecided_by("undecided_by"),
        "waiting_at": _waiting_at("waiting_at"),
    },
)
_COUNT_WAITING = Statement(sa.select(sa.func.count()).select_from(_approvals).where(_PENDING))
_FOR_ME = sa.and_(_waiting_at("now"), _assigned("assigned"), _undecided_by("me"))
_COUNT = Statement(sa.select(sa.func.count()).select_from(_approvals).where(_FOR_ME))
_FIRST_TO_EXPIRE = record_statement(
    Approval,
    sa.select(_approvals)
    .where(_FOR_ME)
    .order_by(_approvals.c.expires_at, _approvals.c.id)
    .limit(sa.bindparam("row_limit", type_=sa.BigInteger())),
)
_RESPONSES = record_statement(
    ApprovalResponse,
    sa.select(_responses)
    .where(in_list(_responses.c.approval_id, "approval_ids"))
    .order_by(_responses.c.created_at, _responses.c.id),
)
_EXPIRED = Statement(
    sa.select(_approvals.c.tenant_id, _approvals.c.id)
    .where(_PENDING, _approvals.c.expires_at <= sa.bindparam("now"))
    .order_by(_approvals.c.expires_at)
    .limit(EXPIRY_BATCH_SIZE)
)
_PENDING_FOR = Statement(
    sa.select(_approvals.c.id)
    .where(
        _PENDING,
        _approvals.c.waiting_key == sa.bindparam("key"),
        _approvals.c.continuation == sa.bindparam("continuation"),
    )
    .order_by(_approvals.c.id)
)


def sees_all_approvals(principal: Principal) -> bool:
    """Return whether the principal may read every approval, not only their own and assigned ones."""
    return principal.may("agents:write")


def roles_of(role: str) -> tuple[Role, ...]:
    """Return the roles a user decides as: super administrators are also administrators, machines nothing."""
    own = Role.__members__.get(role)
    if own is None:
        return ()
    return (own, Role.tenant_admin) if own is Role.super_admin else (own,)


def assignees(approvers: Approvers) -> list[str]:
    return [*dict.fromkeys(approvers.user_ids), *(f"role:{role}" for role in dict.fromkeys(approvers.roles))]


def is_approver(approvers: Approvers, user_id: str, role: str) -> bool:
    return user_id in approvers.user_ids or any(own_role in approvers.roles for own_role in roles_of(role))


def _own_assignees(principal: Principal) -> str:
    return json_text([principal.id, *(f"role:{role}" for role in roles_of(principal.role))])


async def page_of_approvals(ctx: Context, query: ApprovalList) -> Slice[Approval]:
    """Return a page of the approvals visible to the caller."""
    mine = _own_assignees(ctx.principal)
    narrowed = _VisibleApprovalsQuery(
        **msgspec.structs.asdict(query),
        assigned=mine if query.assigned_to_me or query.waiting_for_me else None,
        visible=None if sees_all_approvals(ctx.principal) else mine,
        undecided_by=ctx.principal.id if query.waiting_for_me else None,
        waiting_at=ctx.now if query.waiting_for_me else None,
    )
    return await _APPROVALS.page(ctx.db, narrowed)


async def find_visible(ctx: Context, approval_id: str) -> Approval | None:
    approval = await ctx.db.get(Approval, approval_id)
    me = ctx.principal
    if approval is None or sees_all_approvals(me) or approval.requester_id == me.id:
        return approval
    return approval if is_approver(approval.approvers, me.id, me.role) else None


async def find_readable_ids(ctx: Context, approvals: Sequence[Approval]) -> set[str]:
    """Return the ids of approvals the caller decides, requested, or may read the conversation of."""
    me, reader = (
        ctx.principal,
        await load_content_reader(ctx, (approval.conversation_ids for approval in approvals)),
    )
    return {
        approval.id
        for approval in approvals
        if approval.requester_id == me.id
        or is_approver(approval.approvers, me.id, me.role)
        or reader.may_read(approval.conversation_ids)
    }


async def count_waiting(ctx: Context) -> dict[tuple[str, ...], tuple[float, ...]]:
    """Return the number of pending approvals of all tenants, for the metrics."""
    count = await ctx.system("a metric over all tenants").scalar(_COUNT_WAITING)
    return {(): (float(count),)}


async def count_pending(ctx: Context) -> int:
    """Return the number of approvals that wait for the caller."""
    me = ctx.principal
    return int(await ctx.db.scalar(_COUNT, now=ctx.now, assigned=_own_assignees(me), me=me.id))


async def find_pending(ctx: Context, limit: int) -> list[Approval]:
    """Return approvals that wait for the caller, those that expire first before the others."""
    me = ctx.principal
    return await ctx.db.rows(
        _FIRST_TO_EXPIRE, now=ctx.now, assigned=_own_assignees(me), me=me.id, row_limit=limit
    )


async def load_responses(ctx: Context, approval_ids: Iterable[str]) -> dict[str, list[ApprovalResponse]]:
    responses: dict[str, list[ApprovalResponse]] = {id: [] for id in approval_ids}
    for response in (
        await ctx.db.rows(_RESPONSES, approval_ids=json_text(list(responses))) if responses else ()
    ):
        responses[response.approval_id].append(response)
    return responses


async def load_names(
    ctx: Context, approvals: Iterable[Approval], responses: dict[str, list[ApprovalResponse]]
) -> dict[str, dict[str, str]]:
    """Return the names of those who requested or answered an approval, for each approval."""
    people = {
        approval.id: [approval.requester_id, *(response.user_id for response in responses[approval.id])]
        for approval in approvals
    }
    names = await find_names(ctx, itertools.chain.from_iterable(people.values()))
    return {id: {user: names[user] for user in users if user in names} for id, users in people.items()}


async def find_expired(ctx: Context) -> Sequence[tuple[str, str]]:
    """Return tenant and id of the overdue approvals, oldest first."""
    return [
        (row[0], row[1]) for row in await ctx.system("approvals of every tenant").rows(_EXPIRED, now=ctx.now)
    ]


async def find_pending_for(ctx: Context, continuation: str, key: str) -> list[str]:
    """Return the ids of pending approvals that this continuation waits for."""
    return [row[0] for row in await ctx.db.rows(_PENDING_FOR, continuation=continuation, key=key)]
