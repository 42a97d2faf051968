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


class RecipientNotAllowed(InternalError):
    """The organization does not allow mail to this address."""

    status, code = 422, "recipient_not_allowed"
    shown_in = "workflow executions"


class OutsiderLimitReached(InternalError):
    """The organization's mails to outsiders of this day are used up."""

    status, code = 422, "outsider_limit_reached"
    shown_in = "workflow executions"


class NoMailChannel(InternalError):
    """Mail to outsiders needs a mail channel. Add one under /api/v1/notification-channels."""

    status, code = 422, "no_active_channel"
    shown_in = "workflow executions"


class TooManyChannels(Conflict):
    """The tenant has the maximum number of notification channels. Delete one first."""


class DeliveryFailed(InternalError):
    """The notification was not delivered after all attempts."""

    code = "delivery_failed"
    shown_in = "notification logs"


class TooManyNotifications(RateLimited):
    """Too many notifications in a short time. Try again later."""
