from retinue.kit.context.manifest import Manifest
from retinue.kit.context.process_state import ProcessState
from retinue.kit.context.search_sources import SearchSource
from retinue.webhooks.actions import ACTION
from retinue.webhooks.delivery.loader import DeliveryLoader
from retinue.webhooks.delivery.router import ROUTER
from retinue.webhooks.events import (
    WebhookCreated,
    WebhookDeleted,
    WebhookDisabled,
    WebhookSecretRotated,
    WebhookUpdated,
)
from retinue.webhooks.jobs import JOBS
from retinue.webhooks.models import Webhook, WebhookAttempt, WebhookDelivery, WebhookHour, WebhookMessage
from retinue.webhooks.routes import routes

manifest = Manifest(
    name="webhooks",
    records=(Webhook, WebhookMessage, WebhookDelivery, WebhookAttempt, WebhookHour),
    routes=(routes,),
    events=(WebhookCreated, WebhookUpdated, WebhookDeleted, WebhookSecretRotated, WebhookDisabled),
    jobs=JOBS,
    routers=(ROUTER,),
    actions=(ACTION,),
    config_schemas=(ACTION.config_schema,),
    process_state=(ProcessState(DeliveryLoader, DeliveryLoader),),
    search_sources=(
        SearchSource(
            kind="webhook",
            requires="webhooks:read",
            record=Webhook,
            name=Webhook.__table__.c.url,
            description=Webhook.__table__.c.description,
        ),
    ),
)
