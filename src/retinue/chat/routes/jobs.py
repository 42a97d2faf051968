import asyncio

from retinue.agents.loaders import AgentById
from retinue.chat.errors import JobNotFound
from retinue.chat.loaders import JobById
from retinue.chat.models import FINISHED_JOB_STATUSES, ChatJob, JobStatus, Message
from retinue.chat.queries import JOBS, find_visible_job, own_rows_filter
from retinue.chat.replies import background
from retinue.chat.schemas import JobList, JobOut, JobQuery
from retinue.kit.context import Context
from retinue.kit.errors import InvalidTransition
from retinue.kit.http.routing import Routes
from retinue.kit.lists import Page

routes = Routes("/api/v1/agents/{agent_id}/chat/jobs", tag="chat")
aliases = Routes("/api/v1/jobs", tag="chat")

# Poll often at first, because most turns are short, then back off to once a second.
_FIRST_POLL_SECONDS, _MAX_POLL_SECONDS = 0.1, 1.0


@routes.get("", requires="agents:chat")
async def list_chat_jobs(ctx: Context, agent: AgentById, query: JobList) -> Page[JobOut]:
    """List the agent's chat jobs without their results, newest first.

    Callers with `agents:write` and `conversations:read` see all jobs, all others only their own.
    """
    return (await JOBS.page(ctx.db, query, agent_id=agent.id, **own_rows_filter(ctx))).to_page(
        JobOut.from_record
    )


@routes.get("/{job_id}", requires="agents:chat", errors=(JobNotFound,))
async def get_chat_job(ctx: Context, agent: AgentById, job: JobById, query: JobQuery) -> JobOut:
    """Return the state of a chat job and, once it has completed, the reply. Use `wait` for long polling."""
    if job.agent_id != agent.id:
        raise JobNotFound
    return await _render_job(ctx, await _wait_until_finished(ctx, job, query.wait))


@aliases.get("/{job_id}", requires="agents:chat")
async def get_job(ctx: Context, job: JobById, query: JobQuery) -> JobOut:
    """Return a chat job without naming its agent; otherwise the same as the agent's own job endpoint."""
    return await _render_job(ctx, await _wait_until_finished(ctx, job, query.wait))


@routes.post("/{job_id}/cancel", requires="agents:chat", errors=(JobNotFound, InvalidTransition))
async def cancel_chat_job(ctx: Context, agent: AgentById, job: JobById) -> JobOut:
    """Cancel a job that has not ended; approvals it waits for are cancelled as well.

    A worker that is answering stops within about a second. A job that has ended is 409 `invalid_transition`.
    """
    if job.agent_id != agent.id:
        raise JobNotFound
    return JobOut.from_record(await background.cancel(ctx, job))


async def _wait_until_finished(ctx: Context, job: ChatJob, wait_s: int) -> ChatJob:
    """Return the job once it has ended, the time is up or the server shuts down."""
    # Real time, not the context's clock: it limits how long the connection stays open.
    now = asyncio.get_running_loop().time
    end, pause_s = now() + wait_s, _FIRST_POLL_SECONDS
    while job.status not in FINISHED_JOB_STATUSES and now() < end:
        if ctx.instance.is_stopping:
            break
        await asyncio.sleep(min(pause_s, end - now()))
        pause_s = min(pause_s * 1.5, _MAX_POLL_SECONDS)
        current = await find_visible_job(ctx, job.id)
        if current is None:
            raise JobNotFound
        job = current
    return job


async def _render_job(ctx: Context, job: ChatJob) -> JobOut:
    has_reply = job.status in {JobStatus.completed, JobStatus.awaiting_approval}
    reply = await ctx.db.get(Message, job.message_id) if has_reply else None
    return JobOut.from_record(job, reply)
