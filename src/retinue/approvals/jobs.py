"""What happens by itself: approvals end when their time is up, and those that were decided long ago go."""

import sqlalchemy as sa
import structlog

from retinue.approvals import links
from retinue.approvals.deciding import expire
from retinue.approvals.models import Approval, ApprovalStatus
from retinue.approvals.queries import BATCH, due
from retinue.kit.context import Context
from retinue.kit.db.forgetting import forget_everywhere, forgetting
from retinue.kit.jobs.declare import NoPayload, job

log = structlog.get_logger("retinue.approvals")

KEPT_DAYS = 90

_approvals = Approval.__table__
# By the index of what expires: nothing is decided long after that.
_OLD = forgetting(
    _approvals,
    _approvals.c.status == sa.bindparam("status"),
    _approvals.c.expires_at < sa.bindparam("before"),
    _approvals.c.resolved_at < sa.bindparam("before"),
)


@job(every_s=30, timeout_s=600, transactional=False)
async def expire_approvals(ctx: Context, _payload: NoPayload) -> None:
    """One look at an index, however many wait."""
    while found := await due(ctx):
        expired = 0
        for tenant_id, id in found:
            try:
                async with ctx.unit() as unit:
                    unit.act_in(tenant_id)
                    expired += await expire(unit, id)
            except Exception:
                # One that cannot be ended must not keep the others waiting.
                log.exception("an approval could not be ended", approval_id=id)
        if len(found) < BATCH or not expired:
            break


@job(every_s=3600, timeout_s=1800, transactional=False)
async def forget_old_approvals(ctx: Context, _payload: NoPayload) -> None:
    """With what was said about them; in short transactions."""
    before = ctx.clock.ahead(-KEPT_DAYS * 86_400)
    for status in set(ApprovalStatus) - {ApprovalStatus.pending}:
        await forget_everywhere(ctx, _OLD, status=status.value, before=before)


@job(every_s=86_400)
async def forget_approval_links(ctx: Context, _payload: NoPayload) -> None:
    await links.forget_old(ctx)
