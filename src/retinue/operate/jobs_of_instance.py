"""The jobs of all tenants and the mails that wait for theirs."""

import contextlib

import msgspec
import sqlalchemy as sa

from retinue.adapters.mail.mail_queue import SEND_MAIL, OutgoingMail
from retinue.adapters.mail.message import Mail
from retinue.kit.clock import instant_from_timestamp
from retinue.kit.context import Context
from retinue.kit.crypto import DecryptFailed
from retinue.kit.db.in_list import in_list, list_parameter
from retinue.kit.db.json_items import json_value
from retinue.kit.db.statements import Statement, record_statement
from retinue.kit.jobs.declare import JobHandler, handlers_by_name
from retinue.kit.jobs.models import Job
from retinue.kit.lists import Listing, Page, PageQuery
from retinue.operate.errors import JobNotFailed, QueuedJobNotFound
from retinue.operate.events import JobRetried
from retinue.operate.schemas import (
    QueuedJobList,
    QueuedJobOut,
    QueuedJobStatus,
    QueueOut,
    WaitingMailList,
    WaitingMailOut,
)

_jobs = Job.__table__
_JOBS = Listing(Job, sorts=("created_at", "run_at", "kind"), filters=("state", "queue", "kind", "tenant_id"))
_MAILS = Listing(OutgoingMail, filters=("tenant_id",))
_due = _jobs.c.run_at <= sa.bindparam("now", type_=sa.Double())
_COUNTS = Statement(
    sa.select(_jobs.c.queue, _jobs.c.state, _due, sa.func.count(), sa.func.min(_jobs.c.run_at)).group_by(
        _jobs.c.queue, _jobs.c.state, _due
    ),
    heavy=True,
)
_OF_MAILS: Statement[Job] = record_statement(
    Job,
    sa.select(_jobs).where(
        _jobs.c.queue == sa.literal(SEND_MAIL.queue),
        _jobs.c.kind == sa.literal(SEND_MAIL.name),
        in_list(json_value(_jobs.c.payload, "mail_id"), "ids"),
    ),
)


async def count_queues(ctx: Context) -> list[QueueOut]:
    """Return every declared queue with the number of its jobs, those with failed ones first."""
    now = ctx.clock.time()
    names = {handler.kind.queue for handler in ctx.instance.registry.all(JobHandler)}
    counts = {name: dict.fromkeys(("waiting", "scheduled", "running", "failed"), 0) for name in names}
    oldest: dict[str, float] = {}
    for queue, state, is_due, count, first in await ctx.system(
        "those who run the instance see the jobs of every tenant"
    ).rows(_COUNTS, now=now):
        if queue in names:
            shown = QueuedJobStatus.of_state(state).value
            is_scheduled = state == "ready" and not is_due
            counts[queue]["scheduled" if is_scheduled else shown] += count
            if state == "ready" and is_due:
                oldest[queue] = max(0.0, now - first)
    queues = [QueueOut(name=name, oldest_waiting_s=oldest.get(name), **counts[name]) for name in names]
    return sorted(queues, key=lambda queue: (-queue.failed, queue.name))


async def page_of_jobs(ctx: Context, query: QueuedJobList) -> Page[QueuedJobOut]:
    return (
        await _JOBS.page(ctx.system("those who run the instance see the jobs of every tenant"), query)
    ).to_page(render_job)


def render_job(job: Job) -> QueuedJobOut:
    """Return what may be shown of a job; its payload can hold what tenants wrote."""
    return QueuedJobOut.of(
        job,
        tenant_id=job.tenant_id or None,
        status=QueuedJobStatus.of_state(job.state),
        attempts=job.attempt,
        due_at=instant_from_timestamp(job.run_at),
    )


async def retry(ctx: Context, job_id: str) -> QueuedJobOut:
    """Let a failed job run again, with all its attempts."""
    system = ctx.system("those who run the instance see the jobs of every tenant")
    job = await system.lock(Job, job_id)
    if job is None:
        raise QueuedJobNotFound
    if job.state != "dead":
        raise JobNotFailed
    if job.kind not in handlers_by_name(ctx.instance.registry.all(JobHandler)):
        raise JobNotFailed("This version does not know jobs of this kind.")
    await system.update(
        job,
        state="ready",
        attempt=0,
        interrupted=0,
        run_at=ctx.clock.time(),
        dedupe_key=None,
        worker=None,
        lease_until=None,
    )
    if job.tenant_id:
        ctx.bind_tenant(job.tenant_id)
    ctx.emit(JobRetried(job_id=job.id, kind=job.kind))
    return render_job(job)


async def page_of_mails(ctx: Context, query: WaitingMailList) -> Page[WaitingMailOut]:
    """Return mails that are not sent yet, without their texts: these hold links that sign people in."""
    system = ctx.system("those who run the instance see the jobs of every tenant")
    page = await _MAILS.page(system, query)
    found = await system.rows(_OF_MAILS, ids=list_parameter(mail.id for mail in page.items))
    jobs = {job.payload["mail_id"]: job for job in found}
    return page.to_page(lambda mail: _render_mail(ctx, mail, jobs.get(mail.id)))


async def count_mails(ctx: Context) -> tuple[int, str | None]:
    """Return how many mails wait, and since when the first of them does."""
    page = await Listing(OutgoingMail, default_sort="created_at").page(
        ctx.system("those who run the instance see the jobs of every tenant"), PageQuery(per_page=1)
    )
    return page.total, page.items[0].created_at if page.items else None


def _open_mail(ctx: Context, mail: OutgoingMail) -> Mail | None:
    """Return what is mailed; None while the vault is sealed, or if the key of this mail is gone."""
    if ctx.instance.vault.sealed_because:
        return None
    with contextlib.suppress(DecryptFailed):
        return msgspec.json.decode(mail.content.open(ctx.instance.ring), type=Mail)
    return None


def _render_mail(ctx: Context, mail: OutgoingMail, job: Job | None) -> WaitingMailOut:
    content = _open_mail(ctx, mail)
    return WaitingMailOut.of(
        mail,
        to=content.to if content else None,
        subject=content.subject if content else None,
        job_id=job.id if job else None,
        status=QueuedJobStatus.of_state(job.state) if job else None,
        attempts=job.attempt if job else 0,
        next_attempt_at=instant_from_timestamp(job.run_at) if job and job.state == "ready" else None,
        last_error=job.last_error if job else None,
    )
