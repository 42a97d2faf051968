from structlog.testing import capture_logs

from retinue.kit.jobs.dead_jobs import give_up_unknown_jobs, purge_dead_jobs
from retinue.kit.jobs.models import Job


async def test_dead_jobs_go_after_a_month_and_nothing_else_does(service, people, clock) -> None:
    now = clock.time()
    month = 31 * 24 * 3600

    def made(state: str, run_at: float) -> Job:
        return Job(kind="x", queue="none", payload={}, state=state, run_at=run_at, actor={})

    async with people.context() as ctx:
        for state, run_at in (("dead", now - month), ("dead", now), ("ready", now - month)):
            await ctx.system("test").insert(made(state, run_at))
    async with people.context() as ctx:
        await purge_dead_jobs(ctx)
    async with people.context() as ctx:
        left = await ctx.system("test").all(Job, kind="x")
    assert sorted(job.state for job in left) == ["dead", "ready"]


async def test_jobs_of_an_unknown_kind_are_reported_and_given_up_after_a_day(service, people, clock) -> None:
    async def stored() -> list[tuple[str, str, str | None]]:
        async with people.context() as ctx:
            found = [
                one for kind in ("gone", "mail.send") for one in await ctx.system("test").all(Job, kind=kind)
            ]
        return sorted((job.kind, job.state, job.last_error) for job in found)

    async with people.context() as ctx:
        for kind in ("gone", "mail.send"):
            job = Job(kind=kind, queue="a queue nobody reads", payload={}, run_at=clock.time(), actor={})
            await ctx.system("test").insert(job)
    untouched = [("gone", "ready", None), ("mail.send", "ready", None)]
    clock.advance(23 * 3600)
    async with people.context() as ctx:
        with capture_logs() as logs:
            await give_up_unknown_jobs(ctx)
    assert [(entry["event"], entry["kind"], entry["waiting"]) for entry in logs] == [
        ("jobs_of_unknown_kind", "gone", 1)
    ]
    assert await stored() == untouched
    clock.advance(2 * 3600)
    async with people.context() as ctx:
        await give_up_unknown_jobs(ctx)
    assert await stored() == [("gone", "dead", "unknown kind gone"), *untouched[1:]]
