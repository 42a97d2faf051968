"""Callbacks to the `callback_url` of a job that has ended."""

import msgspec

from retinue.chat.events import ChatCompleted
from retinue.chat.models import ChatJob, JobStatus, Message
from retinue.chat.schemas import JobOut
from retinue.events.signed_messages import enqueue_signed_message
from retinue.kit.context import Context


async def enqueue_callback(unit: Context, job: ChatJob, event_id: str, reply: Message | None = None) -> None:
    """Post the job's status to its `callback_url` after the transaction that ends the job."""
    if job.callback_url is None:
        return
    ended = await unit.db.get(ChatJob, job.id)
    if ended is None:
        return
    shown = JobOut.from_record(ended, reply if ended.status is JobStatus.completed else None)
    await enqueue_signed_message(
        unit,
        url=job.callback_url,
        body=msgspec.json.encode(shown),
        event_id=event_id,
        event_type=ChatCompleted.__event__.name,
    )
