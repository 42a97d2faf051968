"""What happens by itself: approvals end when their time is up."""

import structlog

from retinue.approvals import links
from retinue.approvals.deciding import expire
from retinue.approvals.queries import BATCH, due
from retinue.kit.context import Context
from retinue.kit.jobs.declare import NoPayload, job

log = structlog.get_logger("retinue.approvals")


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


@job(every_s=86_400)
async def forget_approval_links(ctx: Context, _payload: NoPayload) -> None:
    await links.forget_old(ctx)
