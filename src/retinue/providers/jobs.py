from retinue.credentials.models import Credential
from retinue.kit.context import Context
from retinue.kit.events.declare import EventOccurred
from retinue.kit.events.models import EventEntry
from retinue.kit.jobs.declare import implement
from retinue.providers import service as keys
from retinue.providers.job_kinds import FOLLOW_CREDENTIAL


async def follow_credential(ctx: Context, payload: EventOccurred) -> None:
    """Update the provider keys that use a changed credential, and treat them as valid again."""
    event = await ctx.db.get(EventEntry, payload.event_id)
    credential = await ctx.db.get(Credential, event.subject_id) if event else None
    if credential is not None:
        await keys.refresh_credential(ctx, credential)


JOBS = (implement(FOLLOW_CREDENTIAL, follow_credential),)
