from retinue.credentials.models import Credential
from retinue.kit.context import Context
from retinue.kit.events.declare import EventOccurred
from retinue.kit.events.models import EventEntry
from retinue.kit.jobs.declare import job
from retinue.providers import service as keys


@job()
async def follow_credential(ctx: Context, payload: EventOccurred) -> None:
    """A credential has other secrets: the provider keys that use it show them, and get another chance."""
    event = await ctx.db.get(EventEntry, payload.event_id)
    credential = await ctx.db.get(Credential, event.subject_id) if event else None
    if credential is not None:
        await keys.follow(ctx, credential)
