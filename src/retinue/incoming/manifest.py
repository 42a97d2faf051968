from retinue.incoming.events import (
    IncomingWebhookCreated,
    IncomingWebhookDeleted,
    IncomingWebhookUpdated,
    WebhookReceived,
)
from retinue.incoming.jobs import JOBS
from retinue.incoming.models import HeldSlug, IncomingWebhook, LargePayload, ReceivedPayload
from retinue.incoming.routes import public, routes
from retinue.kit.context.manifest import Manifest

manifest = Manifest(
    name="incoming",
    records=(IncomingWebhook, HeldSlug, ReceivedPayload, LargePayload),
    routes=(routes, public),
    events=(IncomingWebhookCreated, IncomingWebhookUpdated, IncomingWebhookDeleted, WebhookReceived),
    jobs=JOBS,
)
