from retinue.kit.context import Context
from retinue.kit.jobs.declare import NoPayload, job
from retinue.usage import compacting


@job(every_s=60, transactional=False, timeout_s=300)
async def compact_usage(ctx: Context, payload: NoPayload) -> None:  # noqa: ARG001  every job takes one
    while compacting.is_more(await compacting.compact(ctx)):
        pass
