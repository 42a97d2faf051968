from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, UnsetType

from retinue.access.models import Role
from retinue.kit.json_types import JsonObject
from retinue.kit.lists import PageQuery
from retinue.kit.schema.base import Name, Schema
from retinue.kit.schema.messages import PatternMessage
from retinue.notifications.models import (
    ChannelLogStatus,
    ChannelType,
    Delivery,
    Priority,
    UserNotification,
    Ways,
)
from retinue.notifications.notification import (
    MAX_MESSAGE_LENGTH,
    MAX_TITLE_LENGTH,
    AcceptedDelivery,
    SkippedChannel,
)

Period = Literal["24h", "7d", "14d", "30d", "90d"]

MAX_RECIPIENTS = 1000

# One visible line: a title becomes the subject of mails. Blanks are spelled out, as in `Name`.
_BREAKS = r"\x00-\x1f\x7f-\x9f\u2028\u2029"
_ONE_LINE = rf"^[^{_BREAKS}]*[^\s{_BREAKS}\ufeff][^{_BREAKS}]*$(?!\n)"
Title = Annotated[
    str,
    Meta(min_length=1, max_length=MAX_TITLE_LENGTH, pattern=_ONE_LINE),
    PatternMessage("must be one line and not blank"),
]
Text = Annotated[str, Meta(max_length=MAX_MESSAGE_LENGTH)]
Type = Annotated[
    str,
    Meta(pattern=r"^[a-z][a-z0-9_.]{0,63}$(?!\n)"),
    PatternMessage(
        "must be at most 64 lowercase letters, digits, dots or underscores, beginning with a letter"
    ),
]
Id = Annotated[str, Meta(min_length=1, max_length=64)]
Order = Annotated[int, Meta(ge=0, le=1_000_000)]
# A path or a web URL; schemes that a browser would execute are excluded.
Address = Annotated[
    str,
    Meta(max_length=2048, pattern=r"^(https?://|/)[^\s\x00-\x1f\x7f]*$(?!\n)"),
    PatternMessage("must be a URL that begins with https://, http:// or /"),
]


class ConfigKeyOut(Schema, kw_only=True, omit_defaults=True):
    """`secret` is present only if it is true; `default` and `choices` only where the key has them."""

    type: str
    required: bool
    secret: bool | UnsetType = UNSET
    default: Any = UNSET
    choices: list[str] | UnsetType = UNSET


class NotificationProvider(Schema, kw_only=True):
    id: str
    type: ChannelType
    name: str
    config_schema: dict[str, ConfigKeyOut]


class NotificationProviders(Schema, kw_only=True):
    providers: list[NotificationProvider]


class ChannelSummary(Schema, kw_only=True):
    id: str
    name: str
    type: ChannelType
    provider: str
    active: bool
    priority: int
    last_used_at: str | None
    last_error: str | None
    created_at: str


class ChannelList(Schema, kw_only=True):
    data: list[ChannelSummary]
    total: int


class ChannelOut(ChannelSummary, kw_only=True):
    """Secret values of `config` are masked."""

    config: JsonObject
    updated_at: str


class ChannelFilter(Schema, kw_only=True):
    type: ChannelType | None = None
    active: bool | None = None


class ChannelCreate(Schema, kw_only=True):
    """`provider` and `config` are required unless the type is `in_app`."""

    name: Name
    type: ChannelType
    provider: Annotated[str, Meta(min_length=1, max_length=64)] | None = None
    config: JsonObject | None = None
    active: bool = True
    priority: Order = 0


class ChannelUpdate(Schema, kw_only=True):
    """`config` is merged by key: the mask keeps a secret, null removes a key."""

    name: Name | UnsetType = UNSET
    type: ChannelType | UnsetType = UNSET
    provider: Annotated[str, Meta(min_length=1, max_length=64)] | UnsetType = UNSET
    config: JsonObject | UnsetType = UNSET
    active: bool | UnsetType = UNSET
    priority: Order | UnsetType = UNSET


class ChannelRevealedOut(Schema, kw_only=True):
    id: str
    config: JsonObject


class ChannelTested(Schema, kw_only=True):
    success: bool
    message: str
    delivery_time_ms: int


class ChannelLogQuery(PageQuery, kw_only=True):
    status: ChannelLogStatus | None = None


class ChannelLogOut(Schema, kw_only=True):
    """`error` is the provider's last error; `fallback_of` is the entry of the channel that gave up.

    `redacted` is true if subject and error were removed because they quote a conversation the caller may not
    read.
    """

    id: str
    channel_id: str
    status: ChannelLogStatus
    subject: str | None
    recipient: str
    delivery_time_ms: int | None
    type: str
    attempts: int
    error_code: str | None
    error: str | None
    fallback_of: str | None
    is_test: bool
    created_at: str
    completed_at: str | None
    redacted: bool | UnsetType = UNSET

    @classmethod
    def from_record(cls, delivery: Delivery, *, is_readable: bool) -> "ChannelLogOut":
        if is_readable:
            return cls.of(delivery, redacted=UNSET)
        return cls.of(delivery, subject=None, error=None, redacted=True)


