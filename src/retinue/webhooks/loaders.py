from typing import Annotated

from retinue.kit.http.routing import loaded
from retinue.webhooks.errors import WebhookNotFound
from retinue.webhooks.models import Webhook

WebhookById = Annotated[Webhook, loaded(Webhook, "webhook_id", WebhookNotFound)]
