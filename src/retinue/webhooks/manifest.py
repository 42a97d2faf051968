from retinue.kit.manifest import Manifest
from retinue.webhooks.actions import ACTION
from retinue.webhooks.deliveries import replay_deliveries
from retinue.webhooks.delivering import deliver_webhook
from retinue.webhooks.disabling import disable_webhook
from retinue.webhooks.events import (
    WebhookCreated,
    WebhookDeleted,
    WebhookDisabled,
    WebhookSecretRotated,
    WebhookUpdated,
)
from retinue.webhooks.jobs import forget_old_deliveries, give_up_lost_deliveries
from retinue.webhooks.models import Webhook, WebhookAttempt, WebhookDelivery, WebhookHour, WebhookMessage
from retinue.webhooks.routes import routes
from retinue.webhooks.routing import ROUTER

manifest = Manifest(
    name="webhooks",
    records=(Webhook, WebhookMessage, WebhookDelivery, WebhookAttempt, WebhookHour),
    routes=(routes,),
    events=(WebhookCreated, WebhookUpdated, WebhookDeleted, WebhookSecretRotated, WebhookDisabled),
    jobs=(
        deliver_webhook,
        disable_webhook,
        replay_deliveries,
        forget_old_deliveries,
        give_up_lost_deliveries,
    ),
    routers=(ROUTER,),
    actions=(ACTION,),
)
