from retinue.kit.events.declare import Event, event

_EXAMPLE = {"subscription_id": "sub_…", "event_type": "form.submission.created", "action_type": "workflow"}


@event("system.test", subject="", example={"message": "Hello"})
class Tested(Event, kw_only=True):
    """A test event, sent to check whether events arrive."""

    message: str | None = None


class SubscriptionEvent(Event, kw_only=True):
    subscription_id: str
    event_type: str
    action_type: str


@event("system.subscription.created", subject="subscription_id", audited=True, example=_EXAMPLE)
class SubscriptionCreated(SubscriptionEvent, kw_only=True):
    """A subscription was created."""


@event(
    "system.subscription.updated",
    subject="subscription_id",
    audited=True,
    example={**_EXAMPLE, "changed": ["active"]},
)
class SubscriptionUpdated(SubscriptionEvent, kw_only=True):
    """A subscription was changed, paused or resumed."""

    changed: list[str]


@event("system.subscription.deleted", subject="subscription_id", audited=True, example=_EXAMPLE)
class SubscriptionDeleted(SubscriptionEvent, kw_only=True):
    """A subscription was deleted."""


@event("system.signing_secret.revealed", subject="secret_id", audited=True, listed=False)
class SigningSecretRevealed(Event, kw_only=True):
    """Someone read the tenant's signing secret."""

    secret_id: str


@event(
    "system.signing_secret.rotated",
    subject="secret_id",
    audited=True,
    example={"secret_id": "sgn_…", "previous_until": "2026-11-16T08:30:00.000000Z"},
)
class SigningSecretRotated(Event, kw_only=True):
    """The tenant's signing secret was replaced; the previous one also signs until `previous_until`."""

    secret_id: str
    previous_until: str
