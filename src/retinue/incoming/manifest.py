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
from retinue.kit.context.search_sources import SearchSource

manifest = Manifest(
    name="incoming",
    records=(IncomingWebhook, HeldSlug, ReceivedPayload, LargePayload),
    routes=(routes, public),
    events=(IncomingWebhookCreated, IncomingWebhookUpdated, IncomingWebhookDeleted, WebhookReceived),
    jobs=JOBS,
    search_sources=(
        SearchSource(
            kind="incoming_webhook",
            requires="webhooks:read",
            record=IncomingWebhook,
            name=IncomingWebhook.__table__.c.name,
            description=IncomingWebhook.__table__.c.description,
        ),
    ),
)
