from retinue.kit.errors import Conflict, NotFound, RetinueError


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
    """There are as many subscriptions as one tenant may have."""


class WorkflowNotFound(NotFound):
    """There is no such workflow."""

    code = "workflow_not_found"


class ActionUnknown(RetinueError):
    """Nothing here performs this action."""

    status, code = 422, "action_unknown"


class MessageRefused(RetinueError):
    """The receiver did not accept the message."""

    status, code = 502, "message_refused"
