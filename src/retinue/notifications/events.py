from typing import Any, Self

from retinue.kit.events.declare import Event, event

_EXAMPLE = {"channel_id": "nch_…", "name": "Alerts", "type": "team_chat", "provider": "slack_webhook"}


class ChannelEvent(Event, kw_only=True):
    """Base of the channel events.

    The name is stored, so that it can be shown after the channel is deleted.
    """

    channel_id: str
    name: str
    type: str
    provider: str

    @classmethod
    def about(cls, channel: Any, **more: Any) -> Self:
        return cls(
            channel_id=channel.id, name=channel.name, type=channel.type, provider=channel.provider, **more
        )


@event("system.channel.created", subject="channel_id", audited=True, example=_EXAMPLE)
class ChannelCreated(ChannelEvent, kw_only=True):
    """A notification channel was created."""


@event(
    "system.channel.updated",
    subject="channel_id",
    audited=True,
    example={**_EXAMPLE, "changed": ["config"], "destination": ""},
)
class ChannelUpdated(ChannelEvent, kw_only=True):
    """A notification channel was changed; `destination` is where its secrets may be sent."""

    changed: list[str]
    destination: str


@event("system.channel.deleted", subject="channel_id", audited=True, example=_EXAMPLE)
class ChannelDeleted(ChannelEvent, kw_only=True):
    """A notification channel and its delivery log were deleted."""


@event(
    "system.channel.revealed",
    subject="channel_id",
    audited=True,
    listed=False,
    example={**_EXAMPLE, "keys": ["webhook_url"]},
)
class ChannelRevealed(ChannelEvent, kw_only=True):
    """Someone read the secrets of a notification channel."""

    keys: list[str]


@event(
    "system.channel.failed",
    subject="channel_id",
    content=("message",),
    example={
        **_EXAMPLE,
        "delivery_id": "ndl_…",
        "code": "delivery_failed",
        "message": "The provider answered 500.",
        "attempts": 3,
        "fallback_channel_id": None,
    },
)
class ChannelFailed(ChannelEvent, kw_only=True):
    """A channel could not deliver a notification; `fallback_channel_id` is the channel tried next."""

    delivery_id: str
    code: str
    message: str
    attempts: int
    fallback_channel_id: str | None
