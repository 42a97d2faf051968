from retinue.kit.context import Context
from retinue.kit.jobs.declare import implement, periodic
from retinue.usage import compaction
from retinue.usage.enforcement import watch_budget
from retinue.usage.job_kinds import ANNOUNCE_UNPRICED, WATCH_BUDGET
from retinue.usage.unpriced import announce_unpriced


async def compact_usage(ctx: Context) -> None:
    while compaction.has_more(await compaction.compact_batch(ctx)):
        pass


JOBS = (
    implement(WATCH_BUDGET, watch_budget),
    implement(ANNOUNCE_UNPRICED, announce_unpriced),
    periodic(
        "usage.compact",
        compact_usage,
        every_s=60,
        transactional=False,
        timeout_s=300,
    ),
)
