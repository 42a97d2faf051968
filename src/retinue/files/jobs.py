import asyncio

from retinue.adapters.blobs import Blobs
from retinue.files.job_kinds import REMOVE_BYTES
from retinue.files.models import File, Purpose
from retinue.files.queries import find_expired, known_ids
from retinue.files.service import REFERENCE, remove, remove_bytes
from retinue.files.uploads import PURPOSE_RULES
from retinue.kit.context import Context, references
from retinue.kit.http.uploads import sweep_spool
from retinue.kit.jobs.declare import implement, periodic

_GRACE_SECONDS = 24 * 3600
_BATCH = 500


async def sweep_orphans(ctx: Context) -> None:
    """Delete blobs that have had no row for a day: their upload was never committed."""
    # The sweep at start-up skips recent files, so those of a crash shortly before it are removed here.
    await asyncio.to_thread(sweep_spool, ctx.settings.data_dir / "tmp", _GRACE_SECONDS)
    batch: list[str] = []
    before = ctx.clock.time() - _GRACE_SECONDS
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


async def expire_files(ctx: Context) -> None:
    """Delete expired files that nothing uses."""
    while expired := await find_expired(ctx, _BATCH):
        for tenant_id, file_id in expired:
            async with ctx.unit() as unit:
                unit.bind_tenant(tenant_id)
                await _expire(unit, file_id)


async def _expire(ctx: Context, file_id: str) -> None:
    locked = await ctx.db.lock(File, file_id)
    if locked is None or locked.expires_at is None or locked.expires_at >= ctx.now:
        return
    users = await references.find_referrers(ctx, REFERENCE, file_id)
    if any(users.values()):
        # Still in use: check again after the same lifetime.
        await ctx.db.update(locked, expires_at=ctx.clock.ahead(_kept_s(locked)))
    else:
        await remove(ctx, locked)


def _kept_s(file: File) -> float:
    rule = PURPOSE_RULES.get(Purpose(file.purpose)) if file.purpose in {*Purpose} else None
    return (rule.kept_s if rule else None) or _GRACE_SECONDS


JOBS = (
    implement(REMOVE_BYTES, remove_bytes, transactional=False),
    periodic(
        "files.sweep_orphans",
        sweep_orphans,
        every_s=24 * 3600,
        timeout_s=3600,
        transactional=False,
    ),
    periodic(
        "files.expire",
        expire_files,
        every_s=3600,
        timeout_s=1800,
        transactional=False,
    ),
)