class ChannelLogPage(Schema, kw_only=True):
    data: list[ChannelLogOut]
    total: int
    page: int
    per_page: int


class PeriodQuery(Schema, kw_only=True):
    period: Period = "7d"


class AllStatsQuery(PeriodQuery, kw_only=True):
    """`include=channels` adds the figures of each channel."""

    include: Literal["channels"] | None = None


class DeliveryCounts(Schema, kw_only=True):
    """`success_rate` is a percentage of the deliveries that have ended."""

    total_sent: int
    delivered: int
    failed: int
    success_rate: float
    avg_delivery_time_ms: int


class ChannelStats(DeliveryCounts, kw_only=True):
    channel_id: str
    period: Period
    pending: int
    last_delivery_at: str | None


class DeliveriesOfDay(Schema, kw_only=True):
    date: str
    total_sent: int
    delivered: int
    failed: int


class DeliveriesOfChannel(DeliveryCounts, kw_only=True):
    channel_id: str
    pending: int
    last_delivery_at: str | None
    by_day: list[DeliveriesOfDay]


class AllChannelStats(DeliveryCounts, kw_only=True):
    """`by_channel` is there with `include=channels`; channels without deliveries are left out."""

    period: Period
    total_channels: int
    active_channels: int
    pending: int
    by_channel: list[DeliveriesOfChannel] | UnsetType = UNSET


class DeliveriesOfType(DeliveryCounts, kw_only=True):
    type: ChannelType


class DeliveriesOfProvider(DeliveryCounts, kw_only=True):
    provider: str


class ChannelBreakdown(Schema, kw_only=True):
    period: Period
    by_type: list[DeliveriesOfType]
    by_provider: list[DeliveriesOfProvider]
    by_period: list[DeliveriesOfDay]


class NotificationOut(Schema, kw_only=True):
    """`redacted` is true if the text was removed: it quotes a conversation the user may not read."""

    id: str
    type: str
    title: str | None
    message: str | None
    read: bool
    data: JsonObject
    read_at: str | None
    priority: Priority
    action_url: str | None
    correlation_id: str
    redacted: bool | UnsetType = UNSET
    created_at: str

    @classmethod
    def from_record(cls, notification: UserNotification, *, is_readable: bool) -> "NotificationOut":
        if is_readable:
            return cls.of(notification, redacted=UNSET)
        return cls.of(notification, title=None, message=None, data={}, action_url=None, redacted=True)


class NotificationPage(Schema, kw_only=True):
    data: list[NotificationOut]
    total: int
    unread: int
    page: int
    per_page: int


class NotificationQuery(PageQuery, kw_only=True):
    read: bool | None = None
    type: Type | None = None


class UnreadCount(Schema, kw_only=True):
    count: int


class MarkedRead(Schema, kw_only=True):
    id: str
    read: bool
    read_at: str

    @classmethod
    def from_record(cls, notification: UserNotification) -> "MarkedRead":
        return cls(id=notification.id, read=True, read_at=notification.read_at or "")


class ReadAll(Schema, kw_only=True):
    """Without `type` and `before`, all notifications are marked."""

    type: Type | None = None
    before: Annotated[str, Meta(max_length=40)] | None = None


class MarkedAllRead(Schema, kw_only=True):
    message: str
    updated: int


class PreferencesOut(Schema, kw_only=True):
    preferences: dict[str, Ways]


class WaysUpdate(Schema, kw_only=True):
    in_app: bool | UnsetType = UNSET
    email: bool | UnsetType = UNSET
    team_chat: bool | UnsetType = UNSET


class PreferencesUpdate(Schema, kw_only=True):
    preferences: Annotated[dict[Type, WaysUpdate], Meta(max_length=200)]


class NotificationTest(Schema, kw_only=True):
    channel_type: ChannelType = ChannelType.in_app
    message: Annotated[str, Meta(max_length=1000)] = ""


class NotificationTested(Schema, kw_only=True):
    success: bool
    channel_type: ChannelType
    message: str
    delivery_time_ms: int


class NotificationSend(Schema, kw_only=True):
    """`channels` are channel types or ids; without them, the users' preferences decide."""

    type: Type = "manual"
    title: Title
    message: Text = ""
    data: JsonObject = {}
    priority: Priority = Priority.normal
    action_url: Address | None = None
    user_ids: Annotated[list[Id], Meta(max_length=MAX_RECIPIENTS)] = []
    roles: Annotated[list[Role], Meta(max_length=20)] = []
    all: bool = False
    channels: Annotated[list[Id], Meta(max_length=20)] = []
    dedupe_key: Annotated[str, Meta(max_length=200)] = ""


class NotificationsSent(Schema, kw_only=True):
    """`created` counts in-app notifications; each delivery has an entry in its channel's log.

    `skipped` lists chosen channel types to which nothing was sent, with the reason.
    """

    created: int
    notification_ids: list[str]
    deliveries: list[AcceptedDelivery]
    skipped: list[SkippedChannel]
