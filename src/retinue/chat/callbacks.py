"""Telling whoever left an address that a job has ended."""

import msgspec

from retinue.chat.events import ChatCompleted
from retinue.chat.models import ChatJob, JobStatus, Message
from retinue.chat.schemas import JobOut
from retinue.events.posting import post_signed
from retinue.kit.context import Context


async def call_back(unit: Context, job: ChatJob, event_id: str, reply: Message | None = None) -> None:
    """In the transaction that ends the job: what its status says is posted to its `callback_url`."""
    if job.callback_url is None:
        return
    ended = await unit.db.get(ChatJob, job.id)
    if ended is None:
        return
    shown = JobOut.shown(ended, reply if ended.status is JobStatus.completed else None)
    await post_signed(
        unit,
        url=job.callback_url,
        body=msgspec.json.encode(shown),
        event_id=event_id,
        event_type=ChatCompleted.__event__.name,
    )
