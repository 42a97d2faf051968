from retinue.kit.context import Context
from retinue.kit.http.routing import Routes
from retinue.kit.lists import Page
from retinue.operate import jobs_of_instance, overview
from retinue.operate.errors import JobNotFailed, QueuedJobNotFound
from retinue.operate.schemas import (
    OperateOut,
    QueuedJobList,
    QueuedJobOut,
    WaitingMailList,
    WaitingMailOut,
)

routes = Routes("/api/v1/operate", tag="operate")


@routes.get("", requires="admin:tenants", cost="execute")
async def get_operate(ctx: Context) -> OperateOut:
    """Return checks, queues, mail, storage, the last backup and versions of the whole instance.

    `retinue doctor` checks more, such as the settings and the machine.
    """
    return await overview.load_overview(ctx)


@routes.get("/outbox", requires="admin:tenants")
async def list_waiting_mails(ctx: Context, query: WaitingMailList) -> Page[WaitingMailOut]:
    """List the mails of all tenants that are not sent yet, newest first, without their texts."""
    return await jobs_of_instance.page_of_mails(ctx, query)


@routes.get("/jobs", requires="admin:tenants")
async def list_queued_jobs(ctx: Context, query: QueuedJobList) -> Page[QueuedJobOut]:
    """List the jobs of all tenants that wait, run or have failed, newest first by default.

    Failed ones are kept for a month; what is done is not kept.
    """
    return await jobs_of_instance.page_of_jobs(ctx, query)


@routes.post(
    "/jobs/{queued_job_id}/retry", requires="admin:tenants", errors=(QueuedJobNotFound, JobNotFailed)
)
async def retry_queued_job(ctx: Context, queued_job_id: str) -> QueuedJobOut:
    """Let a job that has failed for good run again, with all its attempts."""
    return await jobs_of_instance.retry(ctx, queued_job_id)
