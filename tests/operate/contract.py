"""Objects and calls of the instance's operation for the contract tests."""

from retinue.kit.jobs.models import Job
from tests.contract.knowledge import Call, DomainContract, Scene, World


def failed_job(kind: str = "mail.send", **more: object) -> Job:
    """A job that has used up its attempts."""
    chosen = {"payload": {"mail_id": "mail_gone"}, "last_error": "The mail server does not answer.", **more}
    return Job(kind=kind, queue="mail", state="dead", run_at=0.0, attempt=5, actor={}, **chosen)


async def _make(world: World) -> dict[str, str]:
    return {"queued_job_id": (await world.ctx.db.insert(failed_job())).id}


CONTRACT = DomainContract(make=_make, shared={"queued_job_id"})


@CONTRACT.writes()
async def retry_queued_job(scene: Scene) -> Call:
    async with scene.people.context(scene.user.tenant_id) as ctx:
        job = await ctx.db.insert(failed_job())
    return Call(scene.admin, {}, {"queued_job_id": job.id})
