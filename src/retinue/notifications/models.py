from enum import StrEnum
from typing import Annotated, Any

import msgspec
import sqlalchemy as sa

from retinue.credentials.models import Credential
from retinue.kit.clock import Instant
from retinue.kit.crypto import Sealed
from retinue.kit.db.models import Ref, TenantRecord, index_where, table
from retinue.users.models import User


class ChannelType(StrEnum):
    email = "email"
    team_chat = "team_chat"
    webhook = "webhook"
    sms = "sms"
    in_app = "in_app"


@table(
    "notification_channels",
    prefix="nch",
    indexes=[("tenant_id", "type", "priority", "created_at"), ("tenant_id", "credential_id")],
)
class Channel(TenantRecord, kw_only=True):
    """A way out for notifications: a provider and how to use it.

    `config` is what may be shown; `secrets` is the rest of it, entered for `destination`, unless a credential
    of the vault stands in for it. Of one type, the channel with the lowest `priority` comes first.
    """

    name: str
    type: ChannelType
    provider: str
    config: dict[str, Any]
    secrets: Sealed | None = None
    secret_keys: list[str]
    credential_id: Annotated[str, Ref(Credential)] | None = None
    destination: str = ""
    is_active: bool = True
    priority: int = 0
    last_used_at: Instant | None = None
    last_error: str | None = None
    created_by: str


class ChannelLogStatus(StrEnum):
    pending = "pending"
    delivered = "delivered"
    failed = "failed"


class Content(msgspec.Struct, kw_only=True):
    """What is sent, for whichever kind of provider; it is forgotten once it was."""

    text: str
    html: str | None = None
    data: dict[str, Any] = {}


@table(
    "notification_deliveries",
    prefix="ndl",
    led_by_time=True,
    indexes=[("tenant_id", "channel_id", "created_at"), ("created_at",)],
    # Named by hand: PostgreSQL would cut off the end of the usual name.
    extra=lambda made: sa.Index(
        "ix_notification_deliveries_status",
        made.c.tenant_id,
        made.c.channel_id,
        made.c.status,
        made.c.created_at,
    ),
)
class Delivery(TenantRecord, kw_only=True):
    """One notification on its way through one channel, and the channel's log of it.

    One that may `fall_back` is tried by the next channel of the type when its own gives up; `tried` are the
    channels that did. Its time is counted in the `bucket` of the statistics in which it was asked for.
    """

    channel_id: Annotated[str, Ref(Channel, cascade=True)]
    status: ChannelLogStatus = ChannelLogStatus.pending
    type: str
    subject: str
    recipient: str
    user_id: str | None = None
    content: Content | None = None
    may_fall_back: bool = False
    tried: list[str]
    fallback_of: str | None = None
    is_test: bool = False
    attempts: int = 0
    delivery_time_ms: int | None = None
    error_code: str | None = None
    error: str | None = None
    bucket: str
    completed_at: Instant | None = None


@table(
    "notification_totals",
    prefix="ntt",
    unique=[("tenant_id", "channel_id", "bucket")],
    indexes=[("tenant_id", "bucket")],
)
class ChannelTotals(TenantRecord, kw_only=True):
    """What one channel was given within one hour, and what became of it; it outlives channel and log.

    `delivered` and `failed` are counted in the hour in which the delivery was asked for, so what is missing
    from `accepted` is pending.
    """

    channel_id: str
    type: ChannelType
    provider: str
    bucket: str
    accepted: int = 0
    delivered: int = 0
    failed: int = 0
    time_ms: int = 0
    last_delivery_at: Instant | None = None


class Priority(StrEnum):
    low = "low"
    normal = "normal"
    high = "high"


@table(
    "user_notifications",
    prefix="ntf",
    led_by_time=True,
    unique=[("tenant_id", "user_id", "number")],
    indexes=[("tenant_id", "user_id", "type", "number"), ("created_at",)],
    extra=index_where("is_unread", "tenant_id", "user_id", "number"),
)
class UserNotification(TenantRecord, kw_only=True):
    """Something a user was told; `number` counts what this user was told, without gaps and in order."""

    user_id: Annotated[str, Ref(User, cascade=True)]
    number: int
    type: str
    title: str
    message: str
    data: dict[str, Any]
    priority: Priority = Priority.normal
    action_url: str | None = None
    correlation_id: str = ""
    is_unread: bool = True
    read_at: Instant | None = None

    @property
    def read(self) -> bool:
        return not self.is_unread


@table("notification_inboxes", prefix="nbx", unique=[("tenant_id", "user_id")], indexes=[("updated_at",)])
class Inbox(TenantRecord, kw_only=True):
    """How many notifications a user has, so that nobody counts them; `version` moves with every change.

    Whoever changes a user's notifications holds this row, so their numbers become visible in order.
    """

    user_id: Annotated[str, Ref(User, cascade=True)]
    last_number: int = 0
    total: int = 0
    unread: int = 0
    version: int = 0


class Ways(msgspec.Struct, kw_only=True):
    """By which ways a user hears of one type of notification."""

    in_app: bool = True
    email: bool = False
    team_chat: bool = False


@table("notification_preferences", prefix="npr", unique=[("tenant_id", "user_id")])
class Preferences(TenantRecord, kw_only=True):
    """What a user chose; every other type is as the defaults say."""

    user_id: Annotated[str, Ref(User, cascade=True)]
    ways: dict[str, Ways]


@table("notification_keys", prefix="nky", unique=[("tenant_id", "user_id", "key")], indexes=[("seen_at",)])
class SeenKey(TenantRecord, kw_only=True):
    """That a user was told something under this key, so that it is not said again for a day."""

    user_id: Annotated[str, Ref(User, cascade=True)]
    key: str
    seen_at: Instant
