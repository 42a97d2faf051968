from retinue.incoming.events import (
    IncomingWebhookCreated,
    IncomingWebhookDeleted,
    IncomingWebhookUpdated,
    WebhookReceived,
)
from retinue.incoming.jobs import sweep_received_payloads
from retinue.incoming.models import HeldSlug, IncomingWebhook, LargePayload, ReceivedPayload
from retinue.incoming.routes import public, routes
from retinue.incoming.service import erase_received
from retinue.incoming.triggering import trigger_received
from retinue.kit.manifest import Manifest

manifest = Manifest(
    name="incoming",
    records=(IncomingWebhook, HeldSlug, ReceivedPayload, LargePayload),
    routes=(routes, public),
    events=(IncomingWebhookCreated, IncomingWebhookUpdated, IncomingWebhookDeleted, WebhookReceived),
    jobs=(trigger_received, erase_received, sweep_received_payloads),
)
