from retinue.adapters.blobs import Blobs
from retinue.files.queries import known_ids
from retinue.kit.context import Context
from retinue.kit.jobs.declare import NoPayload, job

_GRACE_S = 24 * 3600
_BATCH = 500


@job(every_s=24 * 3600, timeout_s=3600, transactional=False)
async def sweep_orphans(ctx: Context, payload: NoPayload) -> None:  # noqa: ARG001  a periodic job
    """Remove bytes that no row names a day after they came: their upload was never committed."""
    batch: list[str] = []
    async for key in ctx.adapter(Blobs).stored_before(ctx.clock.time() - _GRACE_S):
        batch.append(key)
        if len(batch) == _BATCH:
            await _remove_unknown(ctx, batch)
            batch = []
    await _remove_unknown(ctx, batch)


async def _remove_unknown(ctx: Context, keys: list[str]) -> None:
    if not keys:
        return
    by_id = {key.partition("/")[2]: key for key in keys}
    async with ctx.unit() as unit:
        known = await known_ids(unit, by_id)
    for id in by_id.keys() - known:
        await ctx.adapter(Blobs).delete(by_id[id])
