from typing import Annotated

from retinue.incoming.errors import IncomingWebhookNotFound
from retinue.incoming.models import IncomingWebhook
from retinue.kit.http.routing import loaded

IncomingWebhookById = Annotated[
    IncomingWebhook, loaded(IncomingWebhook, "incoming_webhook_id", IncomingWebhookNotFound)
]
