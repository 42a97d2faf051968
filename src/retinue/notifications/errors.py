from retinue.kit.errors import Conflict, RateLimited, RetinueError


class ChannelNotFound(RetinueError):
    """There is no such notification channel."""

    status, code = 404, "channel_not_found"


class NotificationNotFound(RetinueError):
    """There is no such notification."""

    status, code = 404, "notification_not_found"


class ChannelInactive(Conflict):
    """This notification channel is disabled."""

    code = "channel_inactive"


class TooManyChannels(Conflict):
    """The tenant has as many notification channels as it may have."""


class DeliveryFailed(RetinueError):
    """The notification was not delivered after every attempt."""

    status, code = 502, "delivery_failed"


class TooManyNotifications(RateLimited):
    """Too many notifications in a short period; try again later."""
