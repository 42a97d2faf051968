from retinue.kit.errors import Conflict, NotFound


class WebhookNotFound(NotFound):
    """There is no such webhook."""

    code = "webhook_not_found"


class DeliveryNotFound(NotFound):
    """There is no such delivery."""

    code = "delivery_not_found"


class WebhookInactive(Conflict):
    """This webhook is not active."""

    code = "webhook_inactive"


class WebhookGone(Conflict):
    """The webhook was deleted."""

    code = "webhook_deleted"


class TooManyWebhooks(Conflict):
    """There are as many webhooks as one tenant may have."""
