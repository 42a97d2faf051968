"""Periodic jobs: expire overdue approvals, delete old approvals and links."""

import sqlalchemy as sa
import structlog

from retinue.approvals import links
from retinue.approvals.approver_notifications import mark_announcements_read, notify_approvers
from retinue.approvals.decisions import expire_approval
from retinue.approvals.job_kinds import MARK_ANNOUNCEMENTS_READ, NOTIFY_APPROVERS
from retinue.approvals.models import Approval, ApprovalStatus
from retinue.approvals.queries import EXPIRY_BATCH_SIZE, find_expired
from retinue.kit.context import Context
from retinue.kit.jobs.declare import implement, periodic
from retinue.kit.purge import purge_all_tenants, purge_statement

log = structlog.get_logger("retinue.approvals")

RETENTION_DAYS = 90

_approvals = Approval.__table__
# Uses the index on `expires_at`: nothing is resolved long after it expires.
_RESOLVED_LONG_AGO = purge_statement(
    _approvals,
    _approvals.c.status == sa.bindparam("status"),
    _approvals.c.expires_at < sa.bindparam("before"),
    _approvals.c.resolved_at < sa.bindparam("before"),
)


async def expire_approvals(ctx: Context) -> None:
    """Expire overdue approvals; without any, this is one index lookup."""
    while found := await find_expired(ctx):
        expired = 0
        for tenant_id, id in found:
            try:
                async with ctx.unit() as unit:
                    unit.bind_tenant(tenant_id)
                    expired += await expire_approval(unit, id)
            except Exception:
                # One failure must not block the other approvals.
                log.exception("approval_not_ended", approval_id=id)
        if len(found) < EXPIRY_BATCH_SIZE or not expired:
            break


async def purge_approvals(ctx: Context) -> None:
    """Delete old approvals and their responses in short transactions."""
    before = ctx.clock.ahead(-RETENTION_DAYS * 86_400)
    for status in set(ApprovalStatus) - {ApprovalStatus.pending}:
        await purge_all_tenants(ctx, _RESOLVED_LONG_AGO, status=status.value, before=before)


async def purge_links(ctx: Context) -> None:
    await links.purge_old_links(ctx)


JOBS = (
    implement(NOTIFY_APPROVERS, notify_approvers),
    implement(MARK_ANNOUNCEMENTS_READ, mark_announcements_read),
    periodic(
        "approvals.expire",
        expire_approvals,
        every_s=30,
        timeout_s=600,
        transactional=False,
    ),
    periodic(
        "approvals.purge",
        purge_approvals,
        every_s=3600,
        timeout_s=1800,
        transactional=False,
    ),
    periodic("approvals.purge_links", purge_links, every_s=86400),
)
