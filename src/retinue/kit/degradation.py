"""Parts that an instance misses while it still answers: room on its disk, Redis, the worker."""

from retinue.kit.context.instance import Instance

DISK, REDIS, WORKER = PARTS = ("disk", "redis", "worker")


async def degraded_parts(instance: Instance) -> list[str]:
    """Return the parts that do not work, of `PARTS`; the instance answers without them."""
    missing = {
        DISK: await instance.storage.is_full(),
        REDIS: instance.limiter.is_without_redis,
        WORKER: instance.worker_status() in {"stalled", "failing"},
    }
    return [part for part in PARTS if missing[part]]
