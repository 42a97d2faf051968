"""What was received is kept for a month, and a slug that was given up is held for three."""

from retinue.incoming import slugs
from retinue.incoming.queries import erase_older_than
from retinue.kit.context import Context
from retinue.kit.jobs.declare import NoPayload, job

_KEPT_S = 30 * 24 * 3600


@job(every_s=3600, timeout_s=600, transactional=False)
async def sweep_received_payloads(ctx: Context, _payload: NoPayload) -> None:
    await erase_older_than(ctx, ctx.clock.ahead(-_KEPT_S))
    await slugs.forget(ctx)
