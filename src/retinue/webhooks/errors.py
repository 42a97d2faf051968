from retinue.kit.errors import Conflict, InternalError, NotFound


class WebhookNotFound(NotFound):
    """There is no such webhook."""

    code = "webhook_not_found"


class DeliveryNotFound(NotFound):
    """There is no such delivery."""

    code = "delivery_not_found"


class WebhookInactive(Conflict):
    """The webhook is not active. Activate it first."""

    code = "webhook_inactive"


class WebhookGone(InternalError):
    """The webhook was deleted."""

    code = "webhook_deleted"
    shown_in = "webhook deliveries"


class TooManyWebhooks(Conflict):
    """The tenant has reached the maximum number of webhooks. Delete one first."""


DELIVERY_CODES = {
    "http_error": "The receiver answered with a status other than 2xx.",
    "internal_error": "The attempt failed unexpectedly.",
    "interrupted": "The server stopped repeatedly during the attempts.",
    "network_error": "The receiver could not be reached.",
    "output_too_large": "The headers of the receiver's response are too large.",
    "ssrf_blocked": "Outgoing calls may not go to this destination.",
    "timeout": "The receiver did not answer in time.",
    "webhook_inactive": "The webhook was deactivated before the delivery.",
}
"""The codes of failed deliveries."""
