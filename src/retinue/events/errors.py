from retinue.kit.errors import Conflict, InternalError, NotFound


class EventTypeNotFound(NotFound):
    """There is no such event type."""

    code = "event_type_not_found"


class EventNotFound(NotFound):
    """There is no such event in the log."""

    code = "event_not_found"


class SubscriptionNotFound(NotFound):
    """There is no such subscription."""

    code = "subscription_not_found"


class TooManySubscriptions(Conflict):
    """The tenant has reached the maximum number of subscriptions. Delete one first."""


class SubscribedWorkflowNotFound(InternalError):
    """There is no such workflow."""

    status = 404


class ActionUnknown(InternalError):
    """This instance does not support the action."""

    status = 422


class MessageRefused(InternalError):
    """The receiver did not accept the message."""
