"""Retention: received payloads are kept for 30 days, released slugs are held for 90."""

from retinue.incoming import slugs
from retinue.incoming.job_kinds import ERASE_PAYLOADS, TRIGGER_WORKFLOW
from retinue.incoming.queries import delete_older_than
from retinue.incoming.service import erase_payloads
from retinue.incoming.workflow_trigger import trigger_workflow
from retinue.kit.context import Context
from retinue.kit.jobs.declare import implement, periodic

_RETENTION_SECONDS = 30 * 24 * 3600


async def purge_payloads(ctx: Context) -> None:
    await delete_older_than(ctx, ctx.clock.ahead(-_RETENTION_SECONDS))
    await slugs.purge_expired(ctx)


JOBS = (
    implement(TRIGGER_WORKFLOW, trigger_workflow),
    implement(ERASE_PAYLOADS, erase_payloads, timeout_s=600, transactional=False),
    periodic(
        "incoming.purge_payloads",
        purge_payloads,
        every_s=3600,
        timeout_s=600,
        transactional=False,
    ),
)
