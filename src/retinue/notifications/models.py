from enum import StrEnum
from typing import Annotated

import msgspec
import sqlalchemy as sa

from retinue.credentials.models import Credential
from retinue.kit.clock import Instant
from retinue.kit.crypto import Sealed
from retinue.kit.db.models import Ref, TenantRecord, index_where, table
from retinue.kit.json_types import JsonObject
from retinue.users.models import User


class ChannelType(StrEnum):
    email = "email"
    team_chat = "team_chat"
    webhook = "webhook"
    sms = "sms"
    in_app = "in_app"


RECIPIENT_KEYS = {ChannelType.email: ("to_email", "to"), ChannelType.sms: ("to_number", "to")}
"""Keys of a channel's configuration that name a fixed recipient, the preferred one first."""


@table(
    "notification_channels",
    prefix="nch",
    indexes=[("tenant_id", "type", "priority", "created_at"), ("tenant_id", "credential_id")],
)
class Channel(TenantRecord, kw_only=True):
    """A configured provider for notifications.

    `config` may be shown. `secrets` are sealed and bound to `destination`, unless a credential replaces them.
    Among channels of one type, the lowest `priority` is used first.
    """

    name: str
    type: ChannelType
    provider: str
    config: JsonObject
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


class DeliveryContent(msgspec.Struct, kw_only=True):
    """The content for any kind of provider; it is deleted once the delivery ends."""

    text: str
    html: str | None = None
    data: JsonObject = {}


@table(
    "notification_deliveries",
    prefix="ndl",
    time_ordered_ids=True,
    indexes=[("tenant_id", "channel_id", "created_at"), ("created_at",)],
    # An explicit name: PostgreSQL would truncate the default one.
    extra=lambda made: sa.Index(
        "ix_notification_deliveries_status",
        made.c.tenant_id,
        made.c.channel_id,
        made.c.status,
        made.c.created_at,
    ),
)
class Delivery(TenantRecord, kw_only=True):
    """A notification sent through one channel, and its entry in the channel's log.

    With `may_fall_back`, the next channel of the type tries when this one gives up; `tried` lists those that
    did. `bucket` is the statistics hour of its creation.
    """

    channel_id: Annotated[str, Ref(Channel, cascade=True)]
    status: ChannelLogStatus = ChannelLogStatus.pending
    type: str
    subject: str
    recipient: str
    user_id: str | None = None
    content: DeliveryContent | None = None
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
    conversation_ids: list[str] | None = None
    """The conversations it quotes (ADR 21)."""


@table(
    "notification_totals",
    prefix="ntt",
    unique=[("tenant_id", "channel_id", "bucket")],
    indexes=[("tenant_id", "bucket")],
)
class ChannelTotals(TenantRecord, kw_only=True):
    """The hourly totals of a channel. They outlive the channel and its log.

    `delivered` and `failed` count in the hour in which the delivery was created, so `accepted` minus both is
    the number pending.
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
    time_ordered_ids=True,
    unique=[("tenant_id", "user_id", "number")],
    indexes=[("tenant_id", "user_id", "type", "number"), ("created_at",)],
    extra=index_where("is_unread", "tenant_id", "user_id", "number"),
)
class UserNotification(TenantRecord, kw_only=True):
    """A notification of a user; `number` counts the user's notifications in order and without gaps."""

    user_id: Annotated[str, Ref(User, cascade=True)]
    number: int
    type: str
    title: str
    message: str
    data: JsonObject
    priority: Priority = Priority.normal
    action_url: str | None = None
    correlation_id: str = ""
    is_unread: bool = True
    read_at: Instant | None = None
    conversation_ids: list[str] | None = None
    """The conversations it quotes (ADR 21)."""

    @property
    def read(self) -> bool:
        return not self.is_unread


@table("notification_inboxes", prefix="nbx", unique=[("tenant_id", "user_id")], indexes=[("updated_at",)])
class Inbox(TenantRecord, kw_only=True):
    """The counts of a user's notifications, so that nobody counts rows; every change increments `version`.

    Writers of a user's notifications lock this row, so that numbers become visible in order.
    """

    user_id: Annotated[str, Ref(User, cascade=True)]
    last_number: int = 0
    total: int = 0
    unread: int = 0
    version: int = 0


class Ways(msgspec.Struct, kw_only=True):
    """The channels by which a user receives one type of notification."""

    in_app: bool = True
    email: bool = False
    team_chat: bool = False


@table("notification_preferences", prefix="npr", unique=[("tenant_id", "user_id")])
class Preferences(TenantRecord, kw_only=True):
    """A user's own choices; types without one use the defaults."""

    user_id: Annotated[str, Ref(User, cascade=True)]
    ways: dict[str, Ways]


@table("notification_keys", prefix="nky", unique=[("tenant_id", "user_id", "key")], indexes=[("seen_at",)])
class DedupeKey(TenantRecord, kw_only=True):
    """Records that a user was notified under this key, which suppresses repeats for a day."""

    user_id: Annotated[str, Ref(User, cascade=True)]
    key: str
    seen_at: Instant


@table("notification_outsider_mails", prefix="nom", unique=[("tenant_id", "day")])
class OutsiderMailCount(TenantRecord, kw_only=True):
    """How many mails went to people outside the tenant on a day (UTC)."""

    day: str
    mails: int
