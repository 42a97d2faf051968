import asyncio

from retinue.agents.loaders import AgentById
from retinue.chat import background
from retinue.chat.errors import JobNotFound
from retinue.chat.loaders import JobById
from retinue.chat.models import ENDED, ChatJob, JobStatus, Message
from retinue.chat.queries import JOBS, find_visible_job, own_only
from retinue.chat.schemas import JobList, JobOut, JobQuery
from retinue.kit.context import Context
from retinue.kit.errors import InvalidTransition
from retinue.kit.http.routing import Routes
from retinue.kit.lists import Page

routes = Routes("/api/v1/agents/{agent_id}/chat/jobs", tag="chat")
aliases = Routes("/api/v1/jobs", tag="chat")

# At first often, because most turns are short; then as seldom as a person would not notice.
_FIRST_LOOK_S, _LAST_LOOK_S = 0.1, 1.0


@routes.get("", requires="agents:chat")
async def list_chat_jobs(ctx: Context, agent: AgentById, query: JobList) -> Page[JobOut]:
    """Without their results."""
    return (await JOBS.page(ctx.db, query, agent_id=agent.id, **own_only(ctx))).shown(JobOut.shown)


@routes.get("/{job_id}", requires="agents:chat", errors=(JobNotFound,))
async def get_chat_job(ctx: Context, agent: AgentById, job: JobById, query: JobQuery) -> JobOut:
    if job.agent_id != agent.id:
        raise JobNotFound
    return await _shown(ctx, await _ended(ctx, job, query.wait))


@aliases.get("/{job_id}", requires="agents:chat")
async def get_job(ctx: Context, job: JobById, query: JobQuery) -> JobOut:
    return await _shown(ctx, await _ended(ctx, job, query.wait))


@routes.post("/{job_id}/cancel", requires="agents:chat", errors=(JobNotFound, InvalidTransition))
async def cancel_chat_job(ctx: Context, agent: AgentById, job: JobById) -> JobOut:
    if job.agent_id != agent.id:
        raise JobNotFound
    return JobOut.shown(await background.cancel(ctx, job))


async def _ended(ctx: Context, job: ChatJob, wait_s: int) -> ChatJob:
    """The job when it has ended, or as it is when the time is up or the server stops."""
    # A held connection is held in real time, whatever the clock of the context says.
    now = asyncio.get_running_loop().time
    end, pause_s = now() + wait_s, _FIRST_LOOK_S
    while job.status not in ENDED and now() < end:
        if ctx.instance.shutting_down.is_set():
            break
        await asyncio.sleep(min(pause_s, end - now()))
        pause_s = min(pause_s * 1.5, _LAST_LOOK_S)
        found = await find_visible_job(ctx, job.id)
        if found is None:
            raise JobNotFound
        job = found
    return job


async def _shown(ctx: Context, job: ChatJob) -> JobOut:
    has_reply = job.status in {JobStatus.completed, JobStatus.awaiting_approval}
    reply = await ctx.db.get(Message, job.message_id) if has_reply else None
    return JobOut.shown(job, reply)
