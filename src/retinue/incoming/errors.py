from retinue.kit.errors import Conflict, NotFound, RateLimited, Unauthorized


class IncomingWebhookNotFound(NotFound):
    """There is no such incoming webhook."""

    code = "webhook_not_found"


class ReceivedNotFound(NotFound):
    """There is no such received payload."""

    code = "event_not_found"


class IncomingSlugTaken(Conflict):
    """This slug is taken; choose another one, or none to get a random one."""

    code = "slug_taken"


class IncomingWebhookInactive(Conflict):
    """This incoming webhook is switched off."""

    code = "webhook_inactive"


class TooMuchWaiting(RateLimited):
    """Too many payloads of this webhook wait for their workflow; try again later."""


class SignatureRefused(Unauthorized):
    """The signature of the payload is missing, wrong or too old."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(reason, message)
        self.headers = {"WWW-Authenticate": "Signature"}
