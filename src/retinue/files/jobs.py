import asyncio

from retinue.adapters.blobs import Blobs
from retinue.files.models import File, Purpose
from retinue.files.queries import find_expired, known_ids
from retinue.files.service import REFERENCE, remove
from retinue.files.uploading import RULES
from retinue.kit import references
from retinue.kit.context import Context
from retinue.kit.http.uploads import sweep_spool
from retinue.kit.jobs.declare import NoPayload, job

_GRACE_S = 24 * 3600
_BATCH = 500


@job(every_s=24 * 3600, timeout_s=3600, transactional=False)
async def sweep_orphans(ctx: Context, payload: NoPayload) -> None:  # noqa: ARG001  a periodic job
    """Remove bytes that no row names a day after they came: their upload was never committed."""
    # A start finds only what was spooled long before it, which a crash right before it was not.
    await asyncio.to_thread(sweep_spool, ctx.settings.data_dir / "tmp", _GRACE_S)
    batch: list[str] = []
    before = ctx.clock.time() - _GRACE_S
    await ctx.adapter(Blobs).discard_unfinished(before)
    async for key in ctx.adapter(Blobs).stored_before(before):
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


@job(every_s=3600, timeout_s=1800, transactional=False)
async def expire_files(ctx: Context, payload: NoPayload) -> None:  # noqa: ARG001  a periodic job
    """Remove files whose time is up and that nobody uses."""
    while expired := await find_expired(ctx, _BATCH):
        for tenant_id, file_id in expired:
            async with ctx.unit() as unit:
                unit.act_in(tenant_id)
                await _expire(unit, file_id)


async def _expire(ctx: Context, file_id: str) -> None:
    held = await ctx.db.lock(File, file_id)
    if held is None or held.expires_at is None or held.expires_at >= ctx.now:
        return
    users = await references.referrers(ctx, REFERENCE, file_id)
    if any(users.values()):
        # Looked at again after as long a time: whoever uses it may let go of it.
        await ctx.db.update(held, expires_at=ctx.clock.ahead(_kept_s(held)))
    else:
        await remove(ctx, held)


def _kept_s(file: File) -> float:
    rule = RULES.get(Purpose(file.purpose)) if file.purpose in {*Purpose} else None
    return (rule.kept_s if rule else None) or _GRACE_S
