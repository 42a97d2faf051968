from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, UnsetType

from retinue.access.models import Role
from retinue.kit.lists import PageQuery
from retinue.kit.schemas import Name, Schema
from retinue.notifications.models import ChannelLogStatus, ChannelType, Priority, UserNotification, Ways
from retinue.notifications.words import LONGEST_MESSAGE, LONGEST_TITLE, AcceptedDelivery

Period = Literal["24h", "7d", "30d", "90d"]

MOST_RECIPIENTS = 1000

# One line that one can see: a title becomes the subject of mails. Its blanks are spelled out, as in `Name`.
_BREAKS = r"\x00-\x1f\x7f-\x9f\u2028\u2029"
_ONE_LINE = rf"^[^{_BREAKS}]*[^\s{_BREAKS}\ufeff][^{_BREAKS}]*$(?!\n)"
Title = Annotated[str, Meta(min_length=1, max_length=LONGEST_TITLE, pattern=_ONE_LINE)]
Text = Annotated[str, Meta(max_length=LONGEST_MESSAGE)]
Type = Annotated[str, Meta(pattern=r"^[a-z][a-z0-9_.]{0,63}$(?!\n)")]
Id = Annotated[str, Meta(min_length=1, max_length=64)]
Order = Annotated[int, Meta(ge=0, le=1_000_000)]
# A page of ours or of someone else's, and nothing a browser would run.
Address = Annotated[str, Meta(max_length=2048, pattern=r"^(https?://|/)[^\s\x00-\x1f\x7f]*$(?!\n)")]


class ConfigKeyOut(Schema, kw_only=True, omit_defaults=True):
    """`secret` is there only where it is true; so are what else is known of the key."""

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
    created_at: str


class ChannelList(Schema, kw_only=True):
    data: list[ChannelSummary]
    total: int


class ChannelOut(ChannelSummary, kw_only=True):
    """Of secret values of `config` only is shown that they are there."""

    config: dict[str, Any]
    priority: int
    last_used_at: str | None
    last_error: str | None
    updated_at: str


class ChannelFilter(Schema, kw_only=True):
    type: ChannelType | None = None
    active: bool | None = None


class ChannelCreate(Schema, kw_only=True):
    """Of the type `in_app` neither a provider nor a config is needed."""

    name: Name
    type: ChannelType
    provider: Annotated[str, Meta(min_length=1, max_length=64)] | None = None
    config: dict[str, Any] | None = None
    active: bool = True
    priority: Order = 0


class ChannelUpdate(Schema, kw_only=True):
    """`config` is merged by key: the mask leaves a secret as it is, null removes a key."""

    name: Name | UnsetType = UNSET
    type: ChannelType | UnsetType = UNSET
    provider: Annotated[str, Meta(min_length=1, max_length=64)] | UnsetType = UNSET
    config: dict[str, Any] | UnsetType = UNSET
    active: bool | UnsetType = UNSET
    priority: Order | UnsetType = UNSET


class ChannelRevealed(Schema, kw_only=True):
    id: str
    config: dict[str, Any]


class ChannelTested(Schema, kw_only=True):
    success: bool
    message: str
    delivery_time_ms: int


class ChannelLogQuery(PageQuery, kw_only=True):
    status: ChannelLogStatus | None = None


class ChannelLogOut(Schema, kw_only=True):
    """`error` is what the provider said last; `fallback_of` is the entry of the channel that gave up."""

    id: str
    channel_id: str
    status: ChannelLogStatus
    subject: str
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


class ChannelLogPage(Schema, kw_only=True):
    data: list[ChannelLogOut]
    total: int
    page: int
    per_page: int


class PeriodQuery(Schema, kw_only=True):
    period: Period = "7d"


class DeliveryCounts(Schema, kw_only=True):
    """`success_rate` is in percent of what has ended."""

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


class AllChannelStats(DeliveryCounts, kw_only=True):
    period: Period
    total_channels: int
    active_channels: int
    pending: int


class DeliveriesOfType(DeliveryCounts, kw_only=True):
    type: ChannelType


class DeliveriesOfProvider(DeliveryCounts, kw_only=True):
    provider: str


class DeliveriesOfDay(Schema, kw_only=True):
    date: str
    total_sent: int
    delivered: int
    failed: int


class ChannelBreakdown(Schema, kw_only=True):
    period: Period
    by_type: list[DeliveriesOfType]
    by_provider: list[DeliveriesOfProvider]
    by_period: list[DeliveriesOfDay]


class NotificationOut(Schema, kw_only=True):
    id: str
    type: str
    title: str
    message: str
    read: bool
    data: dict[str, Any]
    read_at: str | None
    priority: Priority
    action_url: str | None
    correlation_id: str
    created_at: str


class NotificationPage(Schema, kw_only=True):
    data: list[NotificationOut]
    total: int
    unread: int
    page: int
    per_page: int

    @classmethod
    def shown(cls, found: Any) -> "NotificationPage":
        return cls.of(found, data=[NotificationOut.of(item) for item in found.items])


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
    def shown(cls, notification: UserNotification) -> "MarkedRead":
        return cls(id=notification.id, read=True, read_at=notification.read_at or "")


class ReadAll(Schema, kw_only=True):
    """Everything, or only one type, or only what is not newer than an instant."""

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
    """To users, to everyone with a role, or to all; `channels` are types or ids, else preferences decide."""

    type: Type = "manual"
    title: Title
    message: Text = ""
    data: dict[str, Any] = {}
    priority: Priority = Priority.normal
    action_url: Address | None = None
    user_ids: Annotated[list[Id], Meta(max_length=MOST_RECIPIENTS)] = []
    roles: Annotated[list[Role], Meta(max_length=20)] = []
    all: bool = False
    channels: Annotated[list[Id], Meta(max_length=20)] = []
    dedupe_key: Annotated[str, Meta(max_length=200)] = ""


class NotificationsSent(Schema, kw_only=True):
    """`created` counts what users find in their lists; each delivery has an entry in its channel's log."""

    created: int
    notification_ids: list[str]
    deliveries: list[AcceptedDelivery]
