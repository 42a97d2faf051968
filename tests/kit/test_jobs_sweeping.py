from retinue.kit.jobs.models import Job
from retinue.kit.jobs.sweeping import sweep_dead_jobs


async def test_dead_jobs_go_after_a_month_and_nothing_else_does(service, people, clock) -> None:
    now = clock.time()
    month = 31 * 24 * 3600

    def made(state: str, run_at: float) -> Job:
        return Job(kind="x", queue="none", payload={}, state=state, run_at=run_at, actor={})

    async with people.context() as ctx:
        for state, run_at in (("dead", now - month), ("dead", now), ("ready", now - month)):
            await ctx.system("test").insert(made(state, run_at))
    async with people.context() as ctx:
        await sweep_dead_jobs.run(ctx, sweep_dead_jobs.payload())
    async with people.context() as ctx:
        left = await ctx.system("test").all(Job, kind="x")
    assert sorted(job.state for job in left) == ["dead", "ready"]
