from retinue.kit.errors import Conflict, NotFound, RateLimited, Unauthorized


class IncomingWebhookNotFound(NotFound):
    """There is no such incoming webhook."""

    code = "webhook_not_found"


class ReceivedNotFound(NotFound):
    """There is no such received payload."""

    code = "event_not_found"


class IncomingSlugTaken(Conflict):
    """The slug is taken. Choose another one, or omit it to get a random one."""

    code = "slug_taken"


class IncomingWebhookInactive(Conflict):
    """The incoming webhook is not active. Activate it first."""

    code = "webhook_inactive"


class PayloadQueueFull(RateLimited):
    """Too many payloads of this webhook are waiting for their workflow. Try again later."""


class SignatureRefused(Unauthorized):
    """The signature of the payload is missing, wrong or too old. Sign the payload again."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(reason, message)
        self.headers = {"WWW-Authenticate": "Signature"}
