from retinue.kit.errors import Conflict, InternalError, RateLimited, RetinueError


class ChannelNotFound(RetinueError):
    """There is no such notification channel."""

    status, code = 404, "channel_not_found"


class NotificationNotFound(RetinueError):
    """There is no such notification."""

    status, code = 404, "notification_not_found"


class ChannelInactive(Conflict):
    """This notification channel is disabled. Activate it first."""

    code = "channel_inactive"


class NotificationNotSent(InternalError):
    """The notification was not sent to anyone."""

    status = 409


class TooManyChannels(Conflict):
    """The tenant has the maximum number of notification channels. Delete one first."""


class DeliveryFailed(InternalError):
    """The notification was not delivered after all attempts."""

    code = "delivery_failed"
    shown_in = "notification logs"


class TooManyNotifications(RateLimited):
    """Too many notifications in a short time. Try again later."""
