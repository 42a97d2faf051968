from typing import Annotated

from retinue.kit.http.routing import path_loader
from retinue.webhooks.errors import WebhookNotFound
from retinue.webhooks.models import Webhook

WebhookById = Annotated[Webhook, path_loader(Webhook, "webhook_id", WebhookNotFound)]
