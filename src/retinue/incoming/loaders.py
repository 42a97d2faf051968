from typing import Annotated

from retinue.incoming.errors import IncomingWebhookNotFound
from retinue.incoming.models import IncomingWebhook
from retinue.kit.http.routing import path_loader

IncomingWebhookById = Annotated[
    IncomingWebhook, path_loader(IncomingWebhook, "incoming_webhook_id", IncomingWebhookNotFound)
]
